/** What happens to a box, drawn by lot: whatever it was, it ends up with what one run over all of it finds, and has told all of that. */
import test from 'ava'
import { rmSync } from 'node:fs'
import type { PointRows } from '#shared/core/ports.ts'
import { HOUR } from '#shared/core/time.ts'
import { ruleOf, yamlOf } from '../../../support/rules/helpers.ts'
import { diceOf } from '../../../support/rules/world.ts'
import { BUILDING, openBox, point, type Sample, samplesOf, type Site, unit } from '../../../support/sites/run-box.ts'

const T = Date.UTC(2026, 2, 2)
const h = (hours: number) => T + hours * HOUR
const AIR = { roles: '{ sa_t: degC, ma_t: degC }' }
const OWN = '{ own: { of: sa_t - ma_t, when: "sa_t > 0", stat: median, days: 5, min_days: 2, fallback: 3 K } }'
const CAUSE = '{ coil: 0.5, damper: { sa_t > 22: 0.9 } }'
const SITE: Site = {
  rules: [
    {
      ...AIR,
      id: 'WARM',
      when: 'sa_t > ma_t + 4',
      persistence: '30m',
      clear: '2h',
      cause: CAUSE,
      suppresses: '[ZONE]',
      severity: '2',
    },
    {
      ...AIR,
      id: 'PAST',
      when: 'sa_t - ma_t > base(own) + 2 K',
      baseline: OWN,
      persistence: '1h',
      clear: '1h',
      daily_minimum: '2h',
    },
    {
      id: 'FLAT',
      roles: '{ ma_t: degC }',
      when: 'range(ma_t, 6h) < 0.01 K',
      persistence: '2h',
      suppresses: '[WARM, PAST]',
      severity: '1',
    },
    {
      id: 'ZONE',
      equipment: '[vav]',
      roles: '{ zone_t: degC }',
      when: 'zone_t > 25 or zone_t > parent(sa_t) + 8',
      persistence: '30m',
      clear: '3h',
    },
  ].map(keys => ruleOf(yamlOf(keys))),
  equipment: [unit('A', { feeds: ['V'] }), unit('V', { equipment_type: 'vav' })],
  points: [point('A', 'sa_t', 'degC'), point('A', 'ma_t', 'degC'), point('V', 'zone_t', 'degC')],
}
const POINTS = SITE.points.map(({ point_id }) => point_id)
const LEVELS = [14, 16, 18, 20, 23, 27]
const STEPS = 22

for (const seed of [1, 2, 7, 12]) {
  test(`happenings ${seed}`, async t => {
    const dice = diceOf(seed)
    const timezone = dice.of(['UTC', 'America/New_York', 'Asia/Kolkata'])
    const site = { ...SITE, building: { ...BUILDING, timezone } }
    const box = await openBox(t, site)
    const level = new Map(POINTS.map(id => [id, 18]))
    const make = (id: string, from: number, to: number): Sample[] =>
      samplesOf(id, [h(from), h(to)], () => {
        if (dice.chance(0.01)) level.set(id, dice.of(LEVELS))
        return level.get(id)! + (dice.chance(0.97) ? dice.below(20) / 100 : 0)
      })
    /** What history holds in the end. */
    const held = new Map<string, Sample>()
    const give = async (samples: Sample[]) => {
      for (const sample of samples) held.set(`${sample.id} ${sample.t}`, sample)
      if (samples.length > 0) await box.give(samples)
    }
    const late: Sample[] = []
    let now = 6
    const stretch = (longest: number): [number, number] => {
      const from = dice.below(now)
      return [from, Math.min(now, from + 1 + dice.below(longest))]
    }
    const anew = (id: string, span: [number, number]): Sample[] => {
      level.set(id, dice.of(LEVELS))
      return make(id, ...span)
    }
    const happenings: [share: number, happens: () => Promise<unknown>][] = [
      [0.3, () => give(late.splice(0))],
      [0.2, () => give(anew(dice.of(POINTS), stretch(8)))],
      [0.3, () => give(anew(dice.of(POINTS), [now - 1 - dice.below(Math.min(5, now)), now]))],
      [0.15, () => box.historian.seal({ before: h(dice.below(now)) })],
      [0.1, async () => rmSync(box.folder, { recursive: true, force: true })],
      [0.1, () => load(dice.of(POINTS), dice.of(['merge', 'replace']))],
      [0.15, () => box.run(h(now), { equipment_ids: [dice.of(['A', 'V'])] })],
      [0.15, () => box.run(h(now), { rule_ids: [dice.of(['WARM', 'PAST', 'ZONE'])] })],
      [0.15, () => pastRun(1 + dice.below(now))],
      [0.1, () => box.run(h(Math.max(1, now - dice.below(5))))],
      [0.1, () => t.throwsAsync(box.run(h(now), {}, { runRecorder: { replace: dies } }), { message: 'dies' })],
      [0.8, () => box.run(h(now))],
    ]
    const dies = () => {
      throw new Error('dies')
    }
    const pastRun = (to: number) => box.run(h(now), { from: h(Math.max(0, to - 30)), to: h(to) })
    async function load(id: string, mode: 'merge' | 'replace') {
      const samples = anew(id, stretch(30))
      if (mode === 'replace') for (const key of [...held.keys()]) if (key.startsWith(`${id} `)) held.delete(key)
      for (const sample of samples) held.set(`${id} ${sample.t}`, sample)
      const rows = async function* (): AsyncGenerator<PointRows> {
        const [ts, values] = [Float64Array.from(samples, each => each.t), Float64Array.from(samples, each => each.v)]
        yield { point_id: id, series: { ts, values } }
      }
      await box.historian.load('b', [id], mode, rows())
    }

    for (const id of POINTS) await give(make(id, 0, now))
    const { from } = await box.run(h(now))
    for (let step = 0; step < STEPS; step++) {
      const next = now + dice.of([1, 3, 6, 13])
      for (const id of POINTS) {
        const fresh = make(id, now, next)
        if (dice.chance(0.15)) late.push(...fresh)
        else await give(dice.chance(0.1) ? fresh.filter(() => dice.chance(0.5)) : fresh)
      }
      now = next
      for (const [share, happens] of happenings) if (dice.chance(share)) await happens()
    }
    await box.run(h(now))
    const batch = await openBox(t, site)
    await batch.give([...held.values()])
    await batch.run(h(now), { from, to: h(now) })
    t.true(batch.told().length > 3)
    t.deepEqual(box.told(), batch.told())
    t.deepEqual(box.heard(), box.told())
  })
}

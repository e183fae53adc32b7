/** Findings over weeks of runs: what is changed between them, what falls silent, and what a run of its own leaves. */
import test from 'ava'
import { rmSync } from 'node:fs'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { PointRows } from '#shared/core/ports.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { ruleOf, yamlOf } from '../../../support/rules/helpers.ts'
import { type Box, openBox, point, samplesOf, type Site, unit } from '../../../support/sites/run-box.ts'

const T = Date.UTC(2026, 2, 2)
const h = (hours: number) => T + hours * HOUR
const P = 'A.sa_t'
const warm = (limit: number) =>
  ruleOf(
    yamlOf({
      id: 'WARM',
      roles: '{ sa_t: degC, ma_t: degC }',
      when: `sa_t > ${limit}`,
      persistence: '30m',
      clear: '30m',
      cause: '{ coil: 0.5, damper: { sa_t > 22: 0.9 } }',
      impact: '{ kind: leak, waste: sa_t - ma_t }',
      explains: '"{sa_t} for {duration}"',
    }),
  )
const SITE: Site = {
  rules: [warm(20)],
  equipment: [unit('A')],
  points: [point('A', 'sa_t', 'degC'), point('A', 'ma_t', 'degC'), point('A', 'fan_speed', 'percent')],
}
/** 25 °C from one hour to another, else 15 °C. */
const pulse = (span: [number, number], [on, off]: [number, number]) =>
  samplesOf(P, [h(span[0]), h(span[1])], t => (t >= h(on) && t < h(off) ? 25 : 15))

/** What else an air handler says, so that the building goes on being heard. */
const rest = (from: number, to: number) => [
  ...samplesOf('A.ma_t', [h(from), h(to)], () => 20, 15 * MINUTE),
  ...samplesOf('A.fan_speed', [h(from), h(to)], () => 80, 15 * MINUTE),
]

const spans = (findings: Finding[]) => findings.map(({ from, to }) => [(from - T) / HOUR, to === null ? null : (to - T) / HOUR])
const runAt = async (box: Box, ...hours: number[]) => {
  for (const hour of hours) await box.run(h(hour))
}

test.serial('a run over a past span leaves what has ended since as it ended, and how things stand as it is', async t => {
  const box = await openBox(t, SITE)
  await box.give([...pulse([0, 240], [10, 30]), ...rest(0, 240)])
  await runAt(box, 20, 50, 100, 240)
  const before = box.told()
  t.deepEqual(spans(before), [[10, 30]])
  await box.run(h(240), { from: h(0), to: h(24) })
  t.deepEqual(box.told(), before)
  t.deepEqual([[...box.results.each('b')][0]?.status, [...box.results.each('b')][0]?.looked_to], ['pass', h(240)])
  await runAt(box, 241)
  t.deepEqual(box.told(), before)
  t.deepEqual(box.heard(), before)
})

test.serial('what comes late or is corrected on a day counts though runs of that day have read its samples', async t => {
  const box = await openBox(t, SITE)
  await box.give([...pulse([0, 30], [99, 99]), ...rest(0, 30)])
  await runAt(box, 25, 27, 30)
  t.deepEqual(spans(box.told()), [])
  await box.give([...pulse([26, 29], [26, 28]), ...pulse([30, 32], [99, 99]), ...rest(30, 32)])
  await runAt(box, 32)
  t.deepEqual(box.last().resumed, ['A'])
  t.deepEqual(spans(box.told()), [[26, 28]])
  await box.give([...pulse([27, 28], [99, 99]), ...pulse([32, 34], [99, 99]), ...rest(32, 34)])
  await runAt(box, 33, 34)
  t.deepEqual(spans(box.told()), [[26, 27]])
})

test.serial('equipment that was not there when its past was corrected comes back to what history says', async t => {
  const box = await openBox(t, SITE)
  await box.give([...pulse([0, 30], [99, 99]), ...rest(0, 30)])
  await runAt(box, 25, 28, 30)
  const away = { ...box.model, equipment: () => [] }
  await box.give([...pulse([26, 27], [26, 27]), ...pulse([30, 32], [99, 99]), ...rest(30, 32)])
  await box.run(h(31), {}, { model: away })
  await runAt(box, 32)
  t.deepEqual(box.last().resumed, ['A'])
  t.deepEqual(spans(box.told()), [[26, 27]])
})

test.serial('whoever hears of findings hears of one that ended before the span, also when nobody was there to hear', async t => {
  const box = await openBox(t, SITE)
  await box.give([...pulse([0, 240], [10, 999]), ...rest(0, 240)])
  await runAt(box, 20, 50, 100, 230)
  box.deploy([warm(30)])
  const deaf = { onFindings: () => Promise.reject(new Error('the disk is full')) }
  const { notes } = await box.run(h(235), {}, deaf)
  t.regex(notes.join(), /findings of the run not sent: the disk is full/)
  t.deepEqual(spans(box.told()), [[10, 144]])
  t.deepEqual(spans(box.heard()), [[10, null]])
  await runAt(box, 236)
  t.deepEqual(box.heard(), box.told())
  // One that is gone altogether.
  await box.give(pulse([236, 239], [236, 239]).map(sample => ({ ...sample, v: 35 })))
  await runAt(box, 239)
  t.is(box.told().length, 2)
  await box.give(pulse([236, 239], [0, 0]))
  await box.run(h(240), {}, deaf)
  t.is(box.told().length, 1)
  t.is(box.heard().length, 2)
  await runAt(box, 240)
  t.deepEqual(box.heard(), box.told())
})

test.serial('a point that falls silent ends its fault where it was heard last, however short the lookback', async t => {
  const box = await openBox(t, { ...SITE, lookbackMs: DAY })
  await box.give([...pulse([0, 60], [10, 999]), ...rest(0, 300)])
  await runAt(box, 20, 50, 62, 80, 100, 130)
  t.deepEqual(spans(box.told()), [[10, null]])
  await runAt(box, 134, 160)
  const [{ to, evidence } = {} as Finding] = box.told()
  t.is(to, h(60) + 10 * MINUTE, 'three polls of five minutes after the last sample')
  t.is(evidence.inputs['sa_t'], 25)
  t.deepEqual(box.heard(), box.told())
})

for (const what of ['a role that is taken away', 'a rule that is switched off']) {
  test.serial(`${what} ends its fault where it was evaluated last, and the fault says why`, async t => {
    const box = await openBox(t, SITE)
    await box.give([...pulse([0, 400], [10, 999]), ...rest(0, 400)])
    await runAt(box, 20, 50, 100, 230)
    const [seen] = box.told()
    if (what.startsWith('a role')) box.model.assign('b', [{ point_id: 'A.ma_t', equipment_id: 'A', role: 'ma_t' }], 'replace')
    else box.ruleStates.set({ rule_id: 'WARM', active: false, changed_by: 'p', changed_at: h(230) })
    await runAt(box, 235)
    const ended = what.startsWith('a role') ? { why: 'point_unmapped', at: h(235) } : { why: 'rule_deactivated', at: h(230) }
    t.deepEqual(box.told() as object[], [{ ...seen, to: h(230), state: 'cleared', ended }])
    t.deepEqual(box.heard(), box.told())
    await runAt(box, 260, 303)
    t.deepEqual(box.told() as object[], [{ ...seen, to: h(230), state: 'cleared', ended }])
  })
}

test.serial('a long fault costs what it has cost, and has its causes, when the engine remembers nothing of it', async t => {
  const box = await openBox(t, SITE)
  await box.give([...pulse([0, 24 * 37], [10, 9999]), ...rest(0, 24 * 37)])
  for (let day = 1; day <= 36; day += 5) await runAt(box, 24 * day)
  const [known] = box.told()
  t.is(known!.waste!.hours, 24 * 36 - 10)
  t.deepEqual(
    known!.cause.map(({ component }) => component),
    ['damper', 'coil'],
  )
  rmSync(box.folder, { recursive: true })
  await runAt(box, 24 * 36 + 6)
  const [{ waste, cause, duration_secs } = {} as Finding] = box.told()
  t.is(waste!.hours, 24 * 36 - 4)
  t.is(waste!.up, 5 * (24 * 36 - 4) * 0.8)
  t.is(duration_secs, (24 * 36 - 4) * 3600)
  t.deepEqual(cause, known!.cause)
})

for (const remembers of [true, false]) {
  const how = remembers ? 'remembers' : 'has forgotten'
  test.serial(`a package that replaces what a finding stood on takes the finding with it; the engine ${how}`, async t => {
    const box = await openBox(t, SITE)
    await box.give([...pulse([0, 60], [50, 55]), ...rest(0, 80)])
    await runAt(box, 20, 49, 60)
    t.deepEqual(spans(box.told()), [[50, 55]])
    const old = pulse([0, 47], [0, 0])
    const rows = async function* (): AsyncGenerator<PointRows> {
      const [ts, values] = [Float64Array.from(old, each => each.t), Float64Array.from(old, each => each.v)]
      yield { point_id: P, series: { ts, values } }
    }
    await box.historian.load('b', [P], 'replace', rows())
    if (!remembers) rmSync(box.folder, { recursive: true })
    await runAt(box, 61)
    t.deepEqual(box.told(), [])
    t.deepEqual(box.heard(), [])
  })
}

test.serial('a point that says no interval is believed at the one that it has now', async t => {
  const { poll_secs: _none, ...bare } = point('A', 'sa_t', 'degC')
  const site = { ...SITE, points: [bare, ...SITE.points.slice(1)] }
  const value = (at: number) => (at >= h(80) && at < h(85) ? 25 : 15)
  const samples = [...samplesOf(P, [h(22), h(24)], value, MINUTE), ...samplesOf(P, [h(24), h(110)], value, 15 * MINUTE)]
  const box = await openBox(t, site)
  for (const hour of [24.1, 30, 50, 75, 90, 100, 110]) {
    await box.give(samples.filter(({ t: at }) => at < h(hour)))
    await runAt(box, hour)
  }
  const batch = await openBox(t, site)
  await batch.give(samples)
  await batch.run(h(110), { from: h(0), to: h(110) })
  t.deepEqual(spans(batch.told()), [[80, 85]])
  t.deepEqual(box.told(), batch.told())
  t.deepEqual(box.last().resumed, ['A'], 'as soon as most of what is read has the new spacing')
})

test.serial('a run over some equipment says of it what a run over all of it says', async t => {
  const zone = { equipment: '[vav]', roles: '{ zone_t: degC }', persistence: '30m' }
  const box = await openBox(t, {
    rules: [
      ruleOf(
        yamlOf({
          id: 'PLANT',
          equipment: '[chw_plant]',
          roles: '{ chw_supply_t: degC }',
          when: 'chw_supply_t > 10',
          suppresses: '[COLD]',
          severity: '1',
        }),
      ),
      ruleOf(yamlOf({ id: 'ZONES', when: 'zones(zone_t, avg) > 25', suppresses: '[HOT]', severity: '1' })),
      ruleOf(yamlOf({ ...zone, id: 'HOT', when: 'zone_t > 25' })),
      ruleOf(yamlOf({ ...zone, id: 'COLD', when: 'zone_t < 19' })),
    ],
    equipment: [
      unit('CH', { equipment_type: 'chw_plant', feeds: ['A'] }),
      unit('A', { feeds: ['V1', 'V2', 'V3'] }),
      ...['V1', 'V2', 'V3'].map(id => unit(id, { equipment_type: 'vav' })),
    ],
    points: [
      point('CH', 'chw_supply_t', 'degC'),
      point('A', 'sa_t', 'degC'),
      ...['V1', 'V2', 'V3'].map(id => point(id, 'zone_t', 'degC')),
    ],
  })
  const steady = { 'CH.chw_supply_t': 14, [P]: 15, 'V1.zone_t': 27, 'V2.zone_t': 18, 'V3.zone_t': 18 }
  await box.give(Object.entries(steady).flatMap(([id, v]) => samplesOf(id, [h(0), h(30)], () => v)))
  await runAt(box, 30)
  const whole = box.told()
  t.deepEqual(
    whole
      .map(({ equipment_id, rule_id, suppressed_by }) => [equipment_id, rule_id, suppressed_by !== undefined].join(' '))
      .toSorted(),
    ['CH PLANT false', 'V1 HOT false', 'V2 COLD true', 'V3 COLD true'],
  )
  for (const id of ['V1', 'V2', 'A', 'CH']) {
    await box.run(h(30), { equipment_ids: [id] })
    t.deepEqual(box.told(), whole, id)
  }
})

test.serial('a run of some rules says of them what a run of all says', async t => {
  const OWN = '{ own: { of: sa_t, when: "sa_t > 0", stat: median, days: 9, min_days: 1, fallback: 18 } }'
  const box = await openBox(t, {
    ...SITE,
    rules: [
      warm(20),
      ruleOf(yamlOf({ id: 'HOT', when: 'sa_t > 24', cause: '{ coil: 1 }', suppresses: '[WARM, OWN]', severity: '1' })),
      ruleOf(yamlOf({ id: 'OWN', when: 'sa_t > base(own) + 2 K', baseline: OWN })),
    ],
  })
  await box.give([...pulse([0, 70], [10, 40]), ...rest(0, 70)])
  const { days } = await box.run(h(70))
  const [whole, frozen] = [box.told(), box.baselines.list({ building_id: 'b' })]
  t.deepEqual(whole.map(({ rule_id, suppressed_by }) => `${rule_id} ${suppressed_by !== undefined}`).toSorted(), [
    'HOT false',
    'OWN true',
    'WARM true',
  ])
  t.true(days.length > 0)
  t.deepEqual(
    frozen[0]?.left_out.map(({ why }) => why),
    ['OWN', 'OWN'],
  )
  const { rule_ids, rules_run, days: own } = await box.run(h(70), { rule_ids: ['WARM', 'OWN'] })
  t.deepEqual([rule_ids, rules_run, own], [['WARM', 'OWN'], 2, []])
  t.deepEqual(box.told(), whole)
  t.deepEqual(box.baselines.list({ building_id: 'b' }), frozen)
})

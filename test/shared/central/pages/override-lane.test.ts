import test, { type ExecutionContext } from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { overridePeriods } from '#shared/core/priority/override-periods.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { readSeries } from '#shared/flow/read-series.ts'
import { journalSnapshots } from '#appliance/priority/journal-snapshots.ts'
import { COOLING, NOW } from '../../../support/page-fixture.ts'
import { CATALOGUE, HISTORY, journalOf, LEVEL_NAMES, SITE } from '../../../support/overrides-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../support/sites/page-site.ts'

const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** Visits an hour apart, each with the value at level 8; null where nobody holds it. */
const visits = (seen: (number | null)[], hours = seen.map((_, i) => i)): ArraySnapshot[] =>
  seen.map((value, i) => {
    const slots = Array.from({ length: 16 }, (_level, k) => (k === 7 ? value : k === 15 ? 1 : null))
    return { t: hours[i]! * HOUR, slots, fallback: 0, date: '2026-03-02', overridden: value !== null }
  })

const CASES: [string, ArraySnapshot[], [number, number, number][]][] = [
  ['two visits', visits([null, 5, 5, null]), [[1, 2, 5]]],
  ['one visit alone', visits([null, 5, null]), []],
  [
    'another value is another stretch',
    visits([5, 5, 7, 7, 7]),
    [
      [0, 1, 5],
      [2, 4, 7],
    ],
  ],
  [
    'a hole of visits is not bridged',
    visits([5, 5, 5, 5, 5], [0, 1, 2, 9, 10]),
    [
      [0, 2, 5],
      [9, 10, 5],
    ],
  ],
  ['a program', visits([null, null, null]), []],
  ['no visit', [], []],
]
for (const [title, seen, wanted] of CASES) {
  test(`held stretches: ${title}`, t => {
    t.deepEqual(
      overridePeriods(seen).map(({ from, to, value }) => [from / HOUR, to / HOUR, value]),
      wanted,
    )
    t.true(overridePeriods(seen).every(({ slot }) => slot === 8))
  })
}

async function open(
  t: ExecutionContext,
  priority = journalSnapshots({
    journal: () => journalOf(HISTORY),
    catalogue: () => CATALOGUE,
    building: SITE.building,
    levels: LEVEL_NAMES,
  }),
) {
  const held = { ...COOLING, finding_id: 'f-held', rule_id: 'OVR-HELD', role: 'clg_valve', kind: 'override' as const }
  const evidence = { ...COOLING.evidence, inputs: { 'overridden(clg_valve)': 1, 'slot(clg_valve, 8)': 1 } }
  const site = await openSite({
    product: 'appliance',
    findings: [
      { ...COOLING, relabelled_by: 'f-held' },
      { ...held, evidence },
    ],
    priority,
  })
  t.teardown(site.close)
  return { site, ...(await signedIn(site.url, 'agent', PASSWORDS.agent)) }
}

test('the plot of a fault has a lane for each input that was held, and the page lists by whom', async t => {
  const { get } = await open(t)
  const page = await (await get(`/faults/${COOLING.finding_id}`)).text()
  t.is([...page.matchAll(/class="end override-word"/g)].length, 4)
  t.regex(words(page), /Visits saw supply air temperature setpoint, cooling valve command overridden/)
  t.regex(
    words(page),
    /Overrides in the time shown .*P8 supply air temperature setpoint sa_t_sp held at 60\.0 °F , seen from 09:50 to 13:50/,
  )
  t.regex(words(page), /P8 cooling valve command clg_valve held at 100 % , seen from .* to 13:50/)
})

test('a finding on a priority array shows the trace and the lane of its point', async t => {
  const { get } = await open(t)
  const text = words(await (await get('/faults/f-held')).text())
  t.regex(text, /cooling valve command from .* Visits saw cooling valve command overridden/)
  t.regex(text, /overridden\(clg_valve\) yes slot\(clg_valve, 8\) 100 %/)
})

test('a fault that an override explains stands in the list and says so, with the override a click away', async t => {
  const { get } = await open(t)
  t.regex(words(await (await get('/faults')).text()), /valve wide open H override Cause: Supply air too warm/)
  const page = await (await get(`/faults/${COOLING.finding_id}`)).text()
  t.regex(words(page), /This fault is an override\. .*: cooling valve command for at least half of its time/)
  t.regex(page, /<a href="\/faults\/f-held">/)
})

for (const [count, wanted] of [
  [20, undefined],
  [21, 'and 1 earlier ones'],
] as const) {
  test(`of ${count} overrides in the time shown ${wanted ?? 'all are listed'}`, async t => {
    const from = NOW - 4 * HOUR
    const snapshots = Array.from({ length: 3 * count }, (_, i): ArraySnapshot => {
      const held = i % 3 < 2 ? i : null
      const slots = Array.from({ length: 16 }, (_level, k) => (k === 7 && held !== null ? 1 : null))
      return { t: from + i * 3 * MINUTE, slots, fallback: 0, date: '2026-03-02', overridden: held !== null }
    })
    const { get } = await open(t, {
      levels: levelMeanings,
      snapshots: async (_building, { point_ids }) => ({ [point_ids![0]!]: snapshots }),
    })
    const page = await (await get(`/faults/${COOLING.finding_id}`)).text()
    const [section = ''] = /Overrides in the time shown.*?<\/section>/s.exec(page) ?? []
    t.is([...section.matchAll(/<li>/g)].length, Math.min(count, 20))
    t.is(/and \d+ earlier ones/.exec(section)?.[0], wanted)
  })
}

test('a process that visits nothing shows no lane', async t => {
  const { get } = await open(t, { levels: levelMeanings, snapshots: async () => ({}) })
  const page = await (await get(`/faults/${COOLING.finding_id}`)).text()
  t.notRegex(page, /override-word|Overrides in the time shown/)
})

test('the series of points carry who held them, in the unit of the point', async t => {
  const { site } = await open(t)
  const select = { roles: ['clg_valve', 'sa_t'] }
  const span = { from: NOW - 4 * HOUR, to: NOW }
  const { overrides } = await readSeries(
    { building_id: 'school', select: { equipment_id: 'ahu-1', ...select }, maxPoints: 100, ...span },
    site.context,
  )
  const [only] = overrides
  t.is(overrides.length, 1)
  t.like(only, { point_id: 'ahu-1.clg_valve', slot: 8, value: 100 })
  t.true(only!.from >= span.from && only!.to <= NOW && only!.to - only!.from === 3 * HOUR)
})

test('a run of the rules sees what was visited', async t => {
  const { site } = await open(t)
  const asked = { building_id: 'school', rule_ids: ['OVR-MANUAL-LONG', 'OVR-HELD'], from: NOW - 3 * DAY, to: NOW }
  const { failed, results } = await site.context.runs.run(asked, 'request')
  t.deepEqual(failed, [])
  t.deepEqual(
    results.filter(({ status }) => status === 'fault').map(({ rule_id, equipment_id }) => `${rule_id} ${equipment_id}`),
    ['OVR-HELD ahu-1', 'OVR-MANUAL-LONG ahu-1'],
  )
  const [long] = site.context.findings.list({ building_id: 'school', rule_id: 'OVR-MANUAL-LONG', limit: 10 })
  t.like(long, { role: 'clg_valve', state: 'active', kind: 'override' })
})

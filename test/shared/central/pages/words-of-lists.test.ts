/** What pages of lists say and send: a list without rows, a form about one role, a plot of one value or of many. */
import test from 'ava'
import { toBuckets } from '#shared/core/series/buckets.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { baselinesBody } from '#shared/central/pages/settings/baselines.view.ts'
import { DEFAULT_QUERY, type FaultQuery } from '#shared/central/pages/faults/fault-list.ts'
import { faultsBody } from '#shared/central/pages/faults/faults.view.ts'
import { type Plot, plotSvg, WIDE } from '#shared/central/ui/plot.ts'
import { BUILDING, NOW } from '../../../support/page-fixture.ts'

const here = { now: NOW, timezone: BUILDING.timezone }
const user = { name: 'otto', role: 'operator', mayOperate: true }

const quiet = (query: Partial<FaultQuery>, last_data_at: number | null = NOW) =>
  faultsBody({
    ...{ query: { ...DEFAULT_QUERY, ...query }, here, groups: [], counts: { faults: 0, overrides: 0, data: 0, silenced: 0 } },
    ...{
      part: { page: 1, pages: 1 },
      mayOperate: true,
      csrf: 't',
      done: undefined,
      ended: undefined,
      urgencies: { urgent: 0, chronic: 0 },
      snoozes: [],
      equipmentWords: String,
      ruleWords: String,
    },
    ...{ buildings: [BUILDING], equipmentName: () => '', lastRuns: [], together: [], dataEnds: new Map() },
    boxes: [{ name: 'Box', building_id: BUILDING.building_id, last_check_at: null, last_data_at }],
    runs: {
      live: [],
      newest: null,
      building_id: BUILDING.building_id,
      runsHere: true,
      nameOf: () => '',
      here,
      user,
      csrf: 't',
    },
  }).text

for (const [what, query, words] of [
  ['without a filter', {}, 'All quiet.'],
  ['narrowed to a priority', { priority: 1 }, 'Nothing fits this filter.'],
  ['narrowed to a state', { state: 'active' }, 'Nothing fits this filter.'],
  ['narrowed to equipment', { equipment: 'AHU-1' }, 'Nothing fits this filter.'],
  ['of what is silenced', { lane: 'silenced' }, 'Nothing is silenced.'],
] as [string, Partial<FaultQuery>, string][]) {
  test(`a list of faults ${what} that is empty says: ${words}`, t => t.true(quiet(query).includes(`<h2>${words}</h2>`)))
}

test('a list of faults that nobody has looked for says so', t => t.true(quiet({}, null).includes('<h2>Not looked yet.</h2>')))

test('the forms of a baseline name whose it is, with its role where it has one', t => {
  const key = { rule_id: 'R', equipment_id: 'AHU-1', building_id: 'b', name: 'usual' }
  const view = { value: 1, spread: 0, days_used: 3, dates: [], left_out: [], cold: false, unit: 'K' }
  const rest = { ...view, date: '2026-01-05', fallback: 1, tolerance_cold: 1, min_days: 2 }
  const page = baselinesBody({
    ...{ building: BUILDING, buildings: [BUILDING], equipment: [], chosen: 'AHU-1', q: '', ruleOwner: undefined },
    shown: ['sa_t', undefined].map(role => ({ baseline: { ...key, ...rest, role } as never, title: 'T', reset: undefined })),
    ...{ here, user, csrf: 'token' },
  }).text
  const sent = (field: string) => [...page.matchAll(new RegExp(`name="${field}" value="([^"]*)"`, 'g'))].map(([, value]) => value)
  t.deepEqual(['equipment_id', 'rule_id', 'role', 'name'].map(sent), [
    ['AHU-1', 'AHU-1'],
    ['R', 'R'],
    ['sa_t', ''],
    ['usual', 'usual'],
  ])
})

/** Two samples in each bucket of a minute, `apart` from each other, on an axis from 0 to 100. */
function bandOf(apart: number): string[] {
  const [from, to] = [NOW, NOW + 8 * HOUR]
  const ts = Float64Array.from({ length: 960 }, (_, i) => from + i * (MINUTE / 2))
  const values = ts.map((_, i) => (i < 2 ? 0 : i < 4 ? 100 : 50 + (i % 2) * apart))
  const series = { ts, values }
  const traces = [{ role: 'sa_t', buckets: toBuckets(series, from, to, 480), nominalMs: MINUTE / 2 }]
  const plot: Plot = {
    ...{ from, to, now: to, until: to, timezone: BUILDING.timezone, system: 'si', traces, others: [] },
    ...{ episode: { from, to: from + HOUR, stretches: [] }, worst_at: from },
  }
  return [...plotSvg(plot, WIDE, 'p', 'plot').text.matchAll(/class="band t\d" d="([^"]+)"/g)].map(([, d]) => d!)
}
/** Greatest height of a band, pixels. */
function heightOf(band: string): number {
  const ys = band
    .split('Z')[0]!
    .split(/[ML]/)
    .filter(Boolean)
    .map(xy => Number(xy.split(' ')[1]))
  return Math.max(...ys.slice(0, ys.length / 2).map((y, i) => Math.abs(y - ys.at(-1 - i)!)))
}
test('a band is drawn where the values of a moment are more than two pixels apart, and not for less', t => {
  t.deepEqual([bandOf(0).length, bandOf(40).length], [0, 1])
  const bands = Array.from({ length: 80 }, (_, i) => bandOf(i / 8)[0])
  const narrowest = heightOf(bands.find(band => band !== undefined)!)
  t.true(narrowest > 2 && narrowest < 2.5, `${narrowest} pixels`)
})

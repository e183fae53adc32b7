/** Small cases whose figures are reckoned by hand. */
import test from 'ava'
import { type Cell, CELL_MS, createCellAverager } from '#shared/core/analytics/cells.ts'
import { createEconomizerAnalysis } from '#shared/core/analytics/economizer.ts'
import { ECONOMIZER_ROLES } from '#shared/core/analytics/economizer-cells.ts'
import { type VerdictCode, economizerVerdict } from '#shared/core/analytics/economizer-verdict.ts'
import { faultHours } from '#shared/core/analytics/fault-hours.ts'
import { fitLine } from '#shared/core/series/statistics.ts'
import { figuresOf, createOperationsTally } from '#shared/core/analytics/operations.ts'
import { planOperations } from '#shared/core/analytics/operations-plan.ts'
import { CHUNK_SAMPLES, historyChunks } from '#shared/core/analytics/history-chunks.ts'
import { anomaliesOf, scoreHours, type ScoredHour } from '#shared/core/analytics/seasonal.ts'
import { createSignalMerge } from '#shared/core/analytics/signal-merge.ts'
import { createHourMeans, pastBegin, weekHours } from '#shared/core/analytics/week-hours.ts'
import type { Series } from '#shared/core/series/series.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { EQUIPMENT, POINTS, ZONE } from '../../../support/sites/analytics-site.ts'

const NO = Number.NaN
const series = (...pairs: [t: number, value: number][]): Series => ({
  ts: Float64Array.from(pairs, ([t]) => t),
  values: Float64Array.from(pairs, ([, value]) => value),
})
type Stretch = [from: number, to: number, ...values: number[]]
function walked(from: number, holds: number[], pieces: { series: Series[]; to: number }[]): Stretch[] {
  const out: Stretch[] = []
  const walk = createSignalMerge(from, holds, (a, b, values) => void out.push([a, b, ...values]))
  for (const piece of pieces) walk.advance(piece.series, piece.to)
  return out
}

test('a walk says what every signal is, from its start to its end, without a hole', t => {
  const a = series([-5, 1], [20, 2], [30, NO], [60, 3])
  const b = series([0, 7], [50, 8])
  const whole = walked(0, [30, 100], [{ series: [a, b], to: 100 }])
  t.deepEqual(whole, [
    [0, 20, 1, 7],
    [20, 30, 2, 7],
    [30, 50, NO, 7],
    [50, 60, NO, 8],
    [60, 90, 3, 8],
    [90, 100, NO, 8],
  ])
  t.deepEqual(walked(0, [30], [{ series: [series()], to: 10 }]), [[0, 10, NO]])
})

test('a walk in pieces tells what a walk at once tells', t => {
  const all: [number, number][] = Array.from({ length: 200 }, (_, i) => [i * 7 - 21, i % 5])
  const total = (stretches: Stretch[]) => stretches.reduce((sum, [from, to, value]) => sum + (to - from) * (value || 0), 0)
  const once = walked(0, [9], [{ series: [series(...all)], to: 1300 }])
  for (const size of [1, 8, 100]) {
    const pieces = Array.from({ length: Math.ceil(1300 / size) }, (_, i) => {
      const [from, to] = [i === 0 ? -100 : i * size, Math.min(1300, (i + 1) * size)]
      return { series: [series(...all.filter(([at]) => at >= from && at < to))], to }
    })
    const parts = walked(0, [9], pieces)
    t.is(total(parts), total(once), `pieces of ${size}`)
    t.is(
      parts.reduce((sum, [from, to]) => sum + to - from, 0),
      1300,
    )
  }
})

test('pieces end with the months of UTC and where a month holds too much', t => {
  const from = Date.UTC(2026, 0, 20)
  const to = Date.UTC(2026, 2, 5)
  const ends = (perMs: number) => historyChunks(from, to, perMs).map(piece => piece.to)
  t.deepEqual(ends(0), [Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1), to])
  t.deepEqual(ends(CHUNK_SAMPLES / (10 * DAY)).slice(0, 3), [from + 10 * DAY, Date.UTC(2026, 1, 1), Date.UTC(2026, 1, 11)])
})

test('a cell weighs by time and knows for how long each signal was known', t => {
  const seen: Cell[] = []
  const cells = createCellAverager(2, cell => void seen.push(structuredClone(cell)))
  cells.take(0, 5 * MINUTE, Float64Array.of(10, NO))
  cells.take(5 * MINUTE, 20 * MINUTE, Float64Array.of(40, 1))
  cells.end()
  cells.end()
  t.deepEqual(
    seen.map(({ at, lengthMs, knownMs, mean }) => [at, lengthMs / MINUTE, [...knownMs].map(ms => ms / MINUTE), [...mean]]),
    [
      [0, 15, [15, 10], [30, 1]],
      [CELL_MS, 5, [5, 5], [40, 1]],
    ],
  )
})

/** Feeds an air handler whose values rest for each stretch. */
type Rest = { hours: number; oa_damper: number } & Partial<
  Record<'oa_t' | 'ra_t' | 'ma_t' | 'fan' | 'clg_valve' | 'oa_damper_min', number>
>
function economizerOf(rests: Rest[]) {
  const economizer = createEconomizerAnalysis({ dt_min: 5.6, high_limit: 24 }, 0)
  const cells = createCellAverager(ECONOMIZER_ROLES.length, economizer.take)
  let at = 0
  for (const { hours, ...given } of rests) {
    const state: Record<string, number> = { oa_t: 10, ra_t: 22, ma_t: 22, fan: 1, clg_valve: 0, ...given }
    cells.take(
      at,
      at + hours * HOUR,
      Float64Array.from(ECONOMIZER_ROLES, role => state[role] ?? NO),
    )
    at += hours * HOUR
  }
  cells.end()
  return economizer.result()
}
const verdict = (rests: Rest[]) => economizerVerdict(economizerOf(rests), { dt_min: 5.6, high_limit: 24 })

test('hours of an air handler are told apart by why they tell nothing', t => {
  const result = economizerOf([
    { hours: 2, oa_damper: 0.2, fan: 0 },
    { hours: 3, oa_damper: 0.2, ma_t: 19.6 },
    { hours: 1, oa_damper: 0.2, oa_t: 17 },
    { hours: 1, oa_damper: 0.2, ma_t: NO },
  ])
  // The first quarter after the start settles.
  t.deepEqual(result.hours, { no_data: 1, off: 2, settling: 0.25, moving: 0, small_difference: 1, identifiable: 2.75 })
  t.deepEqual([result.bins.length, result.bins[0]!.from, result.bins[0]!.hours], [1, 0.2, 2.75])
  t.true(Math.abs(result.bins[0]!.median - 0.2) < 1e-9)
  t.true(Math.abs(result.residuals!.median) < 1e-9)
  t.is(result.fit, null, 'one position makes no line')
})

test('a damper that travels within a quarter of an hour has no position in it', t => {
  const rests = Array.from({ length: 12 }, (_, i): Rest => ({ hours: 1 / 12, oa_damper: i * 0.05, ma_t: 20 }))
  const { hours } = economizerOf([{ hours: 0.25, oa_damper: 0 }, ...rests])
  t.deepEqual([hours.settling, hours.identifiable, hours.moving], [0.25, 1, 0])
  t.is(
    economizerOf([{ hours: 0.25, oa_damper: 0 }, ...rests.map(one => ({ ...one, oa_damper: one.oa_damper * 2 }))]).hours.moving,
    1,
  )
})

test('a damper may travel a tenth of its way, and a share may be a fifth beyond, before they tell nothing', t => {
  const quarter = (a: number, b: number) => [a, b].map((oa_damper): Rest => ({ hours: 1 / 8, oa_damper }))
  const travels = (a: number, b: number) => economizerOf([{ hours: 0.25, oa_damper: a }, ...quarter(a, b)]).hours.moving
  t.deepEqual([travels(0.2, 0.3), travels(0.2, 0.31)], [0, 0.25])
  const contradicts = (share: number) =>
    economizerOf([{ hours: 2.25, oa_damper: 0.5, ma_t: 22 - 12 * share }]).contradicting_hours
  t.deepEqual([1.19, 1.21, -0.19, -0.21].map(contradicts), [0, 2, 0, 2])
})

test('warm outdoor air, free cooling that is used and missed, and the change-over', t => {
  const { free_cooling: free } = economizerOf([
    { hours: 2, oa_t: 12.5, oa_damper: 1 },
    { hours: 3, oa_t: 14.5, oa_damper: 0.3, clg_valve: 0.5 },
    { hours: 2, oa_t: 19.5, oa_damper: 0.9 },
    { hours: 5, oa_t: 26.5, oa_damper: 0.3, clg_valve: 1 },
    { hours: 1, oa_t: 27.5, oa_damper: 0.9, clg_valve: 1 },
  ])
  t.deepEqual([free.suitable_hours, free.used_hours, free.missed_hours], [5, 2, 3])
  t.deepEqual([free.above_limit_hours, free.above_limit_open_hours], [6, 1])
  t.deepEqual(
    free.bins.map(({ from, hours, damper, cooling_hours }) => [from, hours, damper, cooling_hours]),
    [
      [12, 2, 1, 0],
      [14, 3, 0.3, 3],
      [19, 2, 0.9, 0],
      [26, 5, 0.3, 5],
      [27, 1, 0.9, 1],
    ],
  )
  t.is(free.changeover, null, 'the warmest degree still has it open')
  t.is(
    economizerOf([
      { hours: 2, oa_t: 19.5, oa_damper: 0.9 },
      { hours: 2, oa_t: 26.5, oa_damper: 0.3 },
    ]).free_cooling.changeover,
    20,
  )
  t.is(
    economizerOf([
      { hours: 2, oa_t: 19.5, oa_damper: 0.9 },
      { hours: 2, oa_t: 22.5, oa_damper: 0.3 },
      { hours: 0.5, oa_t: 26.5, oa_damper: 0.9 },
    ]).free_cooling.changeover,
    20,
    'less than an hour of a degree says nothing',
  )
})

test('a damper is open from a fifth over its own minimum on, else over 30 %', t => {
  const open = (more: Partial<Rest>) =>
    economizerOf([{ hours: 2, oa_t: 28, oa_damper: 0.45, ...more }]).free_cooling.above_limit_open_hours
  t.deepEqual([open({}), open({ oa_damper_min: 0.1 }), open({ oa_damper_min: 0.26 })], [0, 2, 0])
})

test('the verdict names the gravest first', t => {
  const at = (oa_damper: number, share: number, hours = 4): Rest => ({ hours, oa_damper, ma_t: 22 - 12 * share })
  const cases: [VerdictCode, Rest[]][] = [
    ['not_tellable', [at(0.2, 0.2, 1)]],
    ['not_tellable', [{ hours: 9, oa_damper: 0.2, fan: 0 }]],
    ['contradicting', [at(0.2, 0.2), at(1, 1.5)]],
    ['not_following', [at(0.1, 0.3), at(0.9, 0.4)]],
    ['leaking', [at(0, 0.4), at(1, 1)]],
    ['restricted', [at(0, 0.1), at(1, 0.5)]],
    ['restricted', [at(0.8, 0.3, 5)]],
    ['warm_air', [at(0, 0.1), at(1, 1), { hours: 4, oa_t: 28, oa_damper: 0.9, ma_t: 27.4 }]],
    ['excess', [at(0.2, 0.5, 5)]],
    ['restricted', [at(0.4, 0.1, 5)]],
    ['missed', [at(0, 0.1), at(1, 0.9), { hours: 4, oa_damper: 0.2, ma_t: 19.6, clg_valve: 0.5 }]],
    ['one_position', [at(0.2, 0.25, 9)]],
    ['one_position', [at(0.2, 0.2), at(0.35, 0.35)]],
    ['following', [at(0.2, 0.2), at(0.45, 0.4)]],
    ['following', [at(0, 0.1), at(1, 0.9)]],
  ]
  for (const [code, rests] of cases) t.is(verdict(rests).code, code)
  t.is(
    verdict([at(0.2, 0.2, 1.25), { hours: 3, oa_t: 20, oa_damper: 0.2 }]).sentence,
    'Too little data: 1 h of 4.3 h of running are identifiable, mostly because outdoor and return air are closer than 5.6 K.',
  )
  t.is(
    verdict([at(0.2, 0.2, 4.25), at(1, 1.5, 2)]).sentence,
    'For 33 % of the time the mixed air is outside of what outdoor and return air can make: one of the three sensors is wrong.',
  )
  t.is(
    verdict([at(0.2, 0.25, 9)]).sentence,
    'The damper was always at 20 %: there it lets in 5 % more of outdoor air than its position indicates; whether outdoor air follows the damper is not known.',
  )
  t.is(
    verdict([at(0, 0.1), at(1, 0.9), { hours: 4, oa_damper: 0.2, ma_t: 19.6, clg_valve: 0.5 }]).sentence,
    'Outdoor air would have cooled for 12 h; for 4 h of them the cooling valve was open and the damper less than half.',
  )
})

test('a line through points', t => {
  t.deepEqual(
    fitLine([
      [0, 1],
      [1, 3],
      [2, 5],
    ]),
    { slope: 2, intercept: 1, r2: 1 },
  )
  t.deepEqual(
    fitLine([
      [0, 1],
      [1, 1],
    ]),
    { slope: 0, intercept: 1, r2: 1 },
  )
  t.is(
    fitLine([
      [1, 0],
      [1, 1],
    ]),
    null,
  )
  t.is(fitLine([]), null)
})

test('operations are reckoned by the building day, also by one of 25 hours', t => {
  const sunday = dayStart(Date.UTC(2025, 10, 2, 12), ZONE)
  const days = [sunday, nextDay(sunday, ZONE), nextDay(sunday + 26 * HOUR, ZONE)]
  t.is(days[1]! - days[0]!, 25 * HOUR)
  const tally = createOperationsTally(days, { runAbove: 0, gateAbove: 0, band: { low: 20, high: 24 } })
  const take = (from: number, to: number, ...values: number[]) =>
    tally.take(sunday + from * HOUR, sunday + to * HOUR, Float64Array.of(...values, NO, NO))
  take(0, 6, 0, 0, 18)
  take(6, 12, 1, 1, 22)
  take(12, 14, 1, 1, 25)
  take(14, 15, NO, 1, 19)
  take(15, 20, 1, NO, NO)
  take(20, 22, 0, 1, 24)
  take(22, 27, 1, 0, 22)
  t.deepEqual(
    tally.days.map(figuresOf).map(one => [one.running_hours, one.known_hours, one.starts]),
    [
      [6 + 2 + 5 + 3, 24, 2],
      [2, 2, 0],
    ],
  )
  const [first] = tally.days.map(figuresOf)
  t.deepEqual([first!.comfort_known_hours, first!.too_warm_hours, first!.too_cold_hours], [11, 2, 1])
  t.is(first!.comfort_share, 8 / 11)
  t.is(first!.zone_t_mean, (6 * 18 + 6 * 22 + 2 * 25 + 19 + 2 * 24 + 3 * 22) / 20)
})

test('a room is comfortable up to 1.1 K beyond its set points', t => {
  const tally = createOperationsTally([0, DAY], { runAbove: 0, gateAbove: undefined, band: undefined })
  for (const [i, zone] of [19.85, 19.95, 25.05, 25.15].entries()) {
    tally.take(i * HOUR, (i + 1) * HOUR, Float64Array.of(NO, NO, zone, 21, 24))
  }
  tally.take(4 * HOUR, 5 * HOUR, Float64Array.of(NO, NO, 22, NO, 24))
  const { too_cold_hours, too_warm_hours, comfort_share, comfort_known_hours } = figuresOf(tally.days[0]!)
  t.deepEqual([too_cold_hours, too_warm_hours, comfort_share, comfort_known_hours], [1, 1, 0.5, 4])
})

test('comfort counts while people are there, else while the fan runs, else always', t => {
  const plan = (points = POINTS) =>
    planOperations(EQUIPMENT, points).map(one => [one.equipment.equipment_id, one.comfort_time, one.comfort_limits])
  t.deepEqual(plan(), [
    ['ahu', 'occupied', 'band'],
    ['room', 'occupied', 'set_points'],
    ['hall', 'occupied', 'band'],
  ])
  t.deepEqual(plan(POINTS.filter(({ role }) => role !== 'occ'))[1], ['room', 'fan', 'set_points'])
  t.deepEqual(plan(POINTS.filter(({ role }) => role === 'zone_t')), [
    ['room', 'always', 'band'],
    ['hall', 'always', 'band'],
  ])
})

test('hours in fault count once, however many findings there are', t => {
  const one = (equipment_id: string, from: number, to: number | null, kind: 'fault' | 'data' = 'fault') => {
    const state = to === null ? ('active' as const) : ('cleared' as const)
    return { equipment_id, from, to, kind, state, duration_secs: ((to ?? 8 * HOUR) - from) / 1000 }
  }
  const found = faultHours(
    [one('a', -5 * HOUR, 2 * HOUR), one('a', HOUR, 4 * HOUR), one('a', 6 * HOUR, null), one('b', 0, HOUR, 'data')],
    0,
    10 * HOUR,
    8 * HOUR,
  )
  t.deepEqual([...found], [['a', { fault_hours: 6, findings: 3, open: 1 }]])
})

test('the hours of a week keep their places through the changes of the clock', t => {
  // 2 November 2025 has 25 hours, of which 01:00 comes twice; 9 March has 23 and no 02:00.
  const autumn = weekHours(Date.UTC(2025, 10, 2, 12), Date.UTC(2025, 10, 3, 6), ZONE)
  t.deepEqual([...autumn.slots], [0, 1, 1, 2, ...Array.from({ length: 21 }, (_, i) => i + 3)])
  const spring = weekHours(Date.UTC(2025, 2, 9, 12), Date.UTC(2025, 2, 10, 5), ZONE)
  t.deepEqual([...spring.slots].slice(0, 4), [0, 1, 3, 4])
  t.is(spring.slots.length, 23)
  const half = weekHours(Date.UTC(2025, 5, 1), Date.UTC(2025, 5, 1, 1, 45), 'Asia/Kolkata')
  t.deepEqual([half.slots.length, (half.bounds.at(-1)! - half.bounds[0]!) / HOUR], [7, 7], 'whole hours of the wall clock only')
})

test('an hour is its mean by time, and nothing when less than half of it is known', t => {
  const hours = weekHours(Date.UTC(2025, 5, 1), Date.UTC(2025, 5, 1, 3), 'UTC')
  const means = createHourMeans(hours)
  const at = (minutes: number) => hours.bounds[0]! + minutes * MINUTE
  means.take(at(-30), at(15), Float64Array.of(8))
  means.take(at(15), at(90), Float64Array.of(4))
  means.take(at(90), at(151), Float64Array.of(NO))
  means.take(at(151), at(500), Float64Array.of(1))
  t.deepEqual([...means.means()], [5, 4, NO])
})

/** Nine weeks of one value an hour; the last week is judged. */
function scored(valueOf: (week: number, hour: number) => number) {
  const to = Date.UTC(2025, 5, 29)
  const from = to - 7 * DAY
  const hours = weekHours(pastBegin(from), to, 'UTC')
  const means = Float64Array.from(hours.slots, (_, i) => valueOf(Math.floor(i / 168), i % 168))
  return scoreHours(hours, means, from)
}

test('a score is the distance from the median of the same hours in past weeks, by their spread', t => {
  // Past values of an hour are 10 + its place + 0, 1, …, 7: their median is 3.5 more, their deviations' median is 2.
  const result = scored((week, hour) => 10 + hour + (week === 8 ? (hour === 40 ? 30 : 3.5) : week))
  if (result.state !== 'scored') return t.fail(result.state)
  t.is(result.hours.length, 168)
  const strange = result.hours.filter(({ score }) => Math.abs(score) > 1e-9)
  t.deepEqual(
    strange.map(({ value, expected, sigma, score }) => [value, expected, sigma, score]),
    [[80, 53.5, 1.4826 * 2, 26.5 / (1.4826 * 2)]],
  )
  t.deepEqual(
    anomaliesOf(result.hours, 5).map(({ from, to, hours }) => [to - from, hours]),
    [[HOUR, 1]],
  )
})

test('what cannot be scored says why', t => {
  t.is(scored(() => NO).state, 'no_data')
  t.is(scored((week, hour) => (week < 8 ? hour : NO)).state, 'no_data')
  t.is(scored(week => (week === 8 ? 1 : NO)).state, 'insufficient_history')
  t.is(scored(week => (week > 4 ? week : NO)).state, 'insufficient_history', 'three weeks')
  t.is(scored(week => (week > 3 ? week : NO)).state, 'scored', 'four weeks')
  t.is(scored((week, hour) => (week === 8 ? 5 : hour)).state, 'never_changes')
})

test('hours in a row on one side are one anomaly, and a hole or the other side ends it', t => {
  const hour = (i: number, score: number): ScoredHour => ({
    at: i * HOUR,
    to: (i + 1) * HOUR,
    value: 0,
    expected: 0,
    sigma: 1,
    score,
  })
  const found = anomaliesOf([hour(0, 6), hour(1, 9), hour(2, -7), hour(3, 1), hour(4, -8), hour(6, -5)], 5)
  t.deepEqual(
    found.map(({ from, to, hours, worst }) => [from / HOUR, to / HOUR, hours, worst.score]),
    [
      [0, 2, 2, 9],
      [2, 3, 1, -7],
      [4, 5, 1, -8],
      [6, 7, 1, -5],
    ],
  )
})

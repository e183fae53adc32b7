import test from 'ava'
import { DT_MIN } from '#shared/core/analytics/economizer-cells.ts'
import { HIGH_LIMIT } from '#shared/core/analytics/free-cooling.ts'
import { COMFORT_BAND, COMFORT_TOLERANCE, figuresOf } from '#shared/core/analytics/operations.ts'
import type { ScoredHour } from '#shared/core/analytics/seasonal.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { analyseEconomizer } from '#shared/flow/analytics/analyse-economizer.ts'
import { analyseOperations, countFaults, joinOperations } from '#shared/flow/analytics/analyse-operations.ts'
import { isScreened, screenAnomalies } from '#shared/flow/analytics/screen-anomalies.ts'
import { makeHeld, openSql, overlap, type Peer } from './peer.ts'
import { BUILDING, EQUIPMENT, FROM, POINTS, sealedSite, TO, ZONE } from '../../../support/sites/analytics-site.ts'

let sql: Peer
let place: Awaited<ReturnType<typeof sealedSite>>
const teardowns: (() => unknown)[] = []
test.before(async () => {
  place = await sealedSite({ teardown: end => void teardowns.push(end) })
  sql = await openSql(place.files)
  teardowns.push(sql.close)
})
test.after.always(async () => {
  for (const end of teardowns.toReversed()) await end()
})

const pointOf = (id: string) => POINTS.find(({ point_id }) => point_id === id)!
type Near = { like: (actual: unknown, expected: unknown, what: string) => void }
/** Compares figures to nine digits, whatever their order of adding up. */
function near(t: { true(ok: boolean, why: string): unknown; deepEqual(a: unknown, b: unknown, why: string): unknown }): Near {
  const like = (actual: unknown, expected: unknown, what: string): void => {
    if (typeof actual === 'number' && (typeof expected === 'number' || typeof expected === 'bigint')) {
      const [a, b] = [actual, Number(expected)]
      t.true(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)), `${what}: ${a}, by SQL ${b}`)
    } else t.deepEqual(actual, expected, what)
  }
  return { like }
}

/** Not on a quarter of an hour, so that the first and last cells are cut; across the change of the clock. */
const SPAN = { building_id: BUILDING, from: FROM + 30 * DAY + 1000 * 421, to: TO - 5 * DAY - 1000 * 777 }

test.serial('economizer: every figure is that of plain SQL', async t => {
  const { like } = near(t)
  const job = {
    ...SPAN,
    equipment: EQUIPMENT,
    points: POINTS,
    equipment_ids: undefined,
    params: { dt_min: DT_MIN, high_limit: HIGH_LIMIT },
  }
  const answers = await analyseEconomizer(job, { historian: place.historian })
  t.deepEqual(
    answers.map(({ equipment_id, missing_roles }) => [equipment_id, missing_roles]),
    [['ahu', []]],
  )
  const result = answers[0]!.result!
  const roles = { oa: 'oa_t', ra: 'ra_t', ma: 'ma_t', damper: 'oa_damper', fan: 'fan_status', valve: 'clg_valve' }
  const signals = Object.entries(roles).map(([name, role]) => ({ name, point: pointOf(`ahu.${role}`) }))
  await makeHeld(sql, signals, SPAN.from, SPAN.to)
  await sql.rows(cellsSql(Object.keys(roles)))

  const hours = await sql.rows('SELECT kind, sum(length) / 3.6e6 AS hours FROM cells GROUP BY kind ORDER BY kind')
  const ours = Object.entries(result.hours)
    .filter(([, n]) => n > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  t.deepEqual(
    ours.map(([kind]) => kind),
    hours.map(({ kind }) => kind),
  )
  for (const [i, [kind, n]] of ours.entries()) like(n, hours[i]!['hours'], kind)
  t.is(ours.length, 6, 'the data have cells of every kind')

  const bins =
    await sql.rows(`SELECT least(9, floor((damper + 1e-9) * 10)) / 10 AS lower, count(*) / 4 AS hours, avg(damper) AS position,
    quantile_cont(share, 0.05) AS low, quantile_cont(share, 0.25) AS q1, median(share) AS median,
    quantile_cont(share, 0.75) AS q3, quantile_cont(share, 0.95) AS high, median(share - damper) AS residual
    FROM told GROUP BY lower ORDER BY lower`)
  t.is(result.bins.length, bins.length)
  t.true(bins.length >= 5)
  for (const [i, { from, to: _to, ...figures }] of result.bins.entries()) {
    like(from, bins[i]!['lower'], 'bin')
    for (const [name, value] of Object.entries(figures)) like(value, bins[i]![name], `${name} of ${from}`)
  }
  const [all] = await sql.rows(`SELECT regr_slope(share, damper) AS slope, regr_intercept(share, damper) AS intercept,
    regr_r2(share, damper) AS r2, median(share - damper) AS residual, avg(abs(share - damper)) AS mean_abs,
    count(*) FILTER (share < -0.2 - 1e-9 OR share > 1.2 + 1e-9) / 4 AS contradicting,
    median(share) FILTER (damper <= 0.05 + 1e-9) AS shut, median(share) FILTER (damper >= 0.95 - 1e-9) AS open FROM told`)
  like(result.fit!.slope, all!['slope'], 'slope')
  like(result.fit!.intercept, all!['intercept'], 'intercept')
  like(result.fit!.r2, all!['r2'], 'r2')
  like(result.residuals!.median, all!['residual'], 'median residual')
  like(result.residuals!.mean_abs, all!['mean_abs'], 'mean residual')
  like(result.contradicting_hours, all!['contradicting'], 'contradicting')
  like(result.shut!.median, all!['shut'], 'shut')
  like(result.open!.median, all!['open'], 'open')

  const [free] = await sql.rows(`SELECT
    sum(length) FILTER (oa > ${HIGH_LIMIT} + 1e-9) / 3.6e6 AS above_limit_hours,
    sum(length) FILTER (oa > ${HIGH_LIMIT} + 1e-9 AND open) / 3.6e6 AS above_limit_open_hours,
    sum(length) FILTER (suitable) / 3.6e6 AS suitable_hours,
    sum(length) FILTER (suitable AND NOT (cools AND damper < 0.5 - 1e-9) AND open) / 3.6e6 AS used_hours,
    sum(length) FILTER (suitable AND cools AND damper < 0.5 - 1e-9) / 3.6e6 AS missed_hours FROM ran`)
  for (const [name, value] of Object.entries(free!)) {
    like(result.free_cooling[name as 'used_hours'], value ?? 0, name)
  }
  t.true(result.free_cooling.missed_hours > 0 && result.free_cooling.used_hours > 0)
  const degrees = await sql.rows(`SELECT floor(oa + 1e-9) AS "from", sum(length) / 3.6e6 AS hours,
    sum(damper * length) / sum(length) AS damper, coalesce(sum(length) FILTER (cools), 0) / 3.6e6 AS cooling_hours
    FROM ran GROUP BY 1 ORDER BY 1`)
  t.is(result.free_cooling.bins.length, degrees.length)
  for (const [i, bin] of result.free_cooling.bins.entries()) {
    for (const [name, value] of Object.entries(bin)) like(value, degrees[i]![name], `${name} at ${bin.from} °C`)
  }
  const [half] = await sql.rows(`WITH telling AS (SELECT floor(oa + 1e-9) AS deg, sum(damper * length) / sum(length) AS d
    FROM ran GROUP BY 1 HAVING sum(length) >= 3.6e6)
    SELECT max(deg) FILTER (d >= 0.5 - 1e-9) + 1 AS at, max(deg) AS warmest FROM telling`)
  const passes = half!['at'] !== null && Number(half!['at']) <= Number(half!['warmest'])
  like(result.free_cooling.changeover, passes ? half!['at'] : null, 'change-over')
})

/** The tables `cells`, `told` (identifiable ones) and `ran` (the fan ran all through). */
function cellsSql(names: string[]): string {
  const CELL = 15 * 60_000
  const columns = names.flatMap(name => {
    const of = `FILTER (signal = '${name}')`
    return [
      `coalesce(sum(ms) ${of}, 0) AS ${name}_ms`,
      `sum(v * ms) ${of} / sum(ms) ${of} AS ${name}`,
      `min(v) ${of} AS ${name}_min`,
      `max(v) ${of} AS ${name}_max`,
    ]
  })
  const known = (name: string) => `${name}_ms >= 0.8 * ${CELL}`
  return `
  CREATE OR REPLACE TABLE cells AS
  WITH grid AS (SELECT unnest(range((${SPAN.from} // ${CELL})::BIGINT, ((${SPAN.to} - 1) // ${CELL} + 1)::BIGINT)) AS cell),
  parts AS (
    SELECT cell, signal, v, ${overlap(`cell * ${CELL}`, `(cell + 1) * ${CELL}`)} AS ms
    FROM (SELECT *, unnest(range(t0 // ${CELL}, (t1 - 1) // ${CELL} + 1)) AS cell FROM held)),
  wide AS (SELECT cell, least((cell + 1) * ${CELL}, ${SPAN.to}) - greatest(cell * ${CELL}, ${SPAN.from}) AS length,
    ${columns.join(', ')} FROM grid LEFT JOIN parts USING (cell) GROUP BY cell),
  seen AS (SELECT *, ${known('fan')} AND fan_min > 0 AS ran FROM wide),
  settled AS (SELECT *, coalesce(lag(ran) OVER (ORDER BY cell), false) AS settled FROM seen)
  SELECT *, CASE
    WHEN NOT ${known('fan')} THEN 'no_data'
    WHEN fan_max <= 0 THEN 'off'
    WHEN NOT (${['oa', 'ra', 'ma', 'damper'].map(known).join(' AND ')}) THEN 'no_data'
    WHEN NOT ran OR NOT settled THEN 'settling'
    WHEN damper_max - damper_min > 0.1 + 1e-9 THEN 'moving'
    WHEN abs(oa - ra) < ${DT_MIN} - 1e-9 THEN 'small_difference'
    ELSE 'identifiable' END AS kind FROM settled;
  CREATE OR REPLACE VIEW told AS SELECT damper, (ma - ra) / (oa - ra) AS share FROM cells WHERE kind = 'identifiable';
  CREATE OR REPLACE VIEW ran AS SELECT oa, damper, length,
    ${known('valve')} AND valve > 0.1 + 1e-9 AS cools, damper > 0.5 + 1e-9 AS open,
    ${known('ra')} AND oa > 4 + 1e-9 AND oa < 17 - 1e-9 AND oa < ra - 3 - 1e-9 AS suitable
    FROM cells WHERE ran AND ${known('oa')} AND ${known('damper')}`
}

/** Three findings of the air handler, two at once; data and what is explained do not count. */
const finding = (finding_id: string, equipment_id: string, from: number, to: number | null, more: Partial<Finding> = {}) =>
  ({
    finding_id,
    equipment_id,
    building_id: BUILDING,
    from,
    to,
    kind: 'fault',
    // In fault all the time that it lasted.
    duration_secs: ((to ?? TO) - from) / 1000,
    state: to === null ? 'active' : 'cleared',
    ...more,
  }) as Finding
const FINDINGS = [
  finding('a', 'ahu', SPAN.from - DAY, SPAN.from + 5 * HOUR),
  finding('b', 'ahu', SPAN.from + 3 * HOUR, SPAN.from + 9 * HOUR),
  finding('c', 'ahu', SPAN.to - 7 * HOUR, null),
  finding('d', 'room', SPAN.from + DAY, SPAN.from + 2 * DAY),
  finding('e', 'room', SPAN.from + 3 * DAY, SPAN.from + 4 * DAY, { kind: 'data' }),
  finding('f', 'room', SPAN.from + 5 * DAY, SPAN.from + 6 * DAY, { suppressed_by: 'a' }),
  finding('g', 'hall', SPAN.from + 5 * DAY, SPAN.from + 6 * DAY),
  finding('h', 'hall', SPAN.from + 7 * DAY, SPAN.from + 8 * DAY, { kind: 'sensor' }),
]

test.serial('operations: every figure of equipment, day and building is that of plain SQL', async t => {
  const { like } = near(t)
  const now = SPAN.to - 2 * HOUR
  const notes = {
    get: (finding_id: string) => ({ finding_id, ack: 'unacked' as const, ...(finding_id === 'g' && { not_a_fault: 'known' }) }),
  }
  const job = { ...SPAN, timezone: ZONE, equipment: EQUIPMENT, points: POINTS }
  const history = await analyseOperations(job, { historian: place.historian })
  const counted = countFaults({ ...SPAN, now }, { findings: { list: () => FINDINGS }, notes })
  const { equipment, days, building } = joinOperations(EQUIPMENT, history, counted)
  t.deepEqual(
    equipment.map(({ equipment_id, plan }) => [equipment_id, plan?.run_role, plan?.comfort_time, plan?.comfort_limits]),
    [
      ['ahu', 'fan_status', 'occupied', 'band'],
      ['room', undefined, 'occupied', 'set_points'],
      ['hall', undefined, 'occupied', 'band'],
    ],
  )
  const signals = ['ahu.fan_status', 'ahu.occ', 'room.zone_t', 'room.zone_t_sp_heat', 'room.zone_t_sp_cool', 'hall.zone_t']
  const held = signals.map(id => ({ name: id, point: pointOf(id) }))
  await makeHeld(sql, held, SPAN.from, SPAN.to)
  await sql.rows(daysSql())
  const byDay = await sql.rows('SELECT * FROM figures ORDER BY day')
  t.deepEqual(
    days.map(({ at }) => at),
    byDay.map(({ day }) => Number(day)),
  )
  t.true(
    byDay.some(({ length }) => Number(length) === 25),
    'a day of 25 hours',
  )
  for (const [i, { at, sums }] of days.entries()) {
    const figures = figuresOf(sums)
    for (const [name, value] of Object.entries(figures)) like(value, byDay[i]![name], `${name} of ${new Date(at).toISOString()}`)
  }
  const byRoom = await sql.rows('SELECT * FROM rooms ORDER BY room')
  for (const row of byRoom) {
    const own = equipment.find(({ equipment_id }) => equipment_id === row['room'])!
    const figures = figuresOf(own.sums)
    for (const name of ['comfort_share', 'comfort_known_hours', 'too_warm_hours', 'too_cold_hours', 'zone_t_mean'] as const) {
      like(figures[name], row[name], `${name} of ${own.name}`)
    }
    t.true(figures.too_warm_hours! > 0 && figures.too_cold_hours! > 0)
  }
  await sql.rows(findingsSql())
  const faults = await sql.rows('SELECT * FROM fault_hours')
  for (const { equipment_id, fault_hours, findings, open } of equipment) {
    const row = faults.find(one => one['equipment_id'] === equipment_id)
    like(fault_hours, row?.['hours'] ?? 0, `fault hours of ${equipment_id}`)
    like(findings, row?.['findings'] ?? 0, equipment_id)
    like(open, row?.['open'] ?? 0, equipment_id)
  }
  t.is(equipment.find(({ equipment_id }) => equipment_id === 'ahu')!.fault_hours, 9 + 5)
  t.is(building.fault_hours, 9 + 24 + 5)

  function daysSql(): string {
    const { low, high } = COMFORT_BAND
    return `
    CREATE OR REPLACE TABLE days AS SELECT epoch_ms(timezone('${ZONE}', day))::BIGINT AS day,
      epoch_ms(timezone('${ZONE}', day + INTERVAL 1 DAY))::BIGINT AS next
      FROM (SELECT unnest(generate_series(date_trunc('day', timezone('${ZONE}', to_timestamp(${SPAN.from / 1000}))),
        timezone('${ZONE}', to_timestamp(${SPAN.to / 1000})), INTERVAL 1 DAY)) AS day);
    CREATE OR REPLACE TABLE running AS SELECT day, v > 0 AS runs, ${overlap('day', 'next')} AS ms
      FROM held JOIN days ON t0 < next AND t1 > day WHERE signal = 'ahu.fan_status';
    CREATE OR REPLACE TABLE starts AS SELECT t0 FROM (
      SELECT t0, v, lag(v) OVER (ORDER BY t0) AS before, lag(t1) OVER (ORDER BY t0) AS until FROM held WHERE signal = 'ahu.fan_status')
      WHERE v > 0 AND before <= 0 AND until = t0;
    CREATE OR REPLACE TABLE edges AS SELECT room, t, lead(t) OVER (PARTITION BY room ORDER BY t) AS next FROM (
      SELECT DISTINCT room, t FROM (VALUES ('room'), ('hall')) AS r(room),
        (SELECT t0 AS t FROM held UNION SELECT t1 FROM held UNION SELECT day FROM days UNION SELECT ${SPAN.from}) AS e
      WHERE t >= ${SPAN.from});
    CREATE OR REPLACE TABLE room_stretches AS
      SELECT room, t, next - t AS ms, zone.v AS zone, occ.v AS occ,
        CASE room WHEN 'room' THEN heat.v - ${COMFORT_TOLERANCE} ELSE ${low} END AS low,
        CASE room WHEN 'room' THEN cool.v + ${COMFORT_TOLERANCE} ELSE ${high} END AS high
      FROM edges
      JOIN held AS zone ON zone.signal = room || '.zone_t' AND zone.t0 <= t AND zone.t1 > t
      LEFT JOIN held AS occ ON occ.signal = 'ahu.occ' AND occ.t0 <= t AND occ.t1 > t
      LEFT JOIN held AS heat ON heat.signal = 'room.zone_t_sp_heat' AND heat.t0 <= t AND heat.t1 > t
      LEFT JOIN held AS cool ON cool.signal = 'room.zone_t_sp_cool' AND cool.t0 <= t AND cool.t1 > t
      WHERE next IS NOT NULL;
    CREATE OR REPLACE MACRO comfort(low, high, zone) AS zone >= low - 1e-9 AND zone <= high + 1e-9;
    CREATE OR REPLACE VIEW judged AS SELECT *, occ > 0 AND low IS NOT NULL AND high IS NOT NULL AS counts FROM room_stretches;
    CREATE OR REPLACE VIEW rooms AS SELECT room,
      coalesce(sum(ms) FILTER (counts AND comfort(low, high, zone)), 0) / sum(ms) FILTER (counts) AS comfort_share,
      sum(ms) FILTER (counts) / 3.6e6 AS comfort_known_hours,
      sum(ms) FILTER (counts AND zone > high + 1e-9) / 3.6e6 AS too_warm_hours,
      sum(ms) FILTER (counts AND zone < low - 1e-9) / 3.6e6 AS too_cold_hours,
      sum(zone * ms) / sum(ms) AS zone_t_mean FROM judged GROUP BY room;
    CREATE OR REPLACE VIEW figures AS SELECT day, (next - day) / 3.6e6 AS length,
      (SELECT sum(ms) FILTER (runs) / 3.6e6 FROM running WHERE running.day = days.day) AS running_hours,
      (SELECT sum(ms) / 3.6e6 FROM running WHERE running.day = days.day) AS known_hours,
      CASE WHEN EXISTS (FROM running WHERE running.day = days.day)
        THEN (SELECT count(*) FROM starts WHERE t0 >= day AND t0 < next) END AS starts,
      of_day.* FROM days, LATERAL (SELECT
        coalesce(sum(ms) FILTER (counts AND comfort(low, high, zone)), 0) / sum(ms) FILTER (counts) AS comfort_share,
        coalesce(sum(ms) FILTER (counts), 0) / 3.6e6 AS comfort_known_hours,
        CASE WHEN sum(ms) FILTER (counts) > 0 THEN coalesce(sum(ms) FILTER (counts AND zone > high + 1e-9), 0) / 3.6e6 END AS too_warm_hours,
        CASE WHEN sum(ms) FILTER (counts) > 0 THEN coalesce(sum(ms) FILTER (counts AND zone < low - 1e-9), 0) / 3.6e6 END AS too_cold_hours,
        sum(zone * ms) / sum(ms) AS zone_t_mean FROM judged WHERE t >= day AND t < next) AS of_day`
  }
  function findingsSql(): string {
    const rows = FINDINGS.filter(({ finding_id }) => finding_id !== 'g').map(
      ({ equipment_id, from, to, kind, state, suppressed_by }) =>
        `('${equipment_id}', ${from}, ${to ?? now}, '${kind}', '${state}', ${suppressed_by ? 'true' : 'false'})`,
    )
    return `CREATE OR REPLACE VIEW fault_hours AS
    WITH own AS (SELECT equipment_id, state, greatest(a, ${SPAN.from}) AS a, least(b, ${SPAN.to}) AS b
      FROM (VALUES ${rows.join(', ')}) AS f(equipment_id, a, b, kind, state, explained)
      WHERE kind NOT IN ('sensor', 'data', 'override') AND NOT explained),
    before AS (SELECT *, max(b) OVER (PARTITION BY equipment_id ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS seen FROM own)
    SELECT equipment_id, sum(greatest(0, b - greatest(a, coalesce(seen, a)))) / 3.6e6 AS hours, count(*) AS findings,
      count(*) FILTER (state = 'active') AS open FROM before GROUP BY equipment_id`
  }
})

test.serial('anomalies: every score is that of plain SQL, through the change of the clock', async t => {
  const { like } = near(t)
  const span = { building_id: BUILDING, from: TO - 10 * DAY, to: TO - HOUR }
  const job = { ...span, timezone: ZONE, points: POINTS, least: 4, withHours: true }
  const screening = await screenAnomalies(job, { historian: place.historian })
  const screened = POINTS.filter(isScreened)
  t.deepEqual(
    screened.map(({ point_id }) => point_id),
    ['ahu.oa_t', 'ahu.ra_t', 'ahu.ma_t', 'room.zone_t', 'hall.zone_t', 'meter.kw'],
  )
  const start = span.from - 56 * DAY
  await sql.rows(`CREATE OR REPLACE TABLE hours AS SELECT epoch_ms(h)::BIGINT AS t,
    dayofweek(timezone('${ZONE}', h)) * 24 + hour(timezone('${ZONE}', h)) AS slot
    FROM (SELECT unnest(generate_series(timezone('${ZONE}', date_trunc('day', timezone('${ZONE}', to_timestamp(${start / 1000})))),
      to_timestamp(${(span.to - HOUR) / 1000}), INTERVAL 1 HOUR)) AS h)`)
  const [first] = await sql.rows('SELECT min(t) AS t FROM hours')
  let compared = 0
  // The peer computes each point's usual interval by itself, as the product does for those that are read together.
  await makeHeld(
    sql,
    screened.map(point => ({ name: point.point_id, point })),
    Number(first!['t']),
    span.to,
  )
  await sql.rows(`CREATE OR REPLACE TABLE means AS SELECT signal, t, slot, sum(v * ${overlap('t', `t + ${HOUR}`)}) / sum(${overlap('t', `t + ${HOUR}`)}) AS x
    FROM held JOIN hours ON t0 < t + ${HOUR} AND t1 > t GROUP BY signal, t, slot HAVING sum(${overlap('t', `t + ${HOUR}`)}) >= ${HOUR / 2}`)
  await sql.rows(`CREATE OR REPLACE TABLE scores AS
    WITH past AS (SELECT signal, slot, median(x) AS m, count(*) AS n FROM means WHERE t < ${span.from} GROUP BY signal, slot HAVING n >= 4),
    distances AS (SELECT signal, slot, abs(x - m) AS d FROM means JOIN past USING (signal, slot) WHERE t < ${span.from}),
    mads AS (SELECT signal, slot, median(d) AS mad FROM distances GROUP BY signal, slot),
    common AS (SELECT signal, median(d) AS c FROM distances WHERE d > 1e-9 GROUP BY signal)
    SELECT signal, t, x, m, 1.4826 * greatest(mad, c) AS sigma FROM means JOIN past USING (signal, slot) JOIN mads USING (signal, slot) JOIN common USING (signal)
    WHERE t >= ${span.from}`)
  for (const { point_id } of screened) {
    const rows = await sql.rows(
      `SELECT t, x, m, sigma, (x - m) / sigma AS score FROM scores WHERE signal = '${point_id}' ORDER BY t`,
    )
    const ours = screening.hours![point_id] ?? []
    t.deepEqual(
      ours.map(({ at }: ScoredHour) => at),
      rows.map(row => Number(row['t'])),
      point_id,
    )
    for (const [i, { value, expected, sigma, score }] of ours.entries()) {
      const row = rows[i]!
      for (const [name, one] of Object.entries({ x: value, m: expected, sigma, score }))
        like(one, row[name], `${name} of ${point_id}`)
      compared++
    }
  }
  t.true(compared > 1000, `${compared} hours`)
  t.is(screening.scored_hours, compared)
  t.is(screening.anomalies[0]!.point_id, 'meter.kw')
  t.true(screening.anomalies[0]!.hours >= 3)
})

test.serial('plots: least, greatest, mean, last and count of every bucket are those of plain SQL', async t => {
  const { like } = near(t)
  const span = { from: FROM + 3 * DAY, to: FROM + 20 * DAY }
  for (const point_id of ['ahu.oa_t', 'ahu.fan_status']) {
    const [buckets] = await place.historian.buckets({ building_id: BUILDING, point_ids: [point_id], ...span, maxBuckets: 777 })
    const { step, count } = buckets!
    const rows =
      await sql.rows(`SELECT (t - ${span.from}) // ${step} AS i, min(value) AS min, max(value) AS max, avg(value) AS mean,
      arg_max(value, t) AS last, count(*) AS count FROM samples
      WHERE point_id = '${point_id}' AND t >= ${span.from} AND t < ${span.to} AND value IS NOT NULL GROUP BY i ORDER BY i`)
    t.deepEqual(
      [...count.keys()].filter(i => count[i]! > 0),
      rows.map(({ i }) => Number(i)),
    )
    for (const row of rows) {
      for (const name of ['min', 'max', 'mean', 'last', 'count'] as const)
        like(buckets![name][Number(row['i'])]!, row[name], name)
    }
  }
})

/** Stored history as signals: what is read at once, how long a sample is known, what is not known at all. */
import test from 'ava'
import { CHUNK_SAMPLES } from '#shared/core/analytics/history-chunks.ts'
import type { HistoryQuery, PointSpan } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { SAMPLES_MAX, loadSpans } from '#shared/flow/analytics/analytics-span.ts'
import { isScreened } from '#shared/flow/analytics/screen-anomalies.ts'
import { walkHistory } from '#shared/flow/analytics/walk-history.ts'
import { POINTS } from '../../../support/sites/analytics-site.ts'

const series = (...pairs: [t: number, value: number][]): Series => ({
  ts: Float64Array.from(pairs, ([t]) => t),
  values: Float64Array.from(pairs, ([, value]) => value),
})

test('however much a point has, no more than a piece of it is read at once', async t => {
  const perDay = 5_000_000
  const spans = new Map([['p', { point_id: 'p', first: 0, last: 400 * DAY, samples: 400 * perDay }]])
  const asked: number[] = []
  const read = async ({ from, to }: HistoryQuery) => {
    asked.push(((to - from) / DAY) * perDay)
    return [series([from, 1])]
  }
  let walkedMs = 0
  await walkHistory(
    { building_id: 'b', from: 10 * DAY, to: 20 * DAY, spans },
    [{ points: [{ point_id: 'p', unit: 'kW', poll_secs: 1 }], take: (from, to) => void (walkedMs += to - from) }],
    { historian: { read, spans: async () => [...spans.values()] } },
  )
  t.is(walkedMs, 10 * DAY)
  t.true(asked.length >= 50 && Math.max(...asked) <= CHUNK_SAMPLES)
})

test('how long a sample is known is told from the point itself, also where it fell silent early or rests for days', async t => {
  const to = 40 * DAY
  const every = (step: number, until: number) =>
    series(...Array.from({ length: Math.ceil(until / step) }, (_, i): [number, number] => [i * step, 1]))
  const held: Record<string, Series> = {
    live: every(10 * MINUTE, to),
    'silent for ten days': every(HOUR, 30 * DAY),
    'twice a month': every(10 * DAY, to),
    once: series([5 * DAY, 1]),
  }
  const spans = new Map(
    Object.entries(held).map(([point_id, { ts }]) => [
      point_id,
      { point_id, first: ts[0]!, last: ts.at(-1)!, samples: ts.length },
    ]),
  )
  const read = async ({ point_ids, from, to: end }: HistoryQuery) =>
    point_ids.map(id => {
      const { ts, values } = held[id]!
      const within = [...ts.keys()].filter(i => ts[i]! >= from && ts[i]! < end)
      return series(...within.map((i): [number, number] => [ts[i]!, values[i]!]))
    })
  const known: Record<string, number> = {}
  const groups = Object.keys(held).map(point_id => ({
    points: [{ point_id, unit: 'kW' }],
    take: (a: number, b: number, [value]: Float64Array) => {
      if (!Number.isNaN(value)) known[point_id] = (known[point_id] ?? 0) + b - a
    },
  }))
  await walkHistory({ building_id: 'b', from: 0, to, spans }, groups, { historian: { read, spans: async () => [] } })
  t.deepEqual(known, {
    live: to,
    'silent for ten days': 30 * DAY + 2 * HOUR,
    'twice a month': to,
    once: 15 * MINUTE,
  })
})

test('a request for more than the process may read says by how much', async t => {
  const held: PointSpan = { point_id: 'p', first: 0, last: 366 * DAY, samples: SAMPLES_MAX * 3 }
  const historian = { read: async () => [], spans: async () => [held] }
  const error = await t.throwsAsync(loadSpans({ building_id: 'b', from: 0, to: 366 * DAY }, [{ point_id: 'p' }], { historian }))
  t.regex(error.message, /600 million samples, 3 times what one request reads/)
  const walk = await loadSpans({ building_id: 'b', from: 0, to: 100 * DAY }, [{ point_id: 'p' }], { historian })
  t.is(walk.spans.size, 1)
})

test('a point in a unit of something else, or not trusted, is not known, and one that only counts up is not screened', async t => {
  const span = { point_id: 'p', first: 0, last: DAY, samples: 289 }
  const read = async () => [series([0, 20], [DAY, 20])]
  const ports = { historian: { read, spans: async () => [span] } }
  let known = 0
  const take = (from: number, to: number, [value]: Float64Array) => {
    if (!Number.isNaN(value)) known += to - from
  }
  const walk = { building_id: 'b', from: 0, to: HOUR, spans: new Map([['p', span]]) }
  const point = { point_id: 'p', role: 'sa_t', poll_secs: 3600 }
  await walkHistory(walk, [{ points: [{ ...point, unit: 'kW' }], take }], ports)
  t.is(known, 0)
  await walkHistory(walk, [{ points: [{ ...point, unit: 'degC' }], take }], ports)
  t.is(known, HOUR)
  const source = { protocol: 'csv', address: 'SAT', untrusted: [[0, HOUR]] } as const
  await walkHistory(walk, [{ points: [{ ...point, unit: 'degC', source }], take }], ports)
  t.is(known, HOUR, 'what its package does not vouch for is not known either')
  const { role: _role, ...meter } = POINTS.find(({ role }) => role === 'kw')!
  t.deepEqual(
    ['kW', 'kWh', 'Wh', 'MJ', 'therm'].map(unit => isScreened({ ...meter, unit })),
    [true, false, false, false, false],
  )
})

import test from 'ava'
import { toBuckets } from '#shared/core/series/buckets.ts'
import { overlay, createSeriesBuilder } from '#shared/core/series/series-builder.ts'
import { monthOf, monthSpan, partFile } from '#shared/node/historian/folder.ts'
import type { Part } from '#shared/node/historian/manifest.ts'
import { planMerge } from '#shared/node/historian/plan-merge.ts'
import { groups, PART_ROWS } from '#shared/node/historian/part-file.ts'

const NO = Number.NaN
type Pairs = [t: number, value: number][]
const toSeries = (pairs: Pairs) => ({ ts: Float64Array.from(pairs, ([t]) => t), values: Float64Array.from(pairs, ([, v]) => v) })
const toPairs = ({ ts, values }: { ts: Float64Array; values: Float64Array }): Pairs => [...ts].map((t, i) => [t, values[i]!])

test('of two series the upper one counts where both have an instant', t => {
  const cases: { under: Pairs; over: Pairs; whole: Pairs }[] = [
    { under: [], over: [], whole: [] },
    { under: [[1, 1]], over: [], whole: [[1, 1]] },
    { under: [], over: [[1, NO]], whole: [[1, NO]] },
    {
      under: [
        [1, 1],
        [3, 1],
      ],
      over: [
        [2, 2],
        [3, NO],
        [4, 2],
      ],
      whole: [
        [1, 1],
        [2, 2],
        [3, NO],
        [4, 2],
      ],
    },
  ]
  for (const { under, over, whole } of cases) t.deepEqual(toPairs(overlay(toSeries(under), toSeries(over))), whole)
})

test('stretches make one ascending series, the later over the earlier, beyond the expected size too', t => {
  const builder = createSeriesBuilder(0)
  const stretches: Pairs[] = [
    Array.from({ length: 200 }, (_, i) => [i, 0]),
    [
      [200, 1],
      [201, 1],
    ],
    [
      [5, 2],
      [201, 2],
      [300, 2],
    ],
    [],
  ]
  for (const stretch of stretches) {
    builder.begin()
    for (const [at, value] of stretch) builder.push(at, value)
  }
  const built = builder.build()
  const expected = new Map(stretches.flat())
  t.deepEqual(
    toPairs(built),
    [...expected].toSorted(([a], [b]) => a - b),
  )
  t.throws(() => (builder.push(400, 1), builder.push(400, 2)), { instanceOf: RangeError })
})

test('buckets cover the span, of whole ms each, and never more than asked for', t => {
  const series = toSeries([
    [10, 1],
    [11, 5],
    [19, 3],
    [20, NO],
    [39, 4],
    [40, 9],
  ])
  const { step, min, max, mean, last, count } = toBuckets(series, 10, 40, 3)
  t.deepEqual(
    [step, [...min], [...max], [...mean], [...last], [...count]],
    [10, [1, NO, 4], [5, NO, 4], [3, NO, 4], [3, NO, 4], [3, 0, 1]],
  )
  for (const [span, most, n] of [
    [10, 3, 3],
    [10, 100, 10],
    [0, 5, 0],
    [7, 1, 1],
  ] as const) {
    t.is(toBuckets(series, 0, span, most).count.length, n)
  }
})

test('months are those of UTC, and a part lies below its building whatever its name', t => {
  t.is(monthOf(Date.UTC(2026, 0, 31, 23, 59, 59, 999)), '2026-01')
  t.deepEqual(monthSpan('2025-12'), { from: Date.UTC(2025, 11), to: Date.UTC(2026, 0) })
  t.is(partFile('..', '2026-01', 7, 0), 'building_id=../month=2026-01/00000007-000.parquet')
  t.is(partFile('a/../../b', '2026-01', 7, 0), 'building_id=a%2F..%2F..%2Fb/month=2026-01/00000007-000.parquet')
})

const part = (rank: number, samples: number): Part => ({
  part: rank,
  file: `${rank}`,
  month: '2026-01',
  rank,
  rows: samples,
  points: [{ point_id: 'p', first: 0, last: 1, samples, step: null }],
})

test('a merge takes the newest parts, and older ones no larger than what is merged into them', t => {
  const cases = [
    { sizes: [1, 1, 1, 1], merged: 4 },
    { sizes: [100, 1, 1], merged: 2 },
    { sizes: [100, 2, 1, 1], merged: 3 },
    { sizes: [100, 3, 1, 1], merged: 2 },
    { sizes: [1, 100, 50], merged: 3 },
  ]
  for (const { sizes, merged } of cases) {
    const parts = sizes.map((samples, rank) => part(rank, samples))
    t.deepEqual(planMerge(parts), parts.slice(-merged), sizes.join(' '))
  }
})

test('points are cut into groups that fit a part', t => {
  const half = PART_ROWS / 2
  t.deepEqual(
    groups([half, half, 1, 3 * PART_ROWS, 1], rows => rows),
    [[half, half], [1], [3 * PART_ROWS], [1]],
  )
  t.deepEqual(groups([], Number), [])
})

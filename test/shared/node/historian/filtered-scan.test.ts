import test from 'ava'
import type { PointRows } from '#shared/core/ports.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { openPartReader } from '#shared/node/historian/part-reader.ts'
import { MEMORY_MB, temporaryHistorian } from '../../../support/sites/workspace.ts'

const FROM = Date.UTC(2026, 2, 1)
const DAYS = 3
const POINTS = Array.from({ length: 60 }, (_, i) => `unit.${String(i).padStart(2, '0')}`)

/** Up to three days of minutes of each point, no two points as long; the value encodes point and row. */
const lengthOf = (p: number) => (DAYS * DAY) / MINUTE - 37 * p

async function* threeDays(): AsyncGenerator<PointRows> {
  for (const [p, point_id] of POINTS.entries()) {
    const rows = Array.from({ length: lengthOf(p) }, (_, i) => i)
    const series = { ts: Float64Array.from(rows, i => FROM + i * MINUTE), values: Float64Array.from(rows, i => p * 10_000 + i) }
    yield { point_id, series }
  }
}

// A filter that lets few rows of a chunk through may hand them on last, after those of later points.
test.serial('a day, and some points, of a sealed month come back whole, in order and each to its own point', async t => {
  const { historian } = await temporaryHistorian(t)
  await historian.load('b', POINTS, 'replace', threeDays())
  const spans = [
    { from: FROM, to: FROM + DAY },
    { from: FROM + DAY, to: FROM + 2 * DAY },
    { from: FROM - DAY, to: FROM + 9 * DAY },
  ]
  for (const { from, to } of spans) {
    for (const point_ids of [
      POINTS,
      POINTS.filter((_, i) => i % 2 === 0),
      POINTS.filter((_, i) => i % 7 < 3),
      POINTS.slice(11),
    ]) {
      const series = await historian.read({ building_id: 'b', point_ids, from, to })
      for (const [i, { ts, values }] of series.entries()) {
        const p = POINTS.indexOf(point_ids[i]!)
        const first = Math.max(0, (from - FROM) / MINUTE)
        const length = Math.max(0, Math.min((to - FROM) / MINUTE, lengthOf(p)) - first)
        const rows = Array.from({ length }, (_, n) => first + n)
        t.deepEqual(
          [...ts],
          rows.map(row => FROM + row * MINUTE),
        )
        t.deepEqual(
          [...values],
          rows.map(row => p * 10_000 + row),
        )
      }
    }
  }
})

test.serial(
  'the columns of some points of two sealed months are each its own and whole for each who asks, beside a point that one of them lacks',
  async t => {
    const { historian, db, root } = await temporaryHistorian(t)
    await historian.load('b', POINTS, 'replace', threeDays())
    const april = [
      { point_id: POINTS[3]!, length: 40 },
      { point_id: POINTS[5]!, length: 5_000 },
    ]
    const later = Date.UTC(2026, 3, 1)
    await historian.append(
      'b',
      april.flatMap(({ point_id, length }) =>
        Array.from({ length }, (_, i) => ({ id: point_id, t: later + i * MINUTE + (i % 2), v: 1_000_000 + i })),
      ),
    )
    await historian.seal({ before: later + 9 * DAY })
    const wanted = POINTS.filter((_, i) => i % 2 === 1)
    const reader = await openPartReader({ root, memoryMb: MEMORY_MB })
    t.teardown(reader.close)
    const parts = openManifest(db)
      .all(1)
      .map(part => ({ ...part, points: part.points.filter(({ point_id }) => wanted.includes(point_id)) }))
    t.true(parts.length > 1)
    // More at a time than there are connections.
    for (const columns of await Promise.all([1, 2, 3, 4].map(() => reader.columns(parts)))) {
      for (const [i, { month, points }] of parts.entries()) {
        for (const [j, { point_id }] of points.entries()) {
          const { ts, values } = columns[i]![j]!
          const p = POINTS.indexOf(point_id)
          const own = month === '2026-03' ? lengthOf(p) : april.find(one => one.point_id === point_id)!.length
          const base = month === '2026-03' ? p * 10_000 : 1_000_000
          t.deepEqual(
            [...values],
            Array.from({ length: own }, (_, n) => base + n),
          )
          if (month === '2026-03') t.is(ts, undefined, 'a minute apart')
          else
            t.deepEqual(
              [...ts!],
              Array.from({ length: own }, (_, n) => later + n * MINUTE + (n % 2)),
            )
        }
      }
    }
  },
)

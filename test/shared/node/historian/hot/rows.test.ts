import test from 'ava'
import fc from 'fast-check'
import { MINUTE } from '#shared/core/time.ts'
import { openChunks } from '#shared/node/historian/hot/chunks.ts'
import { openHotReader } from '#shared/node/historian/hot/hot-reader.ts'
import { type HotSample, openHotRows } from '#shared/node/historian/hot/rows.ts'
import { openKeys } from '#shared/node/historian/keys.ts'
import { temporaryDatabase } from '../../../../support/sites/workspace.ts'

/** Two minutes before 1970, so that minutes are negative and positive. */
const T = -2 * MINUTE
const POINTS = ['a', 'b', 'c', 'd', 'e']

const sample = fc.record({
  id: fc.constantFrom(...POINTS),
  // Few instants, so that many are written again, and both ends of a minute.
  t: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(59_999, 60_000, 119_999)).map(ms => T + 3 * ms),
  v: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(Number.NaN), fc.double({ noNaN: true })),
  q: fc.constantFrom('good' as const, 'uncertain' as const, 'bad' as const, undefined),
})
const batches = fc.array(fc.array(sample, { minLength: 1, maxLength: 30 }), { maxLength: 12 })
const usable = ({ v, q }: HotSample) => (q === 'bad' ? Number.NaN : v)

test('whatever the order of samples, the rows are what a map would be, and counted as new or known', t => {
  const db = temporaryDatabase(t)
  const rows = openHotRows(db)
  const reader = openHotReader(db)
  const keys = openKeys(db)
  let buildings = 0
  const property = fc.property(
    batches,
    fc.subarray(POINTS, { minLength: 1 }),
    fc.subarray(POINTS),
    fc.integer({ min: -10, max: 360 }),
    (some, asked, removed, cut) => {
      const building_id = `b${buildings++}`
      rows.prepare(building_id, POINTS)
      const building = keys.findBuilding(building_id)!
      const keyOf = keys.findPoints(building, POINTS)
      const paper = new Map(POINTS.map(id => [keyOf.get(id)!, new Map<number, number>()]))
      for (const samples of some) {
        let added = 0
        for (const one of samples) {
          const column = paper.get(keyOf.get(one.id)!)!
          if (!column.has(one.t) || !Object.is(column.get(one.t), usable(one))) added += 1
          column.set(one.t, usable(one))
        }
        t.deepEqual(rows.insert(building_id, samples), { added, duplicate: samples.length - added })
      }
      const gone = removed.map(id => keyOf.get(id)!)
      openChunks(db).removePoints(building, gone)
      for (const point of gone) paper.get(point)!.clear()

      const points = asked.map(id => keyOf.get(id)!)
      for (const [from, to] of [
        [-Infinity, T + cut],
        [T + cut, Infinity],
      ] as const) {
        const found = new Map(points.map(point => [point, [] as [number, number][]]))
        reader.read({ building, from, to }, points, (point, ts, value) => found.get(point)!.push([ts, value]))
        for (const point of points) {
          const expected = [...paper.get(point)!].filter(([ts]) => ts >= from && ts < to).toSorted(([a], [b]) => a - b)
          t.deepEqual(found.get(point), expected)
        }
      }
      const stretches = points.flatMap(point => {
        const times = [...paper.get(point)!.keys()]
        return times.length === 0 ? [] : [{ point, first: Math.min(...times), last: Math.max(...times), samples: times.length }]
      })
      t.deepEqual(
        reader.stretches(building, points).toSorted((a, b) => a.point - b.point),
        stretches.toSorted((a, b) => a.point - b.point),
      )
    },
  )
  fc.assert(property, { numRuns: 300 })
})

test('a message is one row for each of its minutes', t => {
  const db = temporaryDatabase(t)
  const samples = Array.from({ length: 500 }, (_, i) => ({ id: `p${i % 100}`, t: Math.floor(i / 100) * MINUTE, v: i }))
  openHotRows(db).insert('b', samples)
  t.deepEqual(
    db.prepare('SELECT minute, samples FROM hot_chunks ORDER BY minute').raw().all(),
    [0, 1, 2, 3, 4].map(minute => [minute, 100]),
  )
})

test('a minute of many points is several rows, each of other points, so that a few points are found without the rest', t => {
  const db = temporaryDatabase(t)
  const ids = Array.from({ length: 300 }, (_, i) => `p${i}`)
  openHotRows(db).insert(
    'b',
    ids.map((id, i) => ({ id, t: i, v: i })),
  )
  const chunks = db.prepare('SELECT low, high, samples FROM hot_chunks ORDER BY low').all() as {
    low: number
    high: number
    samples: number
  }[]
  t.true(chunks.length > 1)
  t.true(chunks.every(({ low }, i) => i === 0 || low > chunks[i - 1]!.high))
  t.is(
    chunks.reduce((sum, { samples }) => sum + samples, 0),
    300,
  )
})

test('an instant that history cannot store is refused, and names its point', t => {
  const rows = openHotRows(temporaryDatabase(t))
  t.throws(() => rows.insert('b', [{ id: 'p', t: 1.5, v: 1 }]), { message: /point p: 1\.5 is not an instant in ms/ })
})

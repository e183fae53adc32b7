import test from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { openHotReader } from '#shared/node/historian/hot/hot-reader.ts'
import { openHotRows } from '#shared/node/historian/hot/rows.ts'
import { openKeys } from '#shared/node/historian/keys.ts'
import { temporaryDatabase } from '../../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 2, 1)
const SECONDS = [3, 17, 44, 59.999]

/** Points that are read at different seconds of a minute, and a second building beside them. */
function withRows(t: Parameters<typeof temporaryDatabase>[0]) {
  const db = temporaryDatabase(t)
  const rows = openHotRows(db)
  const ids = Array.from({ length: 40 }, (_, i) => `p${i}`)
  for (const building of ['a', 'b']) {
    rows.prepare(building, ids)
    // Minutes come in a mixed order, as after a backlog.
    for (const minute of [5, 0, 3, 90, 4, 1, -30]) {
      rows.insert(
        building,
        ids.map((id, i) => ({
          id,
          t: T + minute * MINUTE + SECONDS[i % 4]! * 1000,
          v: building === 'a' ? minute * 100 + i : -1,
        })),
      )
    }
  }
  const keys = openKeys(db)
  const building = keys.findBuilding('a')!
  return { reader: openHotReader(db), building, keyOf: keys.findPoints(building, ids) }
}

const CASES = {
  'points whose keys follow each other': ['p4', 'p5', 'p6'],
  'points far apart': ['p0', 'p39'],
  'most points': Array.from({ length: 30 }, (_, i) => `p${i}`),
  none: [],
}
const SPANS = [
  [-Infinity, Infinity],
  [T + 17_000, T + 3 * MINUTE + 17_000],
  [T + 17_001, T + 3 * MINUTE + 17_001],
  [T + 6 * MINUTE, T + 89 * MINUTE],
] as const

for (const [title, asked] of Object.entries(CASES)) {
  test(`hot rows of a span are those of the points asked for, each ascending: ${title}`, t => {
    const { reader, building, keyOf } = withRows(t)
    const points = asked.map(id => keyOf.get(id)!)
    for (const [from, to] of SPANS) {
      const found = new Map(points.map(point => [point, [] as [number, number | null][]]))
      reader.read({ building, from, to }, points, (point, ts, value) => found.get(point)?.push([ts, value]))
      for (const id of asked) {
        const i = Number(id.slice(1))
        const expected = [-30, 0, 1, 3, 4, 5, 90].flatMap((minute): [number, number][] => {
          const ts = T + minute * MINUTE + SECONDS[i % 4]! * 1000
          return ts >= from && ts < to ? [[ts, minute * 100 + i]] : []
        })
        t.deepEqual(found.get(keyOf.get(id)!), expected, `${id} from ${from - T} to ${to - T}`)
      }
    }
    const stretches = reader.stretches(building, points).toSorted((a, b) => a.point - b.point)
    t.deepEqual(
      stretches,
      asked.map(id => {
        const ms = SECONDS[Number(id.slice(1)) % 4]! * 1000
        return { point: keyOf.get(id)!, first: T - 30 * MINUTE + ms, last: T + 90 * MINUTE + ms, samples: 7 }
      }),
    )
  })
}

import type { Historian, PointRows } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import { DAY } from '#shared/core/time.ts'

/** Number of points that are compared with history at once. */
const POINTS_AT_ONCE = 8
/** Number of samples written at once; only these, 5 MB, exist as objects. */
const SAMPLES_AT_ONCE = 50_000

/** Span of history that is compared at once: a month of minutes of these points is 6 MB. */
const MONTH = 31 * DAY

type Sample = { id: string; t: number; v: number }
type Addition = {
  /** Adds the samples that history does not have. Durable when resolved. */
  add(block: PointRows[]): Promise<void>
  /** @returns first and last instant of all samples, NaN without any, and the number of instants with a new sample */
  end(): { first: number; last: number; instants: number }
}

/** Adds blocks of samples to the history of a building, and counts new ones. */
export function createAddition(building_id: string, historian: Historian): Addition {
  const fresh = new Set<number>()
  let first = Number.NaN
  let last = Number.NaN

  let waiting: Sample[] = []

  const write = async () => {
    if (waiting.length > 0) await historian.append(building_id, waiting)
    waiting = []
  }
  const addPoints = async (group: PointRows[]) => {
    const from = Math.min(...group.map(({ series }) => series.ts[0]!))
    const to = Math.max(...group.map(({ series }) => series.ts.at(-1)!)) + 1
    if (!(first <= from)) first = from
    if (!(last >= to - 1)) last = to - 1
    const held = await historian.read({ building_id, point_ids: group.map(({ point_id }) => point_id), from, to })
    for (const [i, { point_id, series }] of group.entries()) {
      for (const row of freshRows(series, held[i]!)) {
        fresh.add(series.ts[row]!)
        waiting.push({ id: point_id, t: series.ts[row]!, v: series.values[row]! })
        if (waiting.length >= SAMPLES_AT_ONCE) await write()
      }
    }
  }

  return {
    async add(block) {
      for (let i = 0; i < block.length; i += POINTS_AT_ONCE) {
        for (const group of byMonth(block.slice(i, i + POINTS_AT_ONCE))) await addPoints(group)
      }
      await write()
    },
    end: () => ({ first, last, instants: fresh.size }),
  }
}

/** Splits series into months, so that a row with a wrong year does not read the years between. */
function byMonth(group: PointRows[]): PointRows[][] {
  const monthOf = (t: number) => Math.floor(t / MONTH)
  const pieces = group.flatMap(({ point_id, series: { ts, values } }): PointRows[] => {
    const starts = [...ts.keys()].filter(row => row === 0 || monthOf(ts[row]!) !== monthOf(ts[row - 1]!))
    return starts.map((from, i) => {
      const to = starts[i + 1]
      return { point_id, series: { ts: ts.subarray(from, to), values: values.subarray(from, to) } }
    })
  })
  return [...Map.groupBy(pieces, ({ series }) => monthOf(series.ts[0]!)).values()]
}

/** Rows of `series` that `held` lacks or has with another value. Both are ascending in time. */
function* freshRows(series: Series, held: Series): Generator<number> {
  let j = 0
  for (const [row, t] of series.ts.entries()) {
    while (held.ts[j]! < t) j++
    if (held.ts[j] !== t || !Object.is(held.values[j], series.values[row])) yield row
  }
}

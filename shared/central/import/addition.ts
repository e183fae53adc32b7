import type { Historian, PointRows } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series.ts'

/** Points that are compared with history and added at once; with a block's rows it bounds what is held in objects. */
const POINTS_AT_ONCE = 8

export type Addition = {
  /** Adds what history does not hold yet. Durable when resolved. */
  add(block: PointRows[]): Promise<void>
  /** @returns first and last instant of all samples, NaN without any, and at how many instants something was new */
  end(): { first: number; last: number; instants: number }
}

/** Adds blocks of samples to the history of a building, and counts what was new. */
export function openAddition(building_id: string, historian: Historian): Addition {
  const fresh = new Set<number>()
  let first = Number.NaN
  let last = Number.NaN

  const addPoints = async (group: PointRows[]) => {
    const from = Math.min(...group.map(({ series }) => series.ts[0]!))
    const to = Math.max(...group.map(({ series }) => series.ts.at(-1)!)) + 1
    if (!(first <= from)) first = from
    if (!(last >= to - 1)) last = to - 1
    const held = await historian.read({ building_id, point_ids: group.map(({ point_id }) => point_id), from, to })
    const samples = group.flatMap(({ point_id, series }, i) => freshOf(series, held[i]!).map(at => ({ id: point_id, ...at })))
    for (const { t } of samples) fresh.add(t)
    if (samples.length > 0) await historian.append(building_id, samples)
  }

  return {
    async add(block) {
      for (let i = 0; i < block.length; i += POINTS_AT_ONCE) await addPoints(block.slice(i, i + POINTS_AT_ONCE))
    },
    end: () => ({ first, last, instants: fresh.size }),
  }
}

/** The samples of `series` that `held` has not, or has with another value. Both ascend. */
function freshOf(series: Series, held: Series): { t: number; v: number }[] {
  const fresh: { t: number; v: number }[] = []
  let j = 0
  for (const [i, t] of series.ts.entries()) {
    while (held.ts[j]! < t) j++
    const v = series.values[i]!
    if (held.ts[j] !== t || !Object.is(held.values[j], v)) fresh.push({ t, v })
  }
  return fresh
}

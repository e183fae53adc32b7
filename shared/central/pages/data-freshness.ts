/** When a building's data ended: the end of an imported package, or the last reading of a building that reports no more. */
import { DAY } from '#shared/core/time.ts'
import type { CentralContext } from '#shared/central/context.ts'

/** Time without data that is no mere delay: whether open findings continue is then unknown. */
const ENDED_MS = DAY

export type DataEndContext = Pick<CentralContext, 'results' | 'edges' | 'historian'>
/** By building, ms since 1970 UTC; a building with present data is left out. */
export type DataEnds = ReadonlyMap<string, number>

export function dataEnds(context: DataEndContext, building_ids: readonly string[], now: number): DataEnds {
  const ends = new Map<string, number>()
  // Once for all: a hub has as many edges as buildings.
  const edgesOf = Map.groupBy(context.edges.list(), ({ building_id }) => building_id)
  for (const building_id of building_ids) {
    const heard = (edgesOf.get(building_id) ?? []).flatMap(({ last_data_at }) => last_data_at ?? [])
    const end = dataEnd(context, building_id, heard, now)
    if (end !== undefined) ends.set(building_id, end)
  }
  return ends
}

/**
 * History is asked only where neither a run nor a box knows of anything newer.
 *
 * @param heard the newest data of each box of the building, ms since 1970 UTC
 */
function dataEnd(
  { results, historian }: Pick<DataEndContext, 'results' | 'historian'>,
  building_id: string,
  heard: readonly number[],
  now: number,
): number | undefined {
  if (heard.some(at => now - at <= ENDED_MS)) return undefined
  const [run] = results.runs({ building_id, limit: 1 })
  if (run && now - run.to <= ENDED_MS) return undefined
  const known = Math.max(results.standing(building_id).looked_to ?? -Infinity, ...heard)
  if (known === -Infinity || now - known <= ENDED_MS) return undefined
  const last = Math.max(historian.lastAt(building_id) ?? -Infinity, ...heard)
  return Number.isFinite(last) && now - last > ENDED_MS ? last : undefined
}

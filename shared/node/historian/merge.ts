import type { Duck } from './duck.ts'
import { partFile } from './folder.ts'
import type { NewPart, Part } from './manifest.ts'
import { groups, selectParts, writePart } from './part-file.ts'

export type MergeInput = {
  building_id: string
  month: string
  parts: Part[]
  epoch: number
  /** Keeps the newest usable value of each slot of this length alone, ms; otherwise every sample. */
  slotMs?: number
}

/** Writes the valid samples of the given parts to new parts, each with some of the points. */
export async function mergeParts(duck: Duck, root: string, input: MergeInput): Promise<NewPart[]> {
  const { building_id, month, parts, epoch, slotMs } = input
  const samples = new Map<string, number>()
  for (const { points } of parts) {
    for (const point of points) samples.set(point.point_id, (samples.get(point.point_id) ?? 0) + point.samples)
  }
  const merged: NewPart[] = []
  for (const [n, group] of groups([...samples].toSorted(), ([, rows]) => rows).entries()) {
    const wanted = new Set(group.map(([point_id]) => point_id))
    const sources = parts
      .map(part => ({ ...part, points: part.points.filter(({ point_id }) => wanted.has(point_id)) }))
      .filter(({ points }) => points.length > 0)
    const valid = `SELECT point_id, ts, value, quality FROM (${selectParts(root, sources)})
      QUALIFY row_number() OVER (PARTITION BY point_id, ts ORDER BY rank DESC) = 1`
    const kept = slotMs === undefined ? valid : newestOfSlots(valid, slotMs)
    const select = `SELECT * FROM (${kept}) ORDER BY point_id, ts`
    merged.push(await writePart(duck, root, partFile(building_id, month, epoch, n), month, select))
  }
  return merged
}

/** A value that the device did not vouch for stays only where its slot has no other. */
const newestOfSlots = (samples: string, slotMs: number): string => `SELECT * FROM (${samples})
  QUALIFY row_number() OVER (PARTITION BY point_id, epoch_ms(ts) // ${slotMs} ORDER BY value IS NULL, ts DESC) = 1`

import type { Duck } from './duck.ts'
import { partFile } from './folder.ts'
import type { NewPart, Part } from './manifest.ts'
import { groups, selectParts, writePart } from './part-file.ts'

export type MergeInput = { building_id: string; month: string; parts: Part[]; epoch: number }

/** Writes the valid samples of the given parts to new parts, each with some of the points. */
export async function mergeParts(duck: Duck, root: string, { building_id, month, parts, epoch }: MergeInput): Promise<NewPart[]> {
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
    const select = `SELECT point_id, ts, value, quality FROM (${selectParts(root, sources)})
      QUALIFY row_number() OVER (PARTITION BY point_id, ts ORDER BY rank DESC) = 1 ORDER BY point_id, ts`
    merged.push(await writePart(duck, root, partFile(building_id, month, epoch, n), month, select))
  }
  return merged
}

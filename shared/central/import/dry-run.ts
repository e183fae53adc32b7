import type { BulkLoader, Historian } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'

/**
 * A loader that writes nothing: it reads all rows and counts the samples that a load would add. A sample counts as
 * duplicate when the same value is stored at its instant.
 */
export function countingLoader(historian: Pick<Historian, 'read'>): BulkLoader {
  return {
    async load(building_id, _point_ids, mode, rows) {
      const count = { added: 0, duplicate: 0 }
      for await (const { point_id, series } of rows) {
        const held = mode === 'merge' ? await storedValues(building_id, point_id, series, historian) : new Map<number, number>()
        for (const [i, at] of series.ts.entries()) {
          const isHeld = held.has(at) && Object.is(held.get(at), series.values[i])
          count[isHeld ? 'duplicate' : 'added'] += 1
        }
      }
      return count
    },
  }
}

async function storedValues(
  building_id: string,
  point_id: string,
  { ts }: Series,
  historian: Pick<Historian, 'read'>,
): Promise<Map<number, number>> {
  if (ts.length === 0) return new Map()
  const [from, to] = [ts.reduce((a, b) => Math.min(a, b)), ts.reduce((a, b) => Math.max(a, b)) + 1]
  const [series] = await historian.read({ building_id, point_ids: [point_id], from, to })
  return new Map(Array.from(series!.ts, (at, i) => [at, series!.values[i]!]))
}

import { LRUCache } from 'lru-cache'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { Part } from './manifest.ts'
import type { PartColumn, PartReader } from './part-reader.ts'

/** Eight points of a year of minutes, so that a plot that is zoomed or moved reads no file again. */
const CACHE_BYTES = 40 * 2 ** 20
/** Samples of one query: 12 MB of row numbers, instants and values. */
const QUERY_SAMPLES = 500_000

/**
 * Keeps the columns that were read last. A sealed file never changes and its name is never given again, so a column in memory
 * is always right.
 *
 * @returns reads the columns of each part's listed points, by part, then by point; it throws what `PartReader.columns` throws
 */
export function openColumnCache(partReader: () => Promise<PartReader>): (parts: Part[]) => Promise<PartColumn[][]> {
  const cache = new LRUCache<string, PartColumn>({ maxSize: CACHE_BYTES, sizeCalculation: bytesOf })
  const inTurn = createSerialQueue() // Requests for the same points at once read them once.
  return parts =>
    inTurn(async () => {
      const columns = new Map(keysOf(parts).flatMap(key => ofKey(cache, key)))
      const missing = parts.flatMap(part => {
        const points = part.points.filter(({ point_id }) => !columns.has(keyOf(part, point_id)))
        return points.length > 0 ? [{ ...part, points }] : []
      })
      const readGroup = async (some: Part[]) => {
        const read = await (await partReader()).columns(some)
        for (const [i, part] of some.entries()) {
          for (const [j, { point_id }] of part.points.entries()) {
            const key = keyOf(part, point_id)
            cache.set(key, read[i]![j]!)
            columns.set(key, read[i]![j]!)
          }
        }
      }
      await Promise.all(together(missing).map(readGroup))
      return parts.map(part => part.points.map(({ point_id }) => columns.get(keyOf(part, point_id))!))
    })
}

/** Parts to be read in one query: DuckDB holds all of its columns in memory. */
function together(parts: Part[]): Part[][] {
  const groups: Part[][] = []
  let samples = Infinity
  for (const part of parts) {
    const own = part.points.reduce((sum, point) => sum + point.samples, 0)
    if (samples + own > QUERY_SAMPLES) {
      groups.push([])
      samples = 0
    }
    groups.at(-1)!.push(part)
    samples += own
  }
  return groups
}

const keyOf = ({ file }: Part, point_id: string) => `${file}\0${point_id}`
const keysOf = (parts: Part[]) => parts.flatMap(part => part.points.map(({ point_id }) => keyOf(part, point_id)))
function ofKey(cache: LRUCache<string, PartColumn>, key: string): [string, PartColumn][] {
  const column = cache.get(key)
  return column ? [[key, column]] : []
}
const bytesOf = ({ ts, values }: PartColumn) => values.byteLength + (ts?.byteLength ?? 0) || 1

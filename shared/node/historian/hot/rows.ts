import assert from 'node:assert/strict'
import type { AppendCount } from '#shared/core/ports.ts'
import { QUALITIES, type Quality } from '#shared/core/telemetry/reading.ts'
import { INSTANT_END, INSTANT_MIN, MINUTE } from '#shared/core/time.ts'
import type { Database } from '../../sqlite.ts'
import { openChangeMarks } from '../changes.ts'
import { openKeyGiver } from '../keys.ts'
import { type HotChunk, type HotRow, inOrder } from './chunk.ts'
import { type ChunkMinute, openChunks } from './chunks.ts'

/** `v` is in the point's own unit; NaN means that there was no usable value. */
export type HotSample = { id: string; t: number; v: number; q?: Quality | undefined }

/** Whether history can store `t`: a whole number of ms in a year whose months have the form `2026-03`. */
export const isInstant = (t: number): boolean => Number.isInteger(t) && t >= INSTANT_MIN && t < INSTANT_END

/** The stored value: NaN where the quality is bad or stale. */
export const usable = ({ v, q }: HotSample): number => (q === 'bad' || q === 'stale' ? Number.NaN : v)

type HotRows = {
  /** @returns those of the points that have no history yet */
  missing(building_id: string, ids: Iterable<string>): string[]
  /** Creates keys for new points. */
  prepare(building_id: string, ids: Iterable<string>): void
  /** After a transaction in which keys may have been created was rolled back. */
  forget(): void
  /**
   * Inserts or replaces samples inside the transaction of the caller. The same value again counts as duplicate. History counts as
   * changed from the first changed sample on.
   */
  insert(building_id: string, samples: HotSample[]): AppendCount
}

/** The samples that are not sealed yet, as they are written. */
export function openHotRows(db: Database): HotRows {
  const give = openKeyGiver(db)
  const mark = openChangeMarks(db)
  const insertRows = openRowInsert(db)
  return {
    missing: give.missing,
    prepare: (building_id, ids) => void give(building_id, ids),
    forget: give.forget,
    insert: (building_id, samples) => {
      let keys = give(building_id, [])
      const keyOf = (point_id: string): number => {
        const key = keys.points.get(point_id)
        if (key !== undefined) return key
        keys = give(building_id, new Set(samples.map(({ id }) => id)))
        return keys.points.get(point_id)!
      }
      let added = 0
      let changedFrom = Infinity
      for (const [minute, some] of Map.groupBy(samples, ({ t }) => Math.floor(t / MINUTE))) {
        const inserted = insertRows(
          { building: keys.building, minute },
          some.map(sample => rowOf(sample, keyOf(sample.id), minute)),
        )
        added += inserted.added
        changedFrom = Math.min(changedFrom, inserted.changedFrom)
      }
      if (added > 0) mark(keys.building, changedFrom)
      return { added, duplicate: samples.length - added }
    },
  }
}

function rowOf(sample: HotSample, point: number, minute: number): HotRow {
  const { id, t, q } = sample
  if (!isInstant(t)) assert.fail(`point ${id}: ${t} is not an instant in ms`)
  const value = usable(sample)
  return { point, ms: t - minute * MINUTE, value, quality: QUALITIES.indexOf(q ?? (Number.isNaN(value) ? 'bad' : 'good')) }
}

/** `changedFrom`: instant of the first sample that was added, Infinity when none was. */
type Inserted = { added: number; changedFrom: number }

/**
 * Returns a function that stores rows of one minute, in the order in which they came. What is new becomes one chunk. A sample that
 * is there with another value is replaced where it is, so that no instant of a point is stored twice.
 */
export function openRowInsert(db: Database): (of: ChunkMinute, rows: readonly HotRow[]) => Inserted {
  const epochNow = db.prepare('SELECT epoch FROM history_state').pluck()
  const chunks = openChunks(db)
  return (of, rows) => {
    const stored = chunks.near(of, rows)
    if (stored.length === 0 && areInOrder(rows)) {
      chunks.add(of, epochNow.get() as number, rows)
      return { added: rows.length, changedFrom: of.minute * MINUTE + leastMs(rows) }
    }
    const holderOf = (row: HotRow) => stored.find(({ chunk }) => chunk.find(row) !== undefined)
    const changed = new Map<number, HotRow>()
    let [added, changedFrom] = [0, Infinity]
    for (const row of rows) {
      const place = row.point * MINUTE + row.ms
      const before = changed.get(place)?.value ?? holderOf(row)?.chunk.valueAt(row)
      if (Object.is(before, row.value)) continue
      changed.set(place, row)
      added += 1
      changedFrom = Math.min(changedFrom, of.minute * MINUTE + row.ms)
    }
    const epoch = epochNow.get() as number
    for (const [holder, some] of Map.groupBy(changed.values(), holderOf)) {
      if (holder) chunks.replace(holder.key, epoch, withRows(holder.chunk, some))
      else chunks.add(of, epoch, some.toSorted(inOrder))
    }
    return { added, changedFrom }
  }
}

/** Whether rows are as a chunk has them, which a poll and a message mostly bring: what follows is then the same as adding them. */
const areInOrder = (rows: readonly HotRow[]): boolean => rows.every((row, i) => i === 0 || inOrder(rows[i - 1]!, row) < 0)

const leastMs = (rows: readonly HotRow[]): number => rows.reduce((least, { ms }) => Math.min(least, ms), MINUTE)

/** The rows of a chunk with others in the places of some. */
function withRows(chunk: HotChunk, some: HotRow[]): HotRow[] {
  const rows = chunk.rows()
  for (const row of some) rows[chunk.find(row)!] = row
  return rows
}

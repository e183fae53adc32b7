import { MINUTE } from '#shared/core/time.ts'
import type { Database } from '../../sqlite.ts'
import { HotChunk, type HotRow, packChunk } from './chunk.ts'

/** A minute of a building. */
export type ChunkMinute = { building: number; minute: number }
type StoredChunk = { key: number; chunk: HotChunk }

/**
 * Chooses the chunks of `@building` with samples in `[@from, @to)`, in ms. Where these are whole minutes, the chunks have no other
 * samples.
 */
export const HOT_SPAN =
  'building = @building AND minute > @from / 60000 - 1 AND minute < @to / 60000 AND last >= @from AND first < @to'

/** Chooses among chunks those that may have one of the points with keys from `@low` to `@high`. */
export const OF_POINTS = 'low <= @high AND high >= @low'

/**
 * Most samples of a chunk. The chunks of a minute of many points then have different points each, and a reader of a few points
 * passes over the others.
 */
const SAMPLES_MAX = 128

type Chunks = {
  /** The chunks of a minute in which one of the rows may be. */
  near(of: ChunkMinute, rows: readonly HotRow[]): StoredChunk[]
  /** @param rows as `packChunk` takes them; more than a chunk has become several */
  add(of: ChunkMinute, epoch: number, rows: readonly HotRow[]): void
  /** Gives a chunk other values of the same points and instants. */
  replace(key: number, epoch: number, rows: readonly HotRow[]): void
  /** Removes all samples of some points. */
  removePoints(building: number, points: readonly number[]): void
}

/** The chunks of a database, as they are written inside the transaction of the caller. */
export function openChunks(db: Database): Chunks {
  const near = db.prepare(
    `SELECT chunk AS key, data FROM hot_chunks
     WHERE building = @building AND minute = @minute AND ${OF_POINTS} AND last >= @first AND first <= @last`,
  )
  const insert = db.prepare(
    `INSERT INTO hot_chunks (building, minute, epoch, first, last, low, high, samples, data)
     VALUES (@building, @minute, @epoch, @first, @last, @low, @high, @samples, @data)`,
  )
  const replace = db.prepare('UPDATE hot_chunks SET epoch = ?, data = ? WHERE chunk = ?')
  const ofPoints = db.prepare(`SELECT chunk FROM hot_chunks WHERE building = @building AND ${OF_POINTS}`).pluck()
  const take = db.prepare('DELETE FROM hot_chunks WHERE chunk = ? RETURNING building, minute, epoch, data')
  const add: Chunks['add'] = (of, epoch, rows) => {
    for (let i = 0; i < rows.length; i += SAMPLES_MAX) {
      const some = rows.slice(i, i + SAMPLES_MAX)
      insert.run({ ...of, epoch, ...boundsOf(of, some), samples: some.length, data: packChunk(some) })
    }
  }
  return {
    near: (of, rows) =>
      (near.all({ ...of, ...boundsOf(of, rows) }) as { key: number; data: Buffer }[]).map(({ key, data }) => ({
        key,
        chunk: new HotChunk(data),
      })),
    add,
    replace: (key, epoch, rows) => void replace.run(epoch, packChunk(rows), key),
    removePoints: (building, points) => {
      const removed = new Set(points)
      for (const key of ofPoints.all({ building, ...keySpan(points) })) {
        const { epoch, data, ...of } = take.get(key) as ChunkMinute & { epoch: number; data: Buffer }
        const left = new HotChunk(data).rows().filter(({ point }) => !removed.has(point))
        add(of, epoch, left)
      }
    },
  }
}

/** @returns the least and the greatest of some keys of points */
export const keySpan = (points: readonly number[]): { low: number; high: number } => ({
  low: points.reduce((a, b) => Math.min(a, b), Infinity),
  high: points.reduce((a, b) => Math.max(a, b), -Infinity),
})

function boundsOf({ minute }: ChunkMinute, rows: readonly HotRow[]) {
  let [least, most] = [MINUTE, 0]
  let [low, high] = [Infinity, -Infinity]
  for (const { point, ms } of rows) {
    if (ms < least) least = ms
    if (ms > most) most = ms
    if (point < low) low = point
    if (point > high) high = point
  }
  return { low, high, first: minute * MINUTE + least, last: minute * MINUTE + most }
}

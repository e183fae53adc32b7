import assert from 'node:assert/strict'
import type { AppendCount } from '#shared/core/ports.ts'
import { QUALITIES, type Quality } from '#shared/core/telemetry/reading.ts'
import { INSTANT_END, INSTANT_MIN, MINUTE } from '#shared/core/time.ts'
import type { Database, Statement } from '../sqlite.ts'
import { openChangeMarks } from './changes.ts'
import { openKeyGiver } from './keys.ts'

/** `v` is in the point's own unit; NaN means that there was no usable value. */
export type HotSample = { id: string; t: number; v: number; q?: Quality | undefined }

/** Whether history can store `t`: a whole number of ms in a year whose months have the form `2026-03`. */
export const isInstant = (t: number): boolean => Number.isInteger(t) && t >= INSTANT_MIN && t < INSTANT_END

/** The stored value: NaN where the quality is bad or stale. */
export const usable = ({ v, q }: HotSample): number => (q === 'bad' || q === 'stale' ? Number.NaN : v)

/**
 * Chooses the rows of `@building` in `[@from, @to)`, in ms. Rows are kept by minute, and the minutes before and after are cut by
 * the instant.
 */
export const HOT_SPAN = 'building = @building AND minute BETWEEN @from / 60000 - 1 AND @to / 60000 AND ts >= @from AND ts < @to'

/** Samples that one statement inserts, where there are so many: it takes 40 % less time than a statement for each. */
const ROWS = 25

type HotRows = {
  /** @returns those of the points that have no history yet */
  missing(building_id: string, ids: Iterable<string>): string[]
  /** Creates keys for new points; called outside the transaction that inserts. */
  prepare(building_id: string, ids: Iterable<string>): void
  /**
   * Inserts or replaces samples inside the transaction of the caller. The same value again counts as duplicate. History counts as
   * changed from the first changed sample on, or from one of the few samples that were inserted together with it.
   */
  insert(building_id: string, samples: HotSample[]): AppendCount
}

/** The rows that are not sealed yet. */
export function openHotRows(db: Database): HotRows {
  const give = openKeyGiver(db)
  const mark = openChangeMarks(db)
  const epochNow = db.prepare('SELECT epoch FROM history_state').pluck()
  const upsert = (rows: number) =>
    db.prepare(
      `INSERT INTO hot_samples (building, minute, point, ms, value, quality, epoch)
       VALUES ${Array(rows).fill('(@building, ?, ?, ?, ?, ?, @epoch)').join(', ')}
       ON CONFLICT (building, minute, point, ms) DO UPDATE
       SET value = excluded.value, quality = excluded.quality, epoch = excluded.epoch WHERE value IS NOT excluded.value`,
    )
  const [upsertOne, upsertSome] = [upsert(1), upsert(ROWS)]
  return {
    missing: give.missing,
    prepare: (building_id, ids) => void give(building_id, ids),
    insert: (building_id, samples) => {
      const { building, points } = give(building_id, new Set(samples.map(({ id }) => id)))
      const epoch = epochNow.get()
      const rowOf = ({ id, t, v, q }: HotSample) => {
        assert(isInstant(t), `point ${id}: ${t} is not an instant in ms`)
        const value = usable({ id, t, v, q })
        const missing = Number.isNaN(value)
        const quality = QUALITIES.indexOf(q ?? (missing ? 'bad' : 'good'))
        const minute = Math.floor(t / MINUTE)
        return [minute, points.get(id), t - minute * MINUTE, missing ? null : value, quality]
      }
      let added = 0
      let changedFrom = Infinity
      const upsertWith = (statement: Statement, some: HotSample[]) => {
        const { changes } = statement.run(...some.flatMap(rowOf), { building, epoch })
        added += changes
        if (changes > 0) for (const { t } of some) changedFrom = Math.min(changedFrom, t)
      }
      const rest = samples.length - (samples.length % ROWS)
      for (let i = 0; i < rest; i += ROWS) upsertWith(upsertSome, samples.slice(i, i + ROWS))
      for (const sample of samples.slice(rest)) upsertWith(upsertOne, [sample])
      if (added > 0) mark(building, changedFrom)
      return { added, duplicate: samples.length - added }
    },
  }
}

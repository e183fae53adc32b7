/** Stores readings with an impossible time separately from history, within a bound. */
import type { MisdatedReading, MisdatedStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

/**
 * Maximum number of rows: 40 MB with the index, more than half an hour of a site of 5,000 points a minute whose clock is
 * not set.
 */
const MISDATED_MAX = 200_000
/** Rows dropped at once when the table is full, so that a flood does not sort the table for each message. */
const DROP_AT_ONCE = 2_000

/** @param max maximum number of rows, for tests */
export function misdatedStore(db: Database, max = MISDATED_MAX): MisdatedStore {
  const insert = db.prepare(
    `INSERT OR IGNORE INTO misdated_readings (building_id, point_id, edge_id, observed_at, arrived_at, value, quality)
     VALUES (@building_id, @point_id, @edge_id, @observed_at, @arrived_at, @value, @quality)`,
  )
  const count = db.prepare('SELECT count(*) FROM misdated_readings').pluck()
  const largest = db
    .prepare('SELECT building_id FROM misdated_readings GROUP BY building_id ORDER BY count(*) DESC LIMIT 1')
    .pluck()
  const drop = db.prepare(
    `DELETE FROM misdated_readings WHERE entry IN
     (SELECT entry FROM misdated_readings WHERE building_id = ? ORDER BY entry LIMIT ?)`,
  )
  const newest = db.prepare('SELECT arrived_at FROM misdated_readings ORDER BY entry DESC LIMIT 1').pluck()
  const list = db.prepare(
    `SELECT entry, building_id, point_id, edge_id, observed_at, arrived_at, value, quality FROM misdated_readings
     WHERE building_id = @building_id AND (@point_id IS NULL OR point_id = @point_id) AND entry < @before
     ORDER BY entry DESC LIMIT @limit`,
  )
  let dropped = 0

  const keep = db.transaction((readings: MisdatedReading[]) => {
    let kept = 0
    for (const reading of readings) kept += insert.run(reading).changes
    // Rows of the building with the most rows are dropped, so that one bad clock does not displace readings of others.
    for (let over = (count.get() as number) - max; over > 0; over = (count.get() as number) - max) {
      dropped += drop.run(largest.get(), Math.min(max, Math.max(over, DROP_AT_ONCE))).changes
    }
    return kept
  })
  return {
    keep: readings => (readings.length === 0 ? 0 : keep(readings)),
    list: ({ building_id, point_id, before, limit }) =>
      list.all({
        building_id,
        point_id: point_id ?? null,
        before: before ?? Number.MAX_SAFE_INTEGER,
        limit,
      }) as (MisdatedReading & {
        entry: number
      })[],
    summary: () => ({
      count: count.get() as number,
      newest_at: (newest.get() as number | undefined) ?? null,
      dropped,
    }),
  }
}

import type { SavedTrend, SavedTrendStore } from '#shared/core/series/saved-trend.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const COLUMNS = [
  'trend_id',
  'building_id',
  'name',
  'point_ids',
  'span',
  'compare',
  'created_by',
  'created_at',
] as const satisfies (keyof SavedTrend)[]
/** As many as there may be views. */
const REMOVED_MAX = 200
const JSON_COLUMNS = ['point_ids', 'span']

export function savedTrendStore(db: Database): SavedTrendStore {
  const list = db.prepare('SELECT * FROM saved_trends ORDER BY building_id, name COLLATE NOCASE, trend_id')
  const get = db.prepare('SELECT * FROM saved_trends WHERE trend_id = ?')
  const put = db.prepare(upsert('saved_trends', ['trend_id'], COLUMNS))
  const names = COLUMNS.join(', ')
  const move = db.prepare(
    `INSERT OR REPLACE INTO removed_trends (${names}, removed_at) SELECT ${names}, @now FROM saved_trends WHERE trend_id = @trend_id`,
  )
  const remove = db.prepare('DELETE FROM saved_trends WHERE trend_id = ?')
  const trim = db.prepare(
    `DELETE FROM removed_trends WHERE trend_id NOT IN
       (SELECT trend_id FROM removed_trends ORDER BY removed_at DESC LIMIT ${REMOVED_MAX})`,
  )
  const removed = db.prepare(`SELECT ${names} FROM removed_trends WHERE trend_id = ?`)
  const forget = db.prepare('DELETE FROM removed_trends WHERE trend_id = ?')
  const oneOf = (row: unknown) => (row === undefined ? undefined : toRecord<SavedTrend>(row, JSON_COLUMNS))
  return {
    list: () => list.all().map(row => toRecord<SavedTrend>(row, JSON_COLUMNS)),
    get: trend_id => oneOf(get.get(trend_id)),
    removed: trend_id => oneOf(removed.get(trend_id)),
    put: db.transaction((trend: SavedTrend) => {
      put.run(toRow(trend, COLUMNS))
      forget.run(trend.trend_id)
    }),
    remove: db.transaction((trend_id: string, now: number) => {
      move.run({ trend_id, now })
      remove.run(trend_id)
      trim.run()
    }),
  }
}

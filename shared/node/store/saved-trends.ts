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
const JSON_COLUMNS = ['point_ids', 'span']

export function savedTrendStore(db: Database): SavedTrendStore {
  const list = db.prepare('SELECT * FROM saved_trends ORDER BY building_id, name COLLATE NOCASE, trend_id')
  const get = db.prepare('SELECT * FROM saved_trends WHERE trend_id = ?')
  const put = db.prepare(upsert('saved_trends', ['trend_id'], COLUMNS))
  const remove = db.prepare('DELETE FROM saved_trends WHERE trend_id = ?')
  return {
    list: () => list.all().map(row => toRecord<SavedTrend>(row, JSON_COLUMNS)),
    get(trend_id) {
      const row = get.get(trend_id)
      return row === undefined ? undefined : toRecord<SavedTrend>(row, JSON_COLUMNS)
    },
    put: trend => void put.run(toRow(trend, COLUMNS)),
    remove: trend_id => void remove.run(trend_id),
  }
}

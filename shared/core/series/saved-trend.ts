/** A view of trends that was saved with a name: points, time and comparison, as the address of the page has them. */

/** The last so many days, or a time that stays; `from` and `to` are instants in UTC or the building's wall clock. */
export type TrendSpan = { days: number } | { from: string; to: string }

export type SavedTrend = {
  trend_id: string
  building_id: string
  name: string
  point_ids: string[]
  span: TrendSpan
  /** Absent without a comparison. */
  compare?: 'day' | 'week'
  created_by: string
  /** ms since 1970 UTC */
  created_at: number
}

/** Views by name. */
export interface SavedTrendStore {
  /** By building, then by name without regard to case. */
  list(): SavedTrend[]
  /** Of those that are listed. */
  get(trend_id: string): SavedTrend | undefined
  /** Inserts or replaces by `trend_id`; one that was removed is listed again. */
  put(trend: SavedTrend): void
  /** Takes it off the list. The newest 200 that were removed are retained. @param now ms */
  remove(trend_id: string, now: number): void
  /** One that was removed and is retained. */
  removed(trend_id: string): SavedTrend | undefined
}

/** The address of trends: its query is the whole state of the page. */
import type { TrendSpan } from '#shared/core/series/saved-trend.ts'
import { words } from '#shared/node/http/language.ts'

export const TRENDS_PATH = '/trends'
/** Spans that end now, days. */
export const TREND_DAYS = [1, 7, 30, 366] as const

/** What a plot can be compared with: the same time so many days before, and how its lines are marked. */
export const COMPARE = words({
  day: { days: 1, mark: '−1 d', words: 'a day before' },
  week: { days: 7, mark: '−7 d', words: 'a week before' },
} as const)
export type Compare = keyof typeof COMPARE

/** `from` and `to` are the building's wall clock, `2026-11-20T14:00`; without them the last `days`. */
export type TrendsQuery = {
  building?: string | undefined
  points: readonly string[]
  days?: number | undefined
  from?: string | undefined
  to?: string | undefined
  q?: string | undefined
  /** The equipment that is looked into for points to add. */
  of?: string | undefined
  compare?: Compare | undefined
}

export function trendsHref({ building, points, days, from, to, q, of, compare }: TrendsQuery): string {
  const given = {
    building,
    points: points.length > 0 ? points.join(',') : undefined,
    days: days === undefined || from !== undefined ? undefined : String(days),
    from,
    to: from === undefined ? undefined : to,
    q: q || undefined,
    of,
    compare,
  }
  const entries = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  // Commas and colons are plain in a query and keep the address readable.
  const search = new URLSearchParams(entries).toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return search === '' ? TRENDS_PATH : `${TRENDS_PATH}?${search}`
}

/** The address that a saved view is. */
export const savedTrendHref = (saved: {
  building_id: string
  point_ids: readonly string[]
  span: TrendSpan
  compare?: Compare | undefined
}): string => trendsHref({ building: saved.building_id, points: saved.point_ids, ...saved.span, compare: saved.compare })

/** Checks what is chosen for a plot of trends, which the page shows and a saved view keeps: points and time. */
import type { Point } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Span } from '#shared/core/series/spans.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { instantsOf, offsetAt } from '#shared/core/time-zone.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { TRACES_MAX } from '#shared/central/ui/plot.ts'
import type { TrendsQuery } from '#shared/central/ui/trends-link.ts'

/** Shortest and longest time that can be shown. */
const SPAN_MIN = 2 * MINUTE
const SPAN_MAX = 5 * 366 * DAY
/** Points that can be compared with an earlier time: each is two lines. */
export const COMPARED_MAX = TRACES_MAX / 2
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::\d\d)?$/

/**
 * @param points those of the building
 * @returns the chosen ones in their order
 * @throws Problem unknown_point, or bad_request for more than can be told apart
 */
export function chosenPoints(points: Point[], { building, points: point_ids, compare }: Omit<TrendsQuery, 'q'>): Point[] {
  const known = new Map(points.map(point => [point.point_id, point]))
  if (point_ids.length > TRACES_MAX) throw new Problem('bad_request', `A plot holds at most ${TRACES_MAX} points`)
  const chosen = point_ids.map(point_id => {
    const point = known.get(point_id)
    if (!point) throw new Problem('unknown_point', `Building ${building} has no point ${point_id}`)
    return point
  })
  if (compare && chosen.length > COMPARED_MAX)
    throw new Problem('bad_request', `At most ${COMPARED_MAX} points are compared with an earlier time`)
  return chosen
}

/** @throws Problem bad_request that names the end which is no time, or says what is wrong with the span */
export function chosenSpan(
  { from, to, days }: Pick<TrendsQuery, 'from' | 'to'> & { days: number },
  timezone: string,
  until: number,
): Span {
  if (from === undefined && to === undefined) return { from: until - days * DAY, to: until + 1 }
  const end = to === undefined ? until + 1 : localInstant('to', to, timezone)
  const start = from === undefined ? end - days * DAY : localInstant('from', from, timezone)
  if (end - start < SPAN_MIN) throw new Problem('bad_request', 'The time ends before it begins, or is shorter than two minutes')
  if (end - start > SPAN_MAX) throw new Problem('bad_request', 'The time is longer than five years')
  return { from: start, to: end }
}

/** An instant in UTC, as zooming writes it, or the wall clock of the building; of an hour that the clock repeats the first, of one that it skips the next. */
function localInstant(name: string, text: string, timezone: string): number {
  if (text.endsWith('Z')) return readInstant(name, text)
  const [, year, month, day, hour, minute] = (LOCAL.exec(text) ?? []).map(Number)
  const wall = Date.UTC(year!, month! - 1, day, hour, minute)
  if (Number.isNaN(wall)) throw new Problem('bad_request', `${name} is no time such as 2026-11-20T14:00`)
  const [first] = instantsOf(wall, timezone)
  return first ?? wall - offsetAt(wall - DAY, timezone)
}

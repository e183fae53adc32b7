import { type Anomaly, anomaliesOf, scoreHours, type ScoringResult, type ScoredHour } from '#shared/core/analytics/seasonal.ts'
import { createHourMeans, pastBegin, weekHours } from '#shared/core/analytics/week-hours.ts'
import type { Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { loadSpans, type AnalyticsPorts, type AnalyticsSpan } from './analytics-span.ts'
import { walkHistory } from './walk-history.ts'

export type ScreenJob = AnalyticsSpan & {
  timezone: string
  points: Point[]
  /** Least absolute score of an anomaly. */
  least: number
  /** Whether to return every hour of every point, for a plot. */
  withHours: boolean
}
type PointAnomaly = Anomaly & { point_id: string }
export type Screening = {
  from: number
  to: number
  points_scored: number
  /** Points that were not scored, by reason. */
  not_scored: Record<Exclude<ScoringResult['state'], 'scored'>, number>
  scored_hours: number
  /** The most unusual first, at most `ANOMALIES_MAX`. */
  anomalies: PointAnomaly[]
  anomalies_total: number
  hours?: Record<string, ScoredHour[]>
}

const ANOMALIES_MAX = 500
/** Points that are read at once. */
const POINTS_AT_ONCE = 8

/** Whether a point is screened: it is measured and has a weekly rhythm, so no set points, commands and counters. */
export const isScreened = ({ kind, role, unit }: Point): boolean =>
  kind === 'number' &&
  UNITS[unit]?.dimension !== 'energy' &&
  (role === undefined || (ROLES[role]?.kind === 'number' && !ROLES[role].rests && role !== 'kwh'))

/**
 * Scores every hour of `[from, to)` of every point against the same hours of the past weeks.
 *
 * Memory is two numbers for each hour of nine weeks and for each of eight points, and one chunk of history.
 *
 * @throws Problem invalid when more would have to be read than one request may; history_damaged
 */
export async function screenAnomalies(job: ScreenJob, ports: AnalyticsPorts): Promise<Screening> {
  const points = job.points.filter(isScreened)
  const hours = weekHours(pastBegin(job.from), job.to, job.timezone)
  const walk = await loadSpans({ ...job, from: hours.bounds[0]! }, points, ports)
  const screening: Screening = {
    from: job.from,
    to: job.to,
    points_scored: 0,
    not_scored: { no_data: 0, insufficient_history: 0, never_changes: 0 },
    scored_hours: 0,
    anomalies: [],
    anomalies_total: 0,
    ...(job.withHours && { hours: {} }),
  }
  for (let i = 0; i < points.length; i += POINTS_AT_ONCE) {
    const some = points.slice(i, i + POINTS_AT_ONCE).map(point => ({ point, means: createHourMeans(hours) }))
    await walkHistory(
      walk,
      some.map(({ point, means }) => ({ points: [point], take: means.take })),
      ports,
    )
    for (const { point, means } of some) add(screening, point, scoreHours(hours, means.means(), job.from), job.least)
  }
  return screening
}

function add(screening: Screening, { point_id }: Point, scored: ScoringResult, least: number): void {
  if (scored.state !== 'scored') {
    screening.not_scored[scored.state]++
    return
  }
  const found = anomaliesOf(scored.hours, least)
  screening.points_scored++
  screening.scored_hours += scored.hours.length
  screening.anomalies_total += found.length
  if (screening.hours) screening.hours[point_id] = scored.hours
  screening.anomalies = [...screening.anomalies, ...found.map(one => ({ point_id, ...one }))]
    .toSorted((a, b) => Math.abs(b.worst.score) - Math.abs(a.worst.score))
    .slice(0, ANOMALIES_MAX)
}

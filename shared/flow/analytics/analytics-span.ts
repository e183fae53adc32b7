import { densityOf } from '#shared/core/analytics/history-chunks.ts'
import type { Point } from '#shared/core/model/model.ts'
import type { Historian } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { HistoryWalk } from './walk-history.ts'

/** `[from, to)` of a building's history, ms. */
export type AnalyticsSpan = { building_id: string; from: number; to: number }
export type AnalyticsPorts = { historian: Pick<Historian, 'read' | 'spans'> }

/** Samples that one request may read. This limits how long the process is busy; memory has its own limit. */
export const SAMPLES_MAX = 200_000_000

/** Loads the stored spans of some points. */
export async function loadSpans(
  { building_id, from, to }: AnalyticsSpan,
  points: readonly Pick<Point, 'point_id'>[],
  { historian }: AnalyticsPorts,
): Promise<HistoryWalk> {
  const held = await historian.spans(
    building_id,
    points.map(({ point_id }) => point_id),
  )
  const samples = held.reduce((sum, span) => {
    const overlap = Math.min(span.last, to) - Math.max(span.first, from)
    return sum + Math.max(0, overlap) * densityOf([span])
  }, 0)
  if (samples > SAMPLES_MAX) {
    const factor = Math.ceil(samples / SAMPLES_MAX)
    throw new Problem(
      'invalid',
      `The span holds ${Math.round(samples / 1e6)} million samples, ${factor} times what one request reads: ask for a shorter one or for less equipment`,
    )
  }
  return { building_id, from, to, spans: new Map(held.map(span => [span.point_id, span])) }
}

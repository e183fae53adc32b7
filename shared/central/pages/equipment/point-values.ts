/** The values of points now, with their age and state, and their last day for sparklines and plots. */
import type { Point } from '#shared/core/model/model.ts'
import type { HistoryReader, PointSpan } from '#shared/core/ports.ts'
import type { LiveReader } from '#shared/core/telemetry/live.ts'
import { type Reading, toNumber } from '#shared/core/telemetry/reading.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import { gapsOf, HOLDS_INTERVALS, type Span, usualInterval } from '#shared/core/series/spans.ts'
import { SECOND } from '#shared/core/time.ts'
import type { State } from '#shared/central/ui/icons.ts'
import { formatValue, measureOf, type UnitSystem } from '#shared/central/ui/measure.ts'
import { words } from '#shared/node/http/language.ts'

export type PointValue = {
  point: Point
  /** In the point's own unit; null where the span has no usable value. */
  value: number | null
  /** Instant of the newest sample, usable or not, ms; null where there is none. */
  at: number | null
  state: State
  buckets: Buckets
  /** Nominal time between samples, ms. */
  nominalMs: number
  gaps: Span[]
}

/**
 * @param points of one building
 * @param span ends at the present, or where the building's data ended
 * @returns in the order of `points`
 */
export async function readPointValues(
  { historian, live }: { historian: HistoryReader; live?: LiveReader },
  points: Point[],
  { from, to }: Span,
  maxBuckets: number,
): Promise<PointValue[]> {
  const [first] = points
  if (!first) return []
  const { building_id } = first
  const point_ids = points.map(({ point_id }) => point_id)
  const [spans, buckets] = await Promise.all([
    historian.spans(building_id, point_ids),
    historian.buckets({ building_id, point_ids, from, to, maxBuckets }),
  ])
  const byPoint = new Map(spans.map(one => [one.point_id, one]))
  return points.map((point, i) =>
    withLive(valueOf(point, buckets[i]!, byPoint.get(point.point_id), to), live?.(building_id, point.point_id), to),
  )
}

function valueOf(point: Point, buckets: Buckets, span: PointSpan | undefined, to: number): PointValue {
  const nominalMs = point.poll_secs === undefined ? usualInterval(buckets) : point.poll_secs * SECOND
  const filled = buckets.count.findLastIndex(count => count > 0)
  const usableUntil = buckets.from + (filled + 1) * buckets.step
  const at = span?.last ?? null
  const isSilent = at === null || to - at > HOLDS_INTERVALS * nominalMs
  const isUsable = filled >= 0 && at !== null && at < usableUntil
  const state = point.gone ? 'disabled' : at === null ? 'unknown' : isSilent ? 'stale' : isUsable ? 'ok' : 'fault'
  const value = filled < 0 ? null : buckets.last[filled]!
  return { point, value, at, state, buckets, nominalMs, gaps: gapsOf(buckets, nominalMs, to) }
}

/** The newest reading may be known before history has it: while an edge sends a backlog, or until the next write. */
function withLive(value: PointValue, live: Reading | undefined, to: number): PointValue {
  if (!live || value.point.gone || live.t <= (value.at ?? -Infinity) || live.t > to) return value
  const number = live.q === 'good' ? toNumber(live.v, value.point.states) : Number.NaN
  return Number.isNaN(number) ? value : { ...value, value: number, at: live.t, state: 'ok' }
}

/** What the state of a point means, as it stands beside the mark. */
export const POINT_STATE_WORDS: Record<State, string> = words({
  ok: 'ok',
  stale: 'stale',
  down: 'down',
  fault: 'no usable value',
  disabled: 'not measured any more',
  unknown: 'no value yet',
})

/** A value of a point in words: the state text where the point has one, else figure and unit of the building. */
export function pointValueText({ unit, kind, role, states }: Point, value: number | null, system: UnitSystem): string {
  if (value === null) return '–'
  const text = states?.[value]
  if (text !== undefined) return text
  return formatValue(value, measureOf(unit, system, role), kind === 'string' ? 'enum' : kind)
}

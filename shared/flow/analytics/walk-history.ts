/** Reads stored history in chunks and merges its signals, so that a year of many points is never in memory at once. */
import { densityOf, historyChunks } from '#shared/core/analytics/history-chunks.ts'
import { createSignalMerge, type TakeInterval } from '#shared/core/analytics/signal-merge.ts'
import type { Point } from '#shared/core/model/model.ts'
import type { Historian, PointSpan } from '#shared/core/ports.ts'
import { ROLES, readAs } from '#shared/core/model/role.ts'
import { EMPTY_SERIES, type Series } from '#shared/core/series/series.ts'
import { DAY, SECOND } from '#shared/core/time.ts'
import { HOLDS_INTERVALS } from '#shared/core/series/spans.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { withoutUntrusted } from '#shared/core/series/untrusted-spans.ts'
import { medianGap } from '#shared/core/series/statistics.ts'

/** Usual intervals of points are derived from the last days of their data. */
const LOOKED_AT_MS = 7 * DAY

type HistoryPorts = { historian: Pick<Historian, 'read' | 'spans'> }
export type HistoryWalk = {
  building_id: string
  from: number
  to: number
  /** The stored spans of the building's points. */
  spans: ReadonlyMap<string, PointSpan>
}
/** Signals that are merged with each other. An undefined one is never known. */
export type WalkGroup = {
  points: readonly ((Pick<Point, 'point_id' | 'unit' | 'role' | 'poll_secs'> & Partial<Pick<Point, 'source'>>) | undefined)[]
  take: TakeInterval
}

/**
 * Passes the intervals of its signals over `[from, to)` to every group. Values are in the role's canonical unit, or in the
 * point's own without a role. A value that is outside of the role's plausible range, not trusted, or in an unsuitable unit
 * is not known.
 *
 * @throws Problem history_damaged when a sealed file cannot be read
 */
export async function walkHistory(
  { building_id, from, to, spans }: HistoryWalk,
  groups: readonly WalkGroup[],
  { historian }: HistoryPorts,
): Promise<void> {
  const asked = groups.flatMap(({ points }) => points).filter(point => point !== undefined)
  const points = [...new Map(asked.map(point => [point.point_id, point])).values()]
  const held = points
    .flatMap(({ point_id }) => spans.get(point_id) ?? [])
    .filter(({ first, last }) => first < to && last >= from - LOOKED_AT_MS)
  const byId = new Map(points.map(point => [point.point_id, point]))
  const end = Math.min(to, Math.max(...[...spans.values()].map(({ last }) => last + 1)))
  const holds = await holdsOf(building_id, held, byId, end, historian)
  const walks = groups.map(group =>
    createSignalMerge(
      from,
      group.points.map(point => (point && holds.get(point.point_id)) ?? 0),
      group.take,
    ),
  )
  // The samples that hold at the start were taken before it.
  const lead = Math.max(0, ...holds.values())
  const point_ids = held.map(({ point_id }) => point_id)
  for (const piece of historyChunks(from - lead, to, densityOf(held))) {
    const read = point_ids.length ? await historian.read({ building_id, point_ids, ...piece }) : []
    const series = new Map(point_ids.map((point_id, i) => [point_id, toKnown(read[i]!, byId.get(point_id)!)]))
    for (const [i, walk] of walks.entries()) {
      const own = groups[i]!.points.map(point => (point && series.get(point.point_id)) ?? EMPTY_SERIES)
      walk.advance(own, piece.to)
    }
  }
}

/** How long a sample of each point is valid, ms. Where no interval is stated, the data before `end` decides. */
async function holdsOf(
  building_id: string,
  held: readonly PointSpan[],
  polled: ReadonlyMap<string, { poll_secs?: number }>,
  end: number,
  historian: Pick<Historian, 'read'>,
): Promise<Map<string, number>> {
  const unstated = held.filter(({ point_id }) => polled.get(point_id)?.poll_secs === undefined)
  const gaps = new Map<string, number>()
  // Points whose data reaches to the end are read together; a point that stopped earlier, or rests for days, is read
  // separately.
  const together = unstated.filter(({ last }) => last >= end - LOOKED_AT_MS)
  const point_ids = together.map(({ point_id }) => point_id)
  const week = { building_id, from: end - LOOKED_AT_MS, to: end }
  const read = point_ids.length ? await historian.read({ ...week, point_ids }) : []
  for (const [i, { ts }] of read.entries()) if (ts.length > 1) gaps.set(point_ids[i]!, medianGap(ts))
  for (const span of unstated) {
    if (!gaps.has(span.point_id)) gaps.set(span.point_id, await ownGap(building_id, span, end, historian))
  }
  return new Map(
    held.map(({ point_id }) => {
      const nominal = gaps.get(point_id) ?? polled.get(point_id)!.poll_secs! * SECOND
      return [point_id, HOLDS_INTERVALS * nominal]
    }),
  )
}

/** The usual interval in the point's own last week, otherwise the mean one of all data, a week at most. */
async function ownGap(
  building_id: string,
  { point_id, first, last, samples }: PointSpan,
  end: number,
  historian: Pick<Historian, 'read'>,
): Promise<number> {
  const to = Math.min(end, last + 1)
  const [read] = await historian.read({ building_id, point_ids: [point_id], from: to - LOOKED_AT_MS, to })
  if (read!.ts.length > 1 || samples < 2) return medianGap(read!.ts)
  return Math.min(LOOKED_AT_MS, (last - first) / (samples - 1))
}

function toKnown(
  { ts, values: stored }: Series,
  { unit, role, source }: Pick<Point, 'unit' | 'role'> & Partial<Pick<Point, 'source'>>,
): Series {
  const values = source?.untrusted ? withoutUntrusted(ts, stored, source.untrusted) : stored
  const known = role === undefined ? undefined : ROLES[role]
  if (!known) return { ts, values }
  const way = conversion(unit, known.unit)
  if (!way) return EMPTY_SERIES
  const [low, high] = known.range
  const canonical = values.map(value => {
    const shown = value * way.scale + way.offset
    return shown >= low && shown <= high ? readAs(role!, shown) : Number.NaN
  })
  return { ts, values: canonical }
}

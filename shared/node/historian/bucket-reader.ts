import { firstAtOrAfter } from '#shared/core/rules/compile/step-signal.ts'
import { addBuckets, type BucketSpan, emptyBuckets, toBuckets } from '#shared/core/series/buckets.ts'
import type { HistoryQuery } from '#shared/core/ports.ts'
import { type Buckets, EMPTY_SERIES, type Series } from '#shared/core/series/series.ts'
import { createSeriesBuilder, type SeriesBuilder } from '#shared/core/series/series-builder.ts'
import { unpackHours } from './hours.ts'
import type { Part, PartPoint } from './manifest.ts'
import type { PartColumn } from './part-reader.ts'

/** The state within one transaction: the list of files, and by point the samples that are not yet in a file. */
export type Snapshot = { parts: Part[]; hot: Map<string, Series> }
/** A file, and what it has of one point. */
type Own = { part: Part; point: PartPoint }
/** Some of one point's history: what is kept of each hour where that is right, and otherwise the samples. */
type Stretch = { hours: Buckets[] } | { parts: Own[]; hot: Series }

/**
 * Sums up a snapshot in buckets. Files are read only for the stretches of which no hours are kept, or in which one file
 * corrects another.
 *
 * @returns in the order of `point_ids`
 */
export async function readBuckets(
  columnsOf: (parts: Part[]) => Promise<PartColumn[][]>,
  query: HistoryQuery & BucketSpan & { isHourly: boolean },
  { parts, hot }: Snapshot,
): Promise<Buckets[]> {
  const stretches = query.point_ids.map(point_id => {
    const own = parts.flatMap(part => part.points.filter(point => point.point_id === point_id).map(point => ({ part, point })))
    return stretchesOf(own, hot.get(point_id) ?? EMPTY_SERIES, query.isHourly)
  })
  const wanted = new Set(stretches.flat().flatMap(one => ('parts' in one ? one.parts.map(({ point }) => point) : [])))
  const read = parts.flatMap(part => {
    const points = part.points.filter(point => wanted.has(point))
    return points.length > 0 ? [{ ...part, points }] : []
  })
  const columns = new Map<PartPoint, PartColumn>()
  for (const [i, found] of (await columnsOf(read)).entries()) {
    for (const [j, column] of found.entries()) columns.set(read[i]!.points[j]!, column)
  }
  return stretches.map(some => {
    const whole = emptyBuckets(query)
    for (const one of some) for (const part of 'hours' in one ? one.hours : [sumUp(one, columns, query)]) addBuckets(whole, part)
    return whole
  })
}

/** @returns the stretches of one point, which follow each other */
function stretchesOf(own: Own[], hot: Series, isHourly: boolean): Stretch[] {
  const months = isHourly ? [...Map.groupBy(own, ({ part }) => part.month).values()] : []
  // Later months hold nothing that is earlier, so those that hot samples reach into come last.
  const before = hot.ts[0] ?? Infinity
  const settled = months.filter(month => month.every(({ point }) => point.last < before))
  const rest = own.slice(settled.flat().length)
  return [...settled.map(month => keptHours(month) ?? { parts: month, hot: EMPTY_SERIES }), { parts: rest, hot }]
}

/** @returns undefined where a file has none, or files overlap: of two samples of the same instant one does not count */
function keptHours(month: Own[]): Stretch | undefined {
  const points = month.map(({ point }) => point).toSorted((a, b) => a.first - b.first)
  if (points.some(({ first }, i) => i > 0 && first <= points[i - 1]!.last)) return undefined
  const packed = points.flatMap(({ hours }) => hours ?? [])
  return packed.length < points.length ? undefined : { hours: packed.map(unpackHours) }
}

function sumUp(
  { parts, hot }: Extract<Stretch, { hot: Series }>,
  columns: Map<PartPoint, PartColumn>,
  { from, to, maxBuckets }: BucketSpan,
): Buckets {
  const samples = parts.reduce((sum, { point }) => sum + point.samples, 0)
  const builder = createSeriesBuilder(Math.min(samples, Math.ceil((to - from) / 1000)))
  for (const { point } of parts) appendCut(builder, point, columns.get(point)!, { from, to })
  builder.begin()
  builder.append(hot.ts, hot.values)
  return toBuckets(builder.build(), from, to, maxBuckets)
}

/** Begins the next part with the samples of a column that are within the span. */
function appendCut(
  builder: SeriesBuilder,
  { first, step }: PartPoint,
  { ts, values }: PartColumn,
  { from, to }: Pick<BucketSpan, 'from' | 'to'>,
): void {
  builder.begin()
  if (ts) {
    const [start, end] = [firstAtOrAfter(ts, from), firstAtOrAfter(ts, to)]
    builder.append(ts.subarray(start, end), values.subarray(start, end))
  } else {
    const indexOf = (t: number) => Math.max(0, Math.ceil((t - first) / step!))
    const start = indexOf(from)
    builder.appendEven(first + start * step!, step!, values.subarray(start, indexOf(to)))
  }
}

/** Reads sealed files with DuckDB. A separate module, so that queries for hot rows alone never load DuckDB. */
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { HistoryQuery } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import type { SeriesBuilder } from '#shared/core/series/series-builder.ts'
import { type Duck, numbersOf, openDuck, pointRuns, sqlTexts } from './duck.ts'
import type { Part, PartPoint } from './manifest.ts'

export type PartReader = {
  /**
   * Adds the samples of the listed points within the span to their builders.
   *
   * @throws Problem history_damaged when the file cannot be read
   */
  read(part: Part, span: Span, builderOf: BuilderOf): Promise<void>
  /**
   * Fills the buckets of each point with the samples of the span, computed where the files are read. Beside other queries.
   *
   * @param parts in none of them has a point a sample within the time that another of them covers for it
   * @param buckets empty, by point
   * @throws Problem history_damaged when a file cannot be read
   */
  fill(parts: Part[], span: Span, buckets: Map<string, Buckets>): Promise<void>
  close(): void
}
type Span = Pick<HistoryQuery, 'from' | 'to'>

/** @param memoryMb limit for DuckDB */
export async function openPartReader({ root, memoryMb }: { root: string; memoryMb: number }): Promise<PartReader> {
  const duck = await openDuck({ memoryMb, spill: undefined })
  return {
    async read(part, span, builderOf) {
      for (const { point_id } of part.points) builderOf(point_id).begin()
      try {
        if (isWhole(part, span)) await readWhole(duck, root, part, builderOf)
        else await readCut(duck, root, part, span, builderOf)
      } catch (error) {
        throw new Problem('history_damaged', `the history file ${part.file} cannot be read: ${errorText(error)}`)
      }
    },
    async fill(parts, span, buckets) {
      try {
        await fillBuckets(duck, root, parts, span, buckets)
      } catch (error) {
        const files = parts.map(({ file }) => file).join(', ')
        throw new Problem('history_damaged', `one of the history files ${files} cannot be read: ${errorText(error)}`)
      }
    },
    close: duck.close,
  }
}

type BuilderOf = (point_id: string) => SeriesBuilder

const TS = 'epoch_ms(ts)::DOUBLE'
const VALUE = "coalesce(value, 'nan'::DOUBLE)"
const source = (root: string, ...parts: Part[]) => `read_parquet([${sqlTexts(parts.map(({ file }) => join(root, file)))}])`
const ofPoints = (points: PartPoint[]) => `point_id IN (${sqlTexts(points.map(({ point_id }) => point_id))})`

/** Whether the query covers every row of the part: only then are rows in the order of the file. */
function isWhole({ points, rows }: Part, { from, to }: Span): boolean {
  const asked = points.reduce((sum, { samples }) => sum + samples, 0)
  return asked === rows && points.every(({ first, last }) => first >= from && last < to)
}

/**
 * Reads all rows of a part. The number of rows of each point is known and rows are sorted by point, so the point id of each
 * row need not be read; nor need the instants where all samples are equally far apart. Either would take as long as the
 * values.
 */
async function readWhole(duck: Duck, root: string, part: Part, builderOf: BuilderOf): Promise<void> {
  const { points, rows } = part // In the order of the file, which is the byte order of the ids.
  const regular = points.every(({ step }) => step !== null)
  await duck.columns(regular ? [VALUE] : [VALUE, TS], source(root, part), ([values, ts]) => {
    if (values!.length !== rows) throw new Error(`it holds ${values!.length} rows of these points instead of ${rows}`)
    let from = 0
    for (const { point_id, first, step, samples } of points) {
      const own = values!.subarray(from, from + samples)
      if (ts) builderOf(point_id).append(ts.subarray(from, from + samples), own)
      else builderOf(point_id).appendEven(first, step!, own)
      from += samples
    }
  })
}

const within = ({ from, to }: Span) => `ts >= epoch_ms(${from}::BIGINT) AND ts < epoch_ms(${to}::BIGINT)`

/** Reads the rows of a part within a span. */
async function readCut(duck: Duck, root: string, part: Part, span: Span, builderOf: BuilderOf): Promise<void> {
  const filter = `${ofPoints(part.points)} AND ${within(span)}`
  await duck.stream(`SELECT point_id, ${TS}, ${VALUE} FROM ${source(root, part)} WHERE ${filter}`, chunk => {
    const [ts, values] = [numbersOf(chunk, 1), numbersOf(chunk, 2)]
    // DuckDB delays the few rows that a filter selects from a chunk: each run of a point is a separate stretch.
    for (const run of pointRuns(chunk)) {
      const builder = builderOf(run.point_id)
      builder.begin()
      builder.append(ts.subarray(run.from, run.to), values.subarray(run.from, run.to))
    }
  })
}

async function fillBuckets(duck: Duck, root: string, parts: Part[], span: Span, buckets: Map<string, Buckets>): Promise<void> {
  const ids = [...buckets.keys()]
  const ordered = [...buckets.values()]
  const [{ from, step } = { from: 0, step: 1 }] = ordered
  const wanted = `point_id IN (${sqlTexts(ids)}) AND value IS NOT NULL AND ${within(span)}`
  const inBuckets = `SELECT point_id, (epoch_ms(ts) - ${from}) // ${step} AS bucket, min(value) AS least, max(value) AS most,
    avg(value) AS mean, arg_max(value, ts) AS newest, count(*) AS samples
    FROM ${source(root, ...parts)} WHERE ${wanted} GROUP BY ALL`
  const columns = `list_position([${sqlTexts(ids)}], point_id)::DOUBLE, bucket::DOUBLE, least, most, mean, newest, samples::DOUBLE`
  await duck.streamBeside(`SELECT ${columns} FROM (${inBuckets})`, chunk => {
    const [position, bucket, least, most, mean, newest, samples] = Array.from({ length: 7 }, (_, i) => numbersOf(chunk, i))
    for (let row = 0; row < chunk.rowCount; row++) {
      const of = ordered[position![row]! - 1]!
      const at = bucket![row]!
      of.min[at] = least![row]!
      of.max[at] = most![row]!
      of.mean[at] = mean![row]!
      of.last[at] = newest![row]!
      of.count[at] = samples![row]!
    }
  })
}

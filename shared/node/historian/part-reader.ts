/** Reads sealed files with DuckDB. Kept apart from the reader: who asks for hot rows alone never loads it. */
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { HistoryQuery } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { SeriesBuilder } from '#shared/core/series/series-builder.ts'
import { type Duck, numbersOf, openDuck, pointRuns, sqlText, sqlTexts } from './duck.ts'
import type { Part, PartPoint } from './manifest.ts'

export type PartReader = {
  /**
   * Hands what a file holds of its listed points within the span to their builders, as the next stretch of each.
   *
   * @throws Problem history_damaged when the file cannot be read
   */
  read(part: Part, span: Span, builderOf: BuilderOf): Promise<void>
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
    close: duck.close,
  }
}

type BuilderOf = (point_id: string) => SeriesBuilder

const TS = 'epoch_ms(ts)::DOUBLE'
const VALUE = "coalesce(value, 'nan'::DOUBLE)"
const source = (root: string, { file }: Part) => `read_parquet(${sqlText(join(root, file))})`
const ofPoints = (points: PartPoint[]) => `point_id IN (${sqlTexts(points.map(({ point_id }) => point_id))})`

/** Whether every row of the part is asked for: only then do rows come in the order of the file. */
function isWhole({ points, rows }: Part, { from, to }: Span): boolean {
  const asked = points.reduce((sum, { samples }) => sum + samples, 0)
  return asked === rows && points.every(({ first, last }) => first >= from && last < to)
}

/**
 * A part of which everything is asked for. It is known how many rows each point has, and they come sorted by point: there
 * is no need to read the point's id of each row. Nor the instants, where all samples are equally far apart. Either would
 * take as long as the values.
 */
async function readWhole(duck: Duck, root: string, part: Part, builderOf: BuilderOf): Promise<void> {
  const { points, rows } = part // in the order of the file, which is that of the ids' bytes
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

/** What a part holds of the points in a span. */
async function readCut(duck: Duck, root: string, part: Part, { from, to }: Span, builderOf: BuilderOf): Promise<void> {
  const filter = `${ofPoints(part.points)} AND ts >= epoch_ms(${from}::BIGINT) AND ts < epoch_ms(${to}::BIGINT)`
  await duck.stream(`SELECT point_id, ${TS}, ${VALUE} FROM ${source(root, part)} WHERE ${filter}`, chunk => {
    const [ts, values] = [numbersOf(chunk, 1), numbersOf(chunk, 2)]
    // DuckDB keeps the few rows that a filter lets through of a chunk back, and gives them at the end: each run is a stretch.
    for (const run of pointRuns(chunk)) {
      const builder = builderOf(run.point_id)
      builder.begin()
      builder.append(ts.subarray(run.from, run.to), values.subarray(run.from, run.to))
    }
  })
}

/** Reads sealed files with DuckDB. A separate module, so that queries for hot rows alone never load DuckDB. */
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { HistoryQuery } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { SeriesBuilder } from '#shared/core/series/series-builder.ts'
import { type Duck, listOf, numbersOf, openDuck, pointRuns, sqlTexts } from './duck.ts'
import type { Part, PartPoint } from './manifest.ts'

export type PartReader = {
  /**
   * Adds the samples of the listed points within the span to their builders.
   *
   * @throws Problem history_damaged when the file cannot be read
   */
  read(part: Part, span: Span, builderOf: BuilderOf): Promise<void>
  /**
   * Reads all samples that each part has of its listed points, in one query. Beside other queries.
   *
   * @returns by part, then by point
   * @throws Problem history_damaged when a file cannot be read
   */
  columns(parts: Part[]): Promise<PartColumn[][]>
  close(): void
}
type Span = Pick<HistoryQuery, 'from' | 'to'>
/** The samples of one point in one part; without `ts` they are as far apart as the part says. */
export type PartColumn = { ts: Float64Array | undefined; values: Float64Array }

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
    async columns(parts) {
      try {
        return await readColumns(duck, root, parts)
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
const ofPoints = (points: PartPoint[]) => `point_id IN (${sqlTexts(new Set(points.map(({ point_id }) => point_id)))})`

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

/** Instants are read only when the samples of a point are not equally far apart, because they take as long as the values. */
async function readColumns(duck: Duck, root: string, parts: Part[]): Promise<PartColumn[][]> {
  const isEven = parts.every(({ points }) => points.every(({ step }) => step !== null))
  const lists = ['file_row_number::DOUBLE', VALUE, ...(isEven ? [] : [TS])].map(one => `list(${one})`).join(', ')
  const wanted = ofPoints(parts.flatMap(({ points }) => points))
  const sql = `SELECT file_index::DOUBLE, point_id, ${lists} FROM ${source(root, ...parts)} WHERE ${wanted} GROUP BY ALL`
  const found = parts.map(() => new Map<string, PartColumn>())
  await duck.streamBeside(sql, chunk => {
    const files = numbersOf(chunk, 0)
    const ids = chunk.getColumnVector(1)
    for (let row = 0; row < chunk.rowCount; row++) {
      const rows = listOf(chunk, 2, row)
      const ts = isEven ? undefined : inOrder(rows, listOf(chunk, 4, row))
      found[files[row]!]!.set(ids.getItem(row) as string, { ts, values: inOrder(rows, listOf(chunk, 3, row)) })
    }
  })
  return parts.map(({ file, points }, i) =>
    points.map(({ point_id, samples, step }) => {
      const { ts, values } = found[i]!.get(point_id) ?? { ts: undefined, values: new Float64Array() }
      if (values.length !== samples) throw new Error(`${file} holds ${values.length} rows of ${point_id} instead of ${samples}`)
      return { ts: step === null ? ts : undefined, values }
    }),
  )
}

/**
 * Puts items where the number of their row says: a filter may pass rows in another order.
 *
 * @throws Error when the rows do not follow each other
 */
function inOrder(rows: Float64Array, items: Float64Array): Float64Array {
  let first = Infinity
  for (const row of rows) first = Math.min(first, row)
  const ordered = new Float64Array(items.length)
  for (let i = 0; i < rows.length; i++) {
    const at = rows[i]! - first
    if (at >= ordered.length) throw new Error('the rows of a point are not together')
    ordered[at] = items[i]!
  }
  return ordered
}

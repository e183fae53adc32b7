/** Reads sealed files with DuckDB. A separate module, so that queries for hot samples alone never load DuckDB. */
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import type { HistoryQuery } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { SeriesBuilder } from '#shared/core/series/series-builder.ts'
import { createSerialQueue, type SerialQueue } from '#shared/flow/serial-queue.ts'
import { type Duck, numbersOf, openDuck, pointRuns, sqlTexts, VALUE } from './duck.ts'
import type { Part, PartPoint } from './manifest.ts'

export type PartReader = {
  /**
   * Adds the samples of the listed points within the span to their builders.
   *
   * @throws Problem history_damaged when the file cannot be read
   */
  read(part: Part, span: Span, builderOf: BuilderOf): Promise<void>
  /**
   * Reads all samples that each part has of its listed points, which are in the order of the file, as the manifest lists them.
   * Beside other queries.
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

/** Connections that read columns, each with one query at a time: one query on several threads would lose the order of rows. */
const CONNECTIONS = 2

/** @param memoryMb limit for DuckDB */
export async function openPartReader({ root, memoryMb }: { root: string; memoryMb: number }): Promise<PartReader> {
  const duck = await openDuck({ memoryMb, spill: undefined })
  const connections: { ordered: Duck; inTurn: SerialQueue }[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const ordered = await duck.beside()
    // Otherwise the few rows that a filter selects from a chunk may come after those of the next one.
    await ordered.run('SET enable_caching_operators = false')
    connections.push({ ordered, inTurn: createSerialQueue() })
  }
  let next = 0
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
      const { ordered, inTurn } = connections[next++ % CONNECTIONS]!
      try {
        return await inTurn(() => readColumns(ordered, root, parts))
      } catch (error) {
        const files = parts.map(({ file }) => file).join(', ')
        throw new Problem('history_damaged', `one of the history files ${files} cannot be read: ${errorText(error)}`)
      }
    },
    close: () => {
      for (const { ordered } of connections) ordered.close()
      duck.close()
    },
  }
}

type BuilderOf = (point_id: string) => SeriesBuilder

const TS = 'epoch_ms(ts)::DOUBLE'
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

/** Parts of which the same points are wanted are read in one query. */
async function readColumns(duck: Duck, root: string, parts: Part[]): Promise<PartColumn[][]> {
  const found = new Map<Part, PartColumn[]>()
  for (const alike of Map.groupBy(parts, ({ points }) => JSON.stringify(points.map(({ point_id }) => point_id))).values()) {
    for (const [i, columns] of (await readAlike(duck, root, alike)).entries()) found.set(alike[i]!, columns)
  }
  return parts.map(part => found.get(part)!)
}

/**
 * Reads the same points of several parts as one column in the order of the files, and cuts it by the known number of rows.
 * Instants are read only when the samples of a point are not equally far apart, because they take as long as the values.
 */
async function readAlike(duck: Duck, root: string, parts: Part[]): Promise<PartColumn[][]> {
  const rows = parts.reduce((sum, { points }) => points.reduce((all, { samples }) => all + samples, sum), 0)
  const isEven = parts.every(({ points }) => points.every(({ step }) => step !== null))
  const found: PartColumn[][] = []
  const from = `${source(root, ...parts)} WHERE ${ofPoints(parts[0]!.points)}`
  await duck.columns(isEven ? [VALUE] : [VALUE, TS], from, ([values, ts]) => {
    if (values!.length !== rows) throw new Error(`${values!.length} rows of these points were read instead of ${rows}`)
    let at = 0
    for (const { points } of parts) {
      const columns = points.map(({ samples, step }): PartColumn => {
        const [start, end] = [at, (at += samples)]
        return { ts: step === null ? ts!.slice(start, end) : undefined, values: values!.slice(start, end) }
      })
      found.push(columns)
    }
  })
  return found
}

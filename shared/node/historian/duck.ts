import {
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBListVector,
  type DuckDBVector,
  INTEGER,
} from '@duckdb/node-api'

/** Rows of one chunk, fixed by DuckDB. */
const CHUNK_ROWS = 2048

type DuckOptions = {
  /** Memory limit of DuckDB; resident memory is up to 300 MB larger. */
  memoryMb: number
  /** Folder for data that does not fit into memory; undefined when nothing may be spilled. */
  spill: string | undefined
}

/** Some rows of a result, by column. */
type Chunk = DuckDBDataChunk

export type Duck = {
  run(sql: string): Promise<void>
  /** Rows as arrays, for small results. */
  rows(sql: string): Promise<unknown[][]>
  /** Passes the result chunk by chunk. With a filter, rows of a chunk may arrive later than those of the next chunk. */
  stream(sql: string, take: (chunk: Chunk) => void): Promise<void>
  /**
   * Passes whole columns of DOUBLE without NULLs, in the order of the source; they are valid only within `take`. A stream
   * passes 2048 rows at a time, which takes three times as long.
   *
   * @param source a scan; with a filter, rows are in order only where operators cache none
   */
  columns(select: string[], source: string, take: (columns: Float64Array[]) => void): Promise<void>
  /** Another connection, with temporary tables of its own, for work beside this one. The caller closes it, and this one later. */
  beside(): Promise<Duck>
  /** Appends to a table whose columns are DOUBLE and INTEGER. */
  appender(table: string): Promise<Appender>
  close(): void
}

type Appender = {
  /** @param columns of equal length, as many as the table has; whole numbers are INTEGER there */
  add(columns: (Float64Array | Int32Array)[]): void
  /** The rows are in the table only then. */
  end(): void
}

/** Opens DuckDB in this process, in memory, without extensions or access to other files. */
export async function openDuck({ memoryMb, spill }: DuckOptions): Promise<Duck> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    // One thread preserves the order of the file in a scan without a filter, and was as fast as two.
    threads: '1',
    // The operating system has the files in its own cache; a second copy took 25 MB of an appliance.
    enable_external_file_cache: 'false',
    temp_directory: spill ?? '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  })
  return connect(instance, () => instance.closeSync())
}

async function connect(instance: DuckDBInstance, closed: () => void): Promise<Duck> {
  const connection = await instance.connect()
  return {
    run: async sql => void (await connection.run(sql)),
    rows: async sql => await (await connection.run(sql)).getRows(),
    stream: (sql, take) => stream(connection, sql, take),
    columns: (select, source, take) => takeColumns(connection, select, source, take),
    beside: () => connect(instance, () => undefined),
    appender: table => openAppender(connection, table),
    close: () => {
      connection.closeSync()
      closed()
    },
  }
}

async function stream(connection: DuckDBConnection, sql: string, take: (chunk: Chunk) => void): Promise<void> {
  const answer = await connection.stream(sql)
  for (let chunk = await answer.fetchChunk(); chunk?.rowCount; chunk = await answer.fetchChunk()) take(chunk)
}

async function takeColumns(
  connection: DuckDBConnection,
  select: string[],
  source: string,
  take: (columns: Float64Array[]) => void,
): Promise<void> {
  const answer = await connection.run(`SELECT ${select.map(one => `list(${one})`).join(', ')} FROM ${source}`)
  const chunk = await answer.fetchChunk()
  if (!chunk) throw new Error('an aggregate returned no row')
  take(select.map((_, i) => itemsOf((chunk.getColumnVector(i) as DuckDBListVector).childVector)))
  // The columns are in the memory of the chunk, which is freed with it.
  if (chunk.rowCount !== 1) throw new Error(`an aggregate returned ${chunk.rowCount} rows`)
}

/** Numbers are copied as they are in memory: one call for each would take four times as long. */
async function openAppender(connection: DuckDBConnection, table: string): Promise<Appender> {
  const appender = await connection.createAppender(table)
  return {
    add(columns) {
      const rows = columns[0]?.length ?? 0
      const types = columns.map(column => (column instanceof Int32Array ? INTEGER : DOUBLE))
      for (let from = 0; from < rows; from += CHUNK_ROWS) {
        const to = Math.min(from + CHUNK_ROWS, rows)
        const chunk = DuckDBDataChunk.create(types)
        chunk.rowCount = to - from
        for (const [i, column] of columns.entries()) {
          const vector = chunk.getColumnVector(i)
          itemsOf(vector).set(column.subarray(from, to))
          vector.flush()
        }
        appender.appendDataChunk(chunk)
      }
    },
    end: () => appender.closeSync(),
  }
}

/** A text as an SQL literal. */
export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`
export const sqlTexts = (values: Iterable<string>): string => [...values].map(sqlText).join(', ')
/** Rows as an SQL VALUES list. */
export const valuesOf = (rows: (readonly [number, string])[]): string =>
  `(VALUES ${rows.map(([number, name]) => `(${number}, ${sqlText(name)})`).join(', ')})`

/** SQL of a stored value: NaN where it was not usable. */
export const VALUE = "coalesce(value, 'nan'::DOUBLE)"

/**
 * A column of DOUBLE without NULLs, valid until the next chunk. The interface of the library returns one number at a time,
 * which takes three times as long for a year of minutes; its types do not show the array.
 */
export const numbersOf = (chunk: Chunk, column: number): Float64Array => itemsOf(chunk.getColumnVector(column))
const itemsOf = (vector: DuckDBVector): Float64Array => (vector as unknown as { items: Float64Array }).items

/** Splits a chunk that is sorted by its first column, a point id, into runs of one point. */
export function* pointRuns(chunk: Chunk): Generator<{ point_id: string; from: number; to: number }> {
  const ids = chunk.getColumnVector(0)
  for (let from = 0, to = 0; from < chunk.rowCount; from = to) {
    const point_id = ids.getItem(from) as string
    to = endOfRun(i => ids.getItem(i) === point_id, from, chunk.rowCount)
    yield { point_id, from, to }
  }
}

/** @returns the end of the run that begins at `from`; `same` is true on the whole run and false after it */
function endOfRun(same: (i: number) => boolean, from: number, to: number): number {
  if (same(to - 1)) return to
  let [holds, fails] = [from, to - 1]
  while (fails - holds > 1) {
    const middle = (holds + fails) >> 1
    if (same(middle)) holds = middle
    else fails = middle
  }
  return fails
}

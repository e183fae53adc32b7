/**
 * `scripts/bench history`: what a sample takes on the disk after a year. Ten points with a value a minute come day by day, are
 * sealed each night and merged as the product merges; then the sealed files are weighed, with what is kept of each hour. Beside it, the same samples in a PostgreSQL
 * table with its key, and in one Parquet file that DuckDB writes with its defaults. `ratio` is ours over PostgreSQL's. `plot_ms` is what
 * a plot of the year waits for when it is drawn again: eight of the points in 1,500 buckets, the median of five. `cold_plot_ms` is one of
 * points that were not read before, a second after a plot of today; for `first_plot_ms` the process that reads has to start as well.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { openHistorian, type StoredHistorian } from '#shared/node/historian/historian.ts'
import { openDatabase, openReadOnly } from '#shared/node/sqlite.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { hasPostgres, startPostgres } from '#scripts/lib/servers/postgres.ts'
import { COLUMN_NAMES, STEP_MS, valuesAt } from './lib-api/air-handlers.ts'

const FROM = Date.UTC(2025, 0, 1)
const DAYS = 365
const TO = FROM + DAYS * DAY
const SAMPLES = DAYS * (DAY / MINUTE) * COLUMN_NAMES.length
const BUILDING = 'b'
const GOAL = { bytes_a_sample: 1.6, plot_ms: 300 }
const PLOT = { points: 8, maxBuckets: 1500, times: 5 }
const HISTORIAN = { memoryMb: 256, idleMs: 10_000 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const folder = mkdtempSync(join(tmpdir(), 'plenum-bench-history-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function bench() {
  const begun = performance.now()
  const { bytes: ours, plotMs, coldMs, firstMs } = await sealYear()
  say(
    `ours: ${ours.toFixed(2)} bytes a sample, a plot of the year in ${plotMs.toFixed(0)} ms, of other points in ${coldMs.toFixed(0)} ms, the first in ${firstMs.toFixed(0)} ms, ${((performance.now() - begun) / 1000).toFixed(0)} s`,
  )
  const csv = join(folder, 'year.csv')
  writeYear(csv)
  const duckdb = await inOneFile(csv)
  const postgres = await inPostgres(csv)
  say(`one Parquet file by DuckDB: ${duckdb.toFixed(2)}; PostgreSQL: ${postgres.toFixed(1)} bytes a row`)
  return {
    bench: 'history',
    ours: Number(ours.toFixed(3)),
    peer: Number(postgres.toFixed(2)),
    peer_name: 'a PostgreSQL table of the same samples with its key, columns as narrow as they can be',
    ratio: Number((ours / postgres).toFixed(4)),
    unit: 'bytes a sample',
    goal: GOAL,
    ...{ duckdb: Number(duckdb.toFixed(3)), samples: SAMPLES },
    ...{ plot_ms: Math.round(plotMs), cold_plot_ms: Math.round(coldMs), first_plot_ms: Math.round(firstMs) },
  }
}

/** Appends, seals and merges day by day. @returns bytes of the files for each sample, and how long plots of the year take */
async function sealYear(): Promise<{ bytes: number } & PlotTimes> {
  const path = join(folder, 'plenum.db')
  const db = openDatabase(path)
  const historian = await openHistorian({ db, root: join(folder, 'parquet'), ...HISTORIAN })
  for (let day = 0; day < DAYS; day++) {
    await historian.append(BUILDING, [...samplesOf(day)])
    await historian.seal({ before: FROM + (day + 1) * DAY })
  }
  await historian.stop()
  const plots = await timePlots(() => openHistorian({ db, root: join(folder, 'parquet'), ...HISTORIAN }))
  db.close()
  const sealed = openReadOnly(path)
  const [bytes, samples] = sealed
    .prepare(
      'SELECT (SELECT sum(bytes) FROM parts) + (SELECT sum(length(hours)) FROM part_hours), (SELECT sum(samples) FROM part_points)',
    )
    .raw()
    .get() as [number, number]
  sealed.close()
  if (samples !== SAMPLES) throw new Error(`${samples} of ${SAMPLES} samples are sealed`)
  return { bytes: bytes / samples, ...plots }
}

type PlotTimes = { plotMs: number; coldMs: number; firstMs: number }

async function timePlots(open: () => Promise<StoredHistorian>): Promise<PlotTimes> {
  const started = await open()
  const firstMs = await timePlot(started)
  const again: number[] = []
  for (let i = 0; i < PLOT.times; i++) again.push(await timePlot(started))
  await started.stop()

  const running = await open()
  await timePlot(running, { from: TO, to: TO + HOUR })
  await setTimeout(SECOND)
  const coldMs = await timePlot(running)
  await running.stop()
  return { plotMs: again.toSorted((a, b) => a - b)[Math.floor(again.length / 2)]!, coldMs, firstMs }
}

async function timePlot({ buckets }: StoredHistorian, { from, to } = { from: FROM, to: TO }): Promise<number> {
  const begun = performance.now()
  const { maxBuckets, points } = PLOT
  const found = await buckets({ building_id: BUILDING, point_ids: COLUMN_NAMES.slice(0, points), maxBuckets, from, to })
  if (found.length < points) throw new Error(`${found.length} points were read`)
  return performance.now() - begun
}

function* samplesOf(day: number) {
  for (let minute = 0; minute < DAY / MINUTE; minute++) {
    const t = FROM + day * DAY + minute * MINUTE
    for (const [i, v] of valuesAt((t - FROM) / STEP_MS).entries()) yield { id: COLUMN_NAMES[i]!, t, v }
  }
}

function writeYear(path: string): void {
  for (let day = 0; day < DAYS; day++) {
    appendFileSync(path, [...samplesOf(day)].map(({ id, t, v }) => `${id},${new Date(t).toISOString()},${v}\n`).join(''))
  }
}

/** @returns bytes for each row */
async function inOneFile(csv: string): Promise<number> {
  const path = join(folder, 'year.parquet')
  const connection = await (await DuckDBInstance.create()).connect()
  const columns = `{point: 'VARCHAR', ts: 'TIMESTAMP', value: 'DOUBLE'}`
  await connection.run(
    `COPY (FROM read_csv('${csv}', header = false, columns = ${columns}) ORDER BY point, ts) TO '${path}' (FORMAT parquet)`,
  )
  return statSync(path).size / SAMPLES
}

/** Columns as narrow and in such an order that rows are smallest. @returns bytes for each row, key included; 0 where it is not installed */
async function inPostgres(csv: string): Promise<number> {
  if (!hasPostgres()) return 0
  const { sql, kill } = await startPostgres(folder, await freePort())
  const size = join(folder, 'postgres', 'size')
  try {
    sql(`CREATE UNLOGGED TABLE lines (point text, ts timestamptz, value real);
      COPY lines FROM '${csv}' (FORMAT csv);
      CREATE TABLE samples (ts timestamptz, value real, point smallint, PRIMARY KEY (point, ts));
      INSERT INTO samples SELECT ts, value, dense_rank() OVER (ORDER BY point) FROM lines ORDER BY point, ts;
      COPY (SELECT pg_total_relation_size('samples')) TO '${size}';`)
    return Number(readFileSync(size, 'utf8')) / SAMPLES
  } finally {
    await kill()
  }
}

/**
 * `scripts/bench api`: 50 readers at once ask central for a year of one of ten points in 2,000 buckets. Beside it: the same
 * buckets by plain DuckDB over the same Parquet files, in this process, one connection for each reader, without HTTP. `ratio` is
 * our median over the peer's. `first` is the first request for each point, which reads its files, one after the other. Health
 * and findings are measured like the series, without a peer.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import { globSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DAY } from '#shared/core/time.ts'
import { STEP_MS, tablesOf, uploadOf } from './lib-api/air-handlers.ts'
import { type BenchCentral, startBenchCentral } from './lib-api/central.ts'

const FROM = Date.UTC(2025, 0, 1)
const DAYS = 365
const BUCKETS = 2000
/** Readers at once, and requests of each; those of the warm-up are not counted. */
const LOAD = { readers: 50, warmUp: 1, counted: 6 }
const GOAL = { ratio: 1.5 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const central = await startBenchCentral()
try {
  process.stdout.write(`${JSON.stringify(await bench(central))}\n`)
} finally {
  await central.close()
}

type Spread = { p50: number; p99: number }

async function bench({ ask, workspace }: BenchCentral) {
  const form = await uploadOf('b1', tablesOf(1, (DAYS * DAY) / STEP_MS, FROM))
  const { session_id } = await ask<{ session_id: string }>('POST', '/api/csv/import/preflight', form)
  await ask('POST', '/api/csv/import/execute', { session_id, confirm: true })
  const { points } = await ask<{ points: { point_id: string }[] }>('GET', '/api/model/points?building_id=b1')
  const point_ids = points.map(({ point_id }) => point_id)
  const readSeries = async (reader: number, turn: number) => {
    const point_id = point_ids[(reader + turn) % point_ids.length]!
    const query = new URLSearchParams({ building_id: 'b1', equipment_id: 'AHU-1', point_id, max_points: String(BUCKETS) })
    const answer = await ask<{ series: { points: unknown[] }[] }>('GET', `/api/fdd/series?${query}`)
    if (answer.series[0]!.points.length < BUCKETS / 2) throw new Error('the series is too short')
  }
  const first = await spreadOf(readSeries, { readers: 1, warmUp: 0, counted: point_ids.length })
  const series = await spreadOf(readSeries)
  const peer = await peerSpread(workspace, point_ids)
  const health = await spreadOf(() => ask('GET', '/api/health'))
  const findings = await spreadOf(() => ask('GET', '/api/fdd/findings?limit=100'))
  for (const [name, spread] of Object.entries({ first, series, peer, health, findings }))
    say(`${name}: p50 ${spread.p50} ms, p99 ${spread.p99} ms`)
  return {
    bench: 'api',
    ours: series.p50,
    peer: peer.p50,
    peer_name: 'plain DuckDB over the same Parquet',
    ratio: Number((series.p50 / peer.p50).toFixed(2)),
    unit: 'ms, p50',
    goal: GOAL,
    p99_ratio: Number((series.p99 / peer.p99).toFixed(2)),
    ...{ first, series, peer_spread: peer, health, findings },
  }
}

async function peerSpread(workspace: string, point_ids: string[]): Promise<Spread> {
  const files = globSync(join(workspace, '.cache/parquet/**/*.parquet')).map(file => `'${file}'`)
  const stepMs = Math.ceil((DAYS * DAY) / BUCKETS)
  const sqlOf = (
    point_id: string,
  ) => `SELECT (epoch_ms(ts) - ${FROM}) // ${stepMs} AS bucket, min(value), max(value), avg(value), arg_max(value, ts)
    FROM read_parquet([${files.join(', ')}]) WHERE point_id = '${point_id}' GROUP BY bucket ORDER BY bucket`
  const instance = await DuckDBInstance.create(':memory:')
  const statements = await Promise.all(
    Array.from({ length: LOAD.readers }, async (_, reader) => {
      const connection = await instance.connect()
      return { connection, statement: await connection.prepare(sqlOf(point_ids[reader % point_ids.length]!)) }
    }),
  )
  const spread = await spreadOf(async reader => {
    const rows = (await statements[reader]!.statement.runAndReadAll()).getRowsJson()
    if (JSON.stringify(rows).length < BUCKETS) throw new Error('the peer read too little')
  })
  for (const { connection } of statements) connection.closeSync()
  instance.closeSync()
  return spread
}

/** Each reader asks again as soon as it has its answer. */
async function spreadOf(ask: (reader: number, turn: number) => Promise<unknown>, load = LOAD): Promise<Spread> {
  const spent: number[] = []
  const read = async (reader: number) => {
    for (let i = 0; i < load.warmUp + load.counted; i++) {
      const begun = performance.now()
      await ask(reader, i)
      if (i >= load.warmUp) spent.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: load.readers }, (_, reader) => read(reader)))
  const sorted = spent.toSorted((a, b) => a - b)
  const at = (share: number) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(1))
  return { p50: at(0.5), p99: at(0.99) }
}

/**
 * `scripts/bench import`: rows a second of a CSV package, over HTTP as a person sends it: preflight, then execute. Beside it:
 * the same tables read by DuckDB's `read_csv` and written to Parquet, without a check, a unit or a model. `ratio` is our rows
 * a second of execute, which reads and writes as the peer does, over those of the peer; `together_ratio` counts the preflight,
 * which has a goal of its own, into our time. `peak_mb` is the most memory that central and its children took.
 *
 * `--years N` imports N years of one air handler at once, in one round: `peak_mb` hardly grows with N, because months are loaded one by one.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { DAY } from '#shared/core/time.ts'
import { STEP_MS, uploadOf, type Tables, tablesOf } from './lib-api/air-handlers.ts'
import { type BenchCentral, startBenchCentral } from './lib-api/central.ts'
import { memoryOf } from './lib-footprint/memory.ts'

const GOAL = { ratio: 0.3, preflight_rows_per_s: 100_000 }

const { values } = parseArgs({ options: { json: { type: 'boolean' }, years: { type: 'string' } } })
const years = values.years === undefined ? undefined : Number(values.years)
if (years !== undefined && !(Number.isInteger(years) && years > 0 && years <= 50)) throw new Error('--years takes 1 to 50')
const ROWS_A_YEAR = (365 * DAY) / STEP_MS
const [EQUIPMENT, ROWS, ROUNDS] = years === undefined ? [10, 70_000, 3] : [1, years * ROWS_A_YEAR, 1]
const FROM = Date.UTC(2026 - (years ?? 1), 0, 1)
const MEMORY_LOOK_MS = 200
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const central = await startBenchCentral()
const folder = mkdtempSync(join(tmpdir(), 'plenum-bench-import-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await central.close()
  rmSync(folder, { recursive: true, force: true })
}

async function bench() {
  const tables = tablesOf(EQUIPMENT, ROWS, FROM)
  for (const { equipment_id, csv } of tables) writeFileSync(join(folder, `${equipment_id}.csv`), csv)
  const seconds = { preflight: [] as number[], execute: [] as number[], peer: [] as number[] }
  const memory = watchMemory(central.pid)
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await importOnce(central, `b${round}`, tables)
    seconds.preflight.push(ours.preflight)
    seconds.execute.push(ours.execute)
    seconds.peer.push(await copyOnce(tables))
    say(
      `round ${round + 1}: preflight ${ours.preflight.toFixed(1)} s, execute ${ours.execute.toFixed(1)} s, peer ${seconds.peer.at(-1)!.toFixed(2)} s`,
    )
  }
  const rows = EQUIPMENT * ROWS
  const [preflight, execute, peer] = [seconds.preflight, seconds.execute, seconds.peer].map(
    all => rows / upperMedianOf(all)!,
  ) as [number, number, number]
  const both = 1 / (1 / preflight + 1 / execute)
  return {
    bench: 'import',
    ours: Math.round(execute),
    peer: Math.round(peer),
    peer_name: "DuckDB's read_csv to Parquet",
    ratio: Number((execute / peer).toFixed(3)),
    unit: 'rows/s',
    goal: GOAL,
    preflight_rows_per_s: Math.round(preflight),
    together_rows_per_s: Math.round(both),
    together_ratio: Number((both / peer).toFixed(3)),
    peak_mb: memory.stop(),
    rows,
    seconds,
  }
}

/** @returns `stop` answers with the most memory since the start, MB */
function watchMemory(pid: number): { stop(): number } {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(pid).pss_mb)), MEMORY_LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}

async function importOnce({ ask }: BenchCentral, building_id: string, tables: Tables) {
  const form = await uploadOf(building_id, tables)
  const begun = performance.now()
  const { session_id, can_execute } = await ask<{ session_id: string; can_execute: boolean }>(
    'POST',
    '/api/csv/import/preflight',
    form,
  )
  const looked = performance.now()
  if (!can_execute) throw new Error('the preflight refuses the package')
  const { rows_written } = await ask<{ rows_written: number }>('POST', '/api/csv/import/execute', { session_id, confirm: true })
  const written = performance.now()
  if (rows_written !== EQUIPMENT * ROWS) throw new Error(`${rows_written} rows were written`)
  return { preflight: (looked - begun) / 1000, execute: (written - looked) / 1000 }
}

/** DuckDB uses all cores; each table becomes a file, as it would by hand. */
async function copyOnce(tables: Tables): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const begun = performance.now()
  for (const { equipment_id } of tables) {
    const [from, to] = [join(folder, `${equipment_id}.csv`), join(folder, `${equipment_id}.parquet`)]
    await connection.run(`COPY (SELECT * FROM read_csv('${from}')) TO '${to}' (FORMAT parquet, COMPRESSION zstd)`)
  }
  const seconds = (performance.now() - begun) / 1000
  connection.closeSync()
  instance.closeSync()
  return seconds
}

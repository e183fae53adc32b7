/**
 * `scripts/bench append`: one hour's chunk appended to a building with a year of history, beside the same chunk appended to a
 * building with a day. `ratio` is the first over the second: the cost follows the chunk, not the building.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { uploadOf, STEP_MS, tableOf, tablesOf } from './lib-api/air-handlers.ts'
import { type BenchCentral, startBenchCentral } from './lib-api/central.ts'

const FROM = Date.UTC(2025, 0, 1)
const DAYS = { year: 365, day: 1 }
/** Chunks that warm the process up, and those that count. */
const WARM_UP = 10
const CHUNKS = 60
const GOAL = { ratio: 1.5 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const central = await startBenchCentral()
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await central.close()
}

async function bench() {
  for (const [building_id, days] of Object.entries(DAYS)) await fill(central, building_id, days)
  const ms: Record<keyof typeof DAYS, number[]> = { year: [], day: [] }
  for (let i = 0; i < WARM_UP + CHUNKS; i++) {
    // In turn, so that both meet the same machine.
    for (const building_id of ['year', 'day'] as const) {
      const spent = await appendHour(central, building_id, FROM + DAYS[building_id] * DAY + i * HOUR)
      if (i >= WARM_UP) ms[building_id].push(spent)
    }
  }
  const [year, day] = [upperMedianOf(ms.year)!, upperMedianOf(ms.day)!]
  say(`an hour onto a year: ${year.toFixed(1)} ms; onto a day: ${day.toFixed(1)} ms`)
  return {
    bench: 'append',
    ours: Number(year.toFixed(2)),
    peer: Number(day.toFixed(2)),
    peer_name: 'the same onto a day of history',
    ratio: Number((year / day).toFixed(3)),
    unit: 'ms',
    goal: GOAL,
    chunks: CHUNKS,
  }
}

async function fill({ ask }: BenchCentral, building_id: string, days: number): Promise<void> {
  const form = await uploadOf(building_id, tablesOf(1, (days * DAY) / STEP_MS, FROM))
  const { session_id } = await ask<{ session_id: string }>('POST', '/api/csv/import/preflight', form)
  await ask('POST', '/api/csv/import/execute', { session_id, confirm: true })
}

async function appendHour({ ask }: BenchCentral, building_id: string, from: number): Promise<number> {
  const csv = tableOf(HOUR / STEP_MS, from)
  const begun = performance.now()
  const path = '/api/csv/import/package/append'
  const { rows_added } = await ask<{ rows_added: number }>('POST', path, {
    confirm: true,
    building_id,
    equipment_id: 'AHU-1',
    csv,
  })
  if (rows_added !== HOUR / STEP_MS) throw new Error(`${rows_added} rows were added`)
  return performance.now() - begun
}

import test from 'ava'
import Sqlite from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunRecord } from '#shared/core/ports.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const MIGRATIONS = new URL('../../../../shared/node/migrations/', import.meta.url)

const record = (run_id: string, building_id: string, started_at: number): RunRecord => {
  const said = ['fault', 'pass', 'pass', 'not_evaluated'] as const
  const results = said.map((status, i) => {
    return { rule_id: `R${i}`, equipment_id: run_id, status, coverage: 1, fault_secs: 0, episodes: 0 }
  })
  const span = { started_at, finished_at: started_at + 5, from: 0, to: started_at }
  return { run_id, building_id, ...span, trigger: 'schedule', rule_ids: ['R0'], results, failed: [{ rule_id: 'X', error: 'y' }] }
}

test('runs that were stored with all that they said are counted, and the newest of each building stays whole', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const old = openDatabase(path)
  old.close()
  const db = new Sqlite(path)
  const runs = [record('a1', 'a', 1), record('a2', 'a', 2), record('b1', 'b', 1)]
  for (const run of runs) {
    const { run_id, building_id, started_at } = run
    db.prepare('INSERT INTO runs (run_id, building_id, started_at, body) VALUES (?, ?, ?, ?)').run(
      run_id,
      building_id,
      started_at,
      JSON.stringify(run),
    )
  }
  const waiting = { run_id: 'a3', building_id: 'a', state: 'queued' }
  db.prepare("INSERT INTO runs (run_id, building_id, started_at, body, state) VALUES ('a3', 'a', 3, ?, 'queued')").run(
    JSON.stringify(waiting),
  )
  const file = readdirSync(MIGRATIONS).find(name => name.endsWith('-run-results.sql'))!
  db.exec(readFileSync(new URL(file, MIGRATIONS), 'utf8'))
  const { results } = resultStores(db)
  const { counts: _counts, reasons: _reasons, ...newest } = summaryOf(runs[1]!)
  const earlierCounts = { fault: 1, pass: 2, not_evaluated: 1 }
  const summaries = results.runs({ building_id: 'a', limit: 9 })
  t.deepEqual(summaries[0], { ...newest, counts: earlierCounts }, 'an earlier run did not tell gated from no data')
  t.deepEqual(
    summaries.map(({ run_id }) => run_id),
    ['a2', 'a1'],
  )
  t.deepEqual(
    runs.map(({ run_id }) => results.record(run_id)),
    [undefined, runs[1], runs[2]],
  )
  t.deepEqual(results.runs({ limit: 1 })[0]?.counts, earlierCounts)
  t.deepEqual(JSON.parse(String(db.prepare("SELECT body FROM runs WHERE run_id = 'a3'").pluck().get())), waiting)
  db.close()
})

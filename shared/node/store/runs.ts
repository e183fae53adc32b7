import type { ResultReader, RunRecord, RunSummary } from '#shared/core/ports.ts'
import { INTERRUPTED, type RunState } from '#shared/core/runs/run-state.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import type { RunStore, RunEntry } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { openLatestResults } from './latest-results.ts'
import { continueAfter, upsert } from './row.ts'

/** Number of runs stored for each building, separately with and without results: two months at a run every three hours. */
const RUNS_KEPT = 500

/**
 * Runs with results, and the latest result of each rule and equipment. `resultStores` owns the transaction. The function is
 * long because it holds the SQL of all statements.
 */
export function openRuns(db: Database) {
  const add = db.prepare(
    `INSERT INTO runs (run_id, building_id, started_at, body, state) VALUES (?, ?, ?, ?, 'done')
     ON CONFLICT (run_id) DO UPDATE SET started_at = excluded.started_at, body = excluded.body, state = 'done'`,
  )
  const forget = forgetting(db, "state = 'done'")
  const start = db.prepare('SELECT started_at FROM runs WHERE run_id = ?').pluck()
  const list = db
    .prepare(
      `SELECT body FROM runs
       WHERE state = 'done' AND (@building_id IS NULL OR building_id = @building_id)
         AND (@start IS NULL OR started_at < @start OR (started_at = @start AND run_id > @after))
       ORDER BY started_at DESC, run_id LIMIT @limit`,
    )
    .pluck()
  const putResults = db.prepare(upsert('run_results', ['building_id'], ['building_id', 'run_id', 'body']))
  const record = db.prepare(
    'SELECT runs.body AS run, run_results.body AS results FROM run_results JOIN runs USING (run_id) WHERE run_id = ?',
  )
  const latest = openLatestResults(db)
  return {
    /** @param whole whether the run evaluated all rules and equipment: its results then replace later ones as well */
    add: (run: RunRecord, whole: boolean) => {
      const { run_id, building_id, started_at } = run
      add.run(run_id, building_id, started_at, JSON.stringify(summaryOf(run)))
      putResults.run({ building_id, run_id, body: JSON.stringify(run.results) })
      forget(building_id)
      latest.put(run, whole)
    },
    latest: latest.reader,
    list: ({ building_id, limit, after }: Parameters<ResultReader['runs']>[0]) => {
      const bodies = list.all({ building_id: building_id ?? null, limit, ...continueAfter(start, after) })
      return bodies.map(body => JSON.parse(String(body)) as RunSummary)
    },
    record: (run_id: string): RunRecord | undefined => {
      const row = record.get(run_id) as { run: string; results: string } | undefined
      if (!row) return undefined
      const { counts: _, reasons: _reasons, ...run } = JSON.parse(row.run) as RunSummary
      return { ...run, results: JSON.parse(row.results) as RunRecord['results'] }
    },
  }
}

type Row = { run_id: string; building_id: string; state: RunState['state']; asked_at: number | null; body: string }

/** @throws Problem bad_cursor from `list` when the run of `after` no longer exists */
export function runStore(db: Database): RunStore {
  const put = db.prepare(
    `INSERT INTO runs (run_id, building_id, started_at, body, state, asked_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET started_at = excluded.started_at, body = excluded.body, state = excluded.state
       WHERE runs.state <> 'done'`,
  )
  const forget = forgetting(db, "state IN ('failed', 'cancelled')")
  const columns = 'SELECT run_id, building_id, state, asked_at, body FROM runs'
  const get = db.prepare(`${columns} WHERE run_id = ?`)
  const open = db.prepare(`${columns} WHERE state IN ('queued', 'running')`)
  const start = db.prepare('SELECT started_at FROM runs WHERE run_id = ?').pluck()
  const list = db.prepare(
    `${columns} WHERE (@building_id IS NULL OR building_id = @building_id)
       AND (@start IS NULL OR started_at < @start OR (started_at = @start AND run_id > @after))
     ORDER BY started_at DESC, run_id LIMIT @limit`,
  )
  const write = (run: RunState) => {
    const { run_id, building_id, started_at, asked_at, state } = run
    put.run(run_id, building_id, started_at ?? asked_at, JSON.stringify(run), state, asked_at)
    forget(building_id)
  }
  return {
    put: db.transaction(write),
    get: run_id => {
      const row = get.get(run_id) as Row | undefined
      return row && toEntry(row)
    },
    list: ({ building_id, limit, after }) => {
      const rows = list.all({ building_id: building_id ?? null, limit, ...continueAfter(start, after) }) as Row[]
      return rows.map(toEntry)
    },
    interrupt: db.transaction((at: number) => {
      const left = (open.all() as Row[]).map(row => toEntry(row).run)
      // A clock that was set back must not end a run before it began.
      for (const run of left) {
        const finished_at = Math.max(at, run.started_at ?? run.asked_at)
        write({ ...run, state: 'failed', finished_at, reason: INTERRUPTED })
      }
      return left.length
    }),
  }
}

function toEntry({ run_id, building_id, state, asked_at, body }: Row): RunEntry {
  if (state !== 'done') return { run: JSON.parse(body) as RunState }
  const record = JSON.parse(body) as RunSummary
  const { trigger, started_at, finished_at } = record
  return { run: { run_id, building_id, trigger, state, asked_at: asked_at ?? started_at, started_at, finished_at }, record }
}

/** Deletes all but the newest runs of a building among those that match `which`. */
function forgetting(db: Database, which: string): (building_id: string) => void {
  const forget = db.prepare(
    `DELETE FROM runs WHERE run_id IN (
       SELECT run_id FROM runs WHERE building_id = @building_id AND ${which}
       ORDER BY started_at DESC, run_id LIMIT -1 OFFSET ${RUNS_KEPT})`,
  )
  return building_id => void forget.run({ building_id })
}

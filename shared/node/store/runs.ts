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
 * Newest first. One statement for each choice, so that each finds its index.
 *
 * @param given which of the values the statement has: `start` with `after`
 */
export function runsSql(columns: string, given: { done?: boolean; building_id?: boolean; start?: boolean }): string {
  const conditions = [
    ...(given.building_id ? ['building_id = @building_id'] : []),
    ...(given.done ? ["state = 'done'"] : []),
    ...(given.start ? ['(started_at < @start OR (started_at = @start AND run_id > @after))'] : []),
  ]
  return `SELECT ${columns} FROM runs WHERE ${['1', ...conditions].join(' AND ')} ORDER BY started_at DESC, run_id LIMIT @limit`
}

type RunQuery = Parameters<ResultReader['runs']>[0]

/** @returns rows of `runsSql`. @throws Problem bad_cursor when the run of `after` no longer exists */
function runLister(db: Database, columns: string, done: boolean): (query: RunQuery) => unknown[] {
  const start = db.prepare('SELECT started_at FROM runs WHERE run_id = ?').pluck()
  const prepared = new Map(
    [true, false].flatMap(ofOne =>
      [true, false].map(goesOn => {
        const sql = runsSql(columns, { done, building_id: ofOne, start: goesOn })
        return [`${ofOne} ${goesOn}`, db.prepare(sql)] as const
      }),
    ),
  )
  return ({ building_id, limit, after }) => {
    const statement = prepared.get(`${building_id !== undefined} ${after !== undefined}`)!
    return statement.all({
      limit,
      ...(building_id !== undefined && { building_id }),
      ...(after !== undefined && continueAfter(start, after)),
    })
  }
}

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
  const list = runLister(db, 'body', true)
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
    list: (query: RunQuery) => (list(query) as { body: string }[]).map(({ body }) => JSON.parse(body) as RunSummary),
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
  const columns = 'run_id, building_id, state, asked_at, body'
  const get = db.prepare(`SELECT ${columns} FROM runs WHERE run_id = ?`)
  const open = db.prepare(`SELECT ${columns} FROM runs WHERE state IN ('queued', 'running')`)
  const list = runLister(db, columns, false)
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
    list: query => (list(query) as Row[]).map(toEntry),
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

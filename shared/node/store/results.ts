import type { Finding } from '#shared/core/finding.ts'
import type { LatestResult, Results, RunRecord } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { reconcile } from '#shared/core/reconcile.ts'
import type { Database } from '../sqlite.ts'
import { findingWriter, toFinding } from './findings.ts'

/** Runs that are kept of each building: two months at a run every three hours. */
const RUNS_KEPT = 500

/** @throws Problem bad_cursor from the lists when the record after which to go on is no longer there */
export function resultStore(db: Database): Results {
  const findings = openFindings(db)
  const runs = openRuns(db)
  const replace = (run: RunRecord, found: Finding[]) => {
    const change = reconcile(findings.overlapping(run), found, run)
    change.remove.forEach(findings.remove)
    change.put.forEach(findings.write)
    runs.add(run)
  }
  return {
    put: db.transaction((each: Finding[]) => each.forEach(findings.write)),
    replace: db.transaction(replace),
    list: findings.list,
    get: findings.get,
    runs: runs.list,
    latest: runs.latest,
  }
}

function openFindings(db: Database) {
  const get = db.prepare('SELECT body FROM findings WHERE finding_id = ?').pluck()
  const start = db.prepare('SELECT "from" FROM findings WHERE finding_id = ?').pluck()
  const remove = db.prepare('DELETE FROM findings WHERE finding_id = ?')
  const overlapping = db
    .prepare('SELECT body FROM findings WHERE building_id = ? AND "from" < ? AND ("to" IS NULL OR "to" > ?) ORDER BY finding_id')
    .pluck()
  const list = db
    .prepare(
      `SELECT body FROM findings
       WHERE (@building_id IS NULL OR building_id = @building_id)
         AND (@equipment_id IS NULL OR equipment_id = @equipment_id)
         AND (@rule_id IS NULL OR rule_id = @rule_id)
         AND (@state IS NULL OR state = @state)
         AND (@to IS NULL OR "from" < @to)
         AND (@from IS NULL OR "to" IS NULL OR "to" > @from)
         AND (@start IS NULL OR "from" < @start OR ("from" = @start AND finding_id > @after))
       ORDER BY "from" DESC, finding_id LIMIT @limit`,
    )
    .pluck()
  const listAll: Results['list'] = query => {
    const { building_id = null, equipment_id = null, rule_id = null, state = null, from = null, to = null } = query
    const filter = { building_id, equipment_id, rule_id, state, from, to }
    return list.all({ ...filter, ...after(start, query.after), limit: query.limit }).map(toFinding)
  }
  return {
    write: findingWriter(db),
    remove: (finding_id: string) => void remove.run(finding_id),
    overlapping: (run: RunRecord) => overlapping.all(run.building_id, run.to, run.from).map(toFinding),
    get: (finding_id: string) => {
      const body = get.get(finding_id)
      return body === undefined ? undefined : toFinding(body)
    },
    list: listAll,
  }
}

function openRuns(db: Database) {
  const add = db.prepare(
    `INSERT INTO runs VALUES (?, ?, ?, ?)
     ON CONFLICT (run_id) DO UPDATE SET started_at = excluded.started_at, body = excluded.body`,
  )
  const forget = db.prepare(
    `DELETE FROM runs WHERE building_id = @building_id AND run_id NOT IN (
       SELECT run_id FROM runs WHERE building_id = @building_id ORDER BY started_at DESC, run_id LIMIT ${RUNS_KEPT})`,
  )
  const start = db.prepare('SELECT started_at FROM runs WHERE run_id = ?').pluck()
  const list = db
    .prepare(
      `SELECT body FROM runs
       WHERE (@building_id IS NULL OR building_id = @building_id)
         AND (@start IS NULL OR started_at < @start OR (started_at = @start AND run_id > @after))
       ORDER BY started_at DESC, run_id LIMIT @limit`,
    )
    .pluck()
  const look = db.prepare(
    `INSERT INTO latest_results VALUES (?, ?, ?, ?)
     ON CONFLICT (building_id, equipment_id, rule_id) DO UPDATE SET body = excluded.body`,
  )
  const latest = db.prepare('SELECT body FROM latest_results WHERE building_id = ? ORDER BY equipment_id, rule_id').pluck()
  return {
    add: (run: RunRecord) => {
      const { run_id, building_id, started_at, finished_at } = run
      add.run(run_id, building_id, started_at, JSON.stringify(run))
      forget.run({ building_id })
      for (const result of run.results) {
        look.run(building_id, result.equipment_id, result.rule_id, JSON.stringify({ ...result, run_id, finished_at }))
      }
    },
    list: ({ building_id, limit, after: last }: Parameters<Results['runs']>[0]) => {
      const bodies = list.all({ building_id: building_id ?? null, limit, ...after(start, last) })
      return bodies.map(body => JSON.parse(String(body)) as RunRecord)
    },
    latest: (building_id: string) => latest.all(building_id).map(body => JSON.parse(String(body)) as LatestResult),
  }
}

/** Where a list goes on: the start of the record `id`, looked up anew because it may have moved. */
function after(start: { get(id: string): unknown }, id: string | undefined): { start: unknown; after: string | null } {
  const begun = id === undefined ? null : start.get(id)
  if (begun === undefined) throw new Problem('bad_cursor', `${id} is gone: start the list anew`)
  return { start: begun, after: id ?? null }
}

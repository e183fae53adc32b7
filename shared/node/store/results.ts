import type { ActiveFinding, Finding } from '#shared/core/findings/finding.ts'
import type {
  FindingReader,
  FindingStore,
  ResultReader,
  Resumed,
  RunRecord,
  RunRecorder,
  UnsentFindings,
} from '#shared/core/ports.ts'
import { reconcile } from '#shared/core/findings/reconcile.ts'
import type { Database } from '../sqlite.ts'
import { findingWriter, toFinding } from './findings.ts'
import { continueAfter } from './row.ts'
import { openRuns } from './runs.ts'

type ResultStores = {
  findings: FindingStore
  results: ResultReader
  runRecorder: RunRecorder
  unsentFindings: UnsentFindings
}

/** Findings and results of runs. The run loop is the only writer; on a hub it is ingest. */
export function resultStores(db: Database): ResultStores {
  const findings = openFindings(db)
  const runs = openRuns(db)
  const addUnsent = db.prepare('INSERT INTO untold_findings VALUES (?, ?) ON CONFLICT DO NOTHING')
  const unsent = db.prepare('SELECT finding_id FROM untold_findings WHERE building_id = ? ORDER BY finding_id').pluck()
  const markSent = db.prepare('DELETE FROM untold_findings WHERE finding_id = ?')
  const replace = (run: RunRecord, found: Finding[], resumed?: Resumed, beside?: () => void) => {
    const change = reconcile(
      findings.overlapping(run),
      found,
      run,
      ({ equipment_id, rule_id }) => runs.latest.latestOf(run.building_id, equipment_id, rule_id),
      resumed,
    )
    change.remove.forEach(findings.remove)
    const ended = change.put.filter(({ to }) => to !== null && to <= run.from).map(({ finding_id }) => finding_id)
    for (const finding_id of [...change.remove, ...ended]) addUnsent.run(finding_id, run.building_id)
    change.put.forEach(findings.write)
    runs.add(run, resumed !== undefined)
    beside?.()
  }
  return {
    findings: {
      put: db.transaction((each: Finding[]) => each.forEach(findings.write)),
      list: findings.list,
      get: findings.get,
      active: findings.active,
      countByRule: findings.countByRule,
    },
    results: { runs: runs.list, record: runs.record, ...runs.latest },
    runRecorder: { replace: db.transaction(replace) },
    unsentFindings: {
      unsent: building_id => unsent.all(building_id) as string[],
      markSent: db.transaction((ids: string[]) => ids.forEach(id => markSent.run(id))),
    },
  }
}

const LIST_CONDITIONS = {
  building_id: 'building_id = @building_id',
  equipment_id: 'equipment_id = @equipment_id',
  rule_id: 'rule_id = @rule_id',
  state: 'state = @state',
  // In words, because an index of them holds for no other value.
  active: "state = 'active'",
  to: '"from" < @to',
  from: '("to" IS NULL OR "to" > @from)',
  start: '("from" < @start OR ("from" = @start AND finding_id > @after))',
}

/** @param given the filters that are used are not undefined */
export function listSql(given: Partial<Record<keyof typeof LIST_CONDITIONS, unknown>>): string {
  const used = (Object.keys(LIST_CONDITIONS) as (keyof typeof LIST_CONDITIONS)[]).filter(name => given[name] !== undefined)
  const where = ['1', ...used.map(name => LIST_CONDITIONS[name])].join(' AND ')
  return `SELECT body FROM findings WHERE ${where} ORDER BY "from" DESC, finding_id LIMIT @limit`
}

/** Most active findings that are counted: ten in each of ten thousand buildings. */
const ACTIVE_MAX = 100_000
type ActiveRow = [
  string,
  string,
  string,
  string,
  Finding['kind'],
  string,
  Finding['severity'],
  number,
  string | null,
  string | null,
]
const activeSql = (where: string) =>
  `SELECT building_id, finding_id, equipment_id, rule_id, kind, title, severity, "from", role, suppressed_by FROM active_findings
   ${where} ORDER BY building_id, finding_id LIMIT ${ACTIVE_MAX}`

/** By hand, because a hub makes thousands of them for a page. */
function toActive([
  building_id,
  finding_id,
  equipment_id,
  rule_id,
  kind,
  title,
  severity,
  from,
  role,
  suppressed_by,
]: ActiveRow): ActiveFinding {
  const finding: ActiveFinding = { finding_id, building_id, equipment_id, rule_id, kind, title, severity, from }
  if (role !== null) finding.role = role
  if (suppressed_by !== null) finding.suppressed_by = suppressed_by
  return finding
}

function openFindings(db: Database) {
  const get = db.prepare('SELECT body FROM findings WHERE finding_id = ?').pluck()
  const start = db.prepare('SELECT "from" FROM findings WHERE finding_id = ?').pluck()
  const remove = db.prepare('DELETE FROM findings WHERE finding_id = ?')
  const overlapping = db
    .prepare('SELECT body FROM findings WHERE building_id = ? AND "from" < ? AND ("to" IS NULL OR "to" > ?) ORDER BY finding_id')
    .pluck()
  // One statement for each choice of filters, so that each finds its index.
  const prepared = new Map<string, ReturnType<typeof prepareList>>()
  const prepareList = (sql: string) => db.prepare(sql).pluck()
  const byRule = db
    .prepare('SELECT rule_id, COUNT(*) FROM findings WHERE "from" < ? AND ("to" IS NULL OR "to" > ?) GROUP BY rule_id')
    .raw()
  const listAll: FindingReader['list'] = query => {
    const { limit, after, state, ...filter } = query
    const ofState = state === 'active' ? { active: 1 } : state !== undefined && { state }
    const given = { ...filter, ...ofState, ...(after !== undefined && continueAfter(start, after)) }
    const sql = listSql(given)
    const list = prepared.get(sql) ?? prepareList(sql)
    prepared.set(sql, list)
    return list.all({ ...given, limit }).map(toFinding)
  }
  const [allActive, activeOf] = [db.prepare(activeSql('')).raw(), db.prepare(activeSql('WHERE building_id = ?')).raw()]
  const active = (building_id?: string): ActiveFinding[] =>
    ((building_id === undefined ? allActive.all() : activeOf.all(building_id)) as ActiveRow[]).map(toActive)
  return {
    active,
    write: findingWriter(db),
    remove: (finding_id: string) => void remove.run(finding_id),
    overlapping: (run: RunRecord) => overlapping.all(run.building_id, run.to, run.from).map(toFinding),
    get: (finding_id: string) => {
      const body = get.get(finding_id)
      return body === undefined ? undefined : toFinding(body)
    },
    list: listAll,
    countByRule: (from: number, to: number) => new Map(byRule.all(to, from) as [string, number][]),
  }
}

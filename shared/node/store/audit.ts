import type { AuditFilter, AuditRow, AuditStore, RefusedLoginStore, StoredAuditRow } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

const INSERT = `INSERT INTO audit (at, actor, role, action, subject, building_id, before, after, request_id)
     VALUES (@at, @actor, @role, @action, @subject, @building_id, @before, @after, @request_id)`
const COLUMNS = 'id AS entry, at, actor, role, action, subject, building_id, before, after, request_id'
const CONDITIONS = {
  actor: 'actor = @actor',
  action: 'action = @action',
  subject: 'subject = @subject',
  building_id: 'building_id = @building_id',
  from: 'at >= @from',
  to: 'at < @to',
} as const satisfies Record<keyof AuditFilter, string>
/** Names that a form offers. */
const NAMES_MAX = 500

/** Newest first; of rows of the same instant, the later one. */
export function auditStore(db: Database): AuditStore {
  const add = db.prepare(INSERT)
  const prepare = (where: string[]) =>
    db.prepare(`SELECT ${COLUMNS} FROM audit WHERE ${['1', ...where].join(' AND ')} ORDER BY at DESC, id DESC LIMIT @limit`)
  // One statement for each choice of filters, so that each finds its index.
  const prepared = new Map<string, ReturnType<typeof prepare>>()
  const names = (column: 'actor' | 'action') => {
    const statement = db.prepare(distinctOf(column)).pluck()
    return () => statement.all() as string[]
  }
  const actors = names('actor')
  const actions = names('action')
  return {
    add: row => void add.run(columnsOf(row)),
    list({ limit, before, ...filter }) {
      const used = (Object.keys(CONDITIONS) as (keyof AuditFilter)[]).filter(name => filter[name] !== undefined)
      const where = [...used.map(name => CONDITIONS[name]), ...(before ? ['(at, id) < (@before_at, @before_entry)'] : [])]
      const key = where.join()
      const statement = prepared.get(key) ?? prepare(where)
      prepared.set(key, statement)
      const cut = before && { before_at: before.at, before_entry: before.entry }
      return statement.all({ ...Object.fromEntries(used.map(name => [name, filter[name]])), ...cut, limit }).map(toAuditRow)
    },
    names: () => ({ actors: actors(), actions: actions() }),
  }
}

/** Jumps from one name to the next in the index, so that it takes as long as there are names and not rows. */
const distinctOf = (column: string): string =>
  `WITH RECURSIVE names (name) AS (
     SELECT min(${column}) FROM audit
     UNION ALL SELECT (SELECT min(${column}) FROM audit WHERE ${column} > name) FROM names WHERE name IS NOT NULL
   ) SELECT name FROM names WHERE name IS NOT NULL LIMIT ${NAMES_MAX}`

function toAuditRow(row: unknown): StoredAuditRow {
  const { before, after, ...rest } = row as StoredAuditRow & { before: string | null; after: string | null }
  return { ...rest, before: before === null ? null : JSON.parse(before), after: after === null ? null : JSON.parse(after) }
}

export function refusedLoginStore(db: Database): RefusedLoginStore {
  const add = db.prepare(INSERT)
  const trim = db.prepare(
    "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE action = 'login_refused' ORDER BY id DESC LIMIT -1 OFFSET ?)",
  )
  const set = db.prepare('UPDATE audit SET after = ? WHERE id = ?')
  return {
    begin: db.transaction((row: Omit<AuditRow, 'action'>, max: number) => {
      const id = Number(add.run(columnsOf({ ...row, action: 'login_refused' })).lastInsertRowid)
      trim.run(max)
      return id
    }).immediate,
    update: db.transaction((rows: readonly { id: number; after: unknown }[]) => {
      for (const { id, after } of rows) set.run(toText(after), id)
    }).immediate,
  }
}

const columnsOf = (row: AuditRow) => ({ ...row, before: toText(row.before), after: toText(row.after) })
const toText = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value))

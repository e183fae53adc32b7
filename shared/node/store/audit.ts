import type { AuditRow, AuditStore, RefusedLoginStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

const INSERT = `INSERT INTO audit (at, actor, role, action, subject, before, after, request_id)
     VALUES (@at, @actor, @role, @action, @subject, @before, @after, @request_id)`

/** Rows are listed newest first; of the same instant, the later row first. */
export function auditStore(db: Database): AuditStore {
  const add = db.prepare(INSERT)
  const list = db.prepare(
    `SELECT at, actor, role, action, subject, before, after, request_id FROM audit
     WHERE at < ? ORDER BY at DESC, id DESC LIMIT ?`,
  )
  return {
    add: row => void add.run(columnsOf(row)),
    list: ({ limit, before }) =>
      list.all(before ?? Number.MAX_SAFE_INTEGER, limit).map(row => {
        const { before: was, after: is, ...rest } = row as AuditRow & { before: string | null; after: string | null }
        return { ...rest, before: was === null ? null : JSON.parse(was), after: is === null ? null : JSON.parse(is) }
      }),
  }
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

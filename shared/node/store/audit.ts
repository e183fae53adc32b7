import type { AuditRow, AuditStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

/** Newest first; of rows of the same instant, the later one. */
export function auditStore(db: Database): AuditStore {
  const add = db.prepare(
    `INSERT INTO audit (at, actor, role, action, subject, before, after, request_id)
     VALUES (@at, @actor, @role, @action, @subject, @before, @after, @request_id)`,
  )
  const list = db.prepare(
    `SELECT at, actor, role, action, subject, before, after, request_id FROM audit
     WHERE at < ? ORDER BY at DESC, id DESC LIMIT ?`,
  )
  return {
    add: row => void add.run({ ...row, before: toText(row.before), after: toText(row.after) }),
    list: ({ limit, before }) =>
      list.all(before ?? Number.MAX_SAFE_INTEGER, limit).map(row => {
        const { before: was, after: is, ...rest } = row as AuditRow & { before: string | null; after: string | null }
        return { ...rest, before: was === null ? null : JSON.parse(was), after: is === null ? null : JSON.parse(is) }
      }),
  }
}

const toText = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value))

/** The audit log as the API and the page ask for it. */
import { Type } from '@sinclair/typebox'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { Problem } from '#shared/core/problem.ts'
import type { AuditFilter, AuditStore, StoredAuditRow } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'

const TEXT = Type.Optional(Type.String({ maxLength: 128 }))
/** The fields of a filter, beside its span. */
export const AUDIT_FILTER = { actor: TEXT, action: TEXT, building_id: TEXT }

/** One page of rows. `cursor` is undefined at the end. */
type AuditPage = { rows: StoredAuditRow[]; cursor: string | undefined }

/**
 * @param after the cursor of the page before
 * @throws Problem bad_cursor
 */
export function readAudit(audit: AuditStore, filter: AuditFilter, limit: number, after: string | undefined): AuditPage {
  const before = after === undefined ? undefined : parseCursor(after)
  const found = audit.list({ ...filter, limit: limit + 1, ...(before && { before }) })
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, cursor: found.length > limit && last ? `${last.at}.${last.entry}` : undefined }
}

function parseCursor(text: string): { at: number; entry: number } {
  const [, at, entry] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  if (at === undefined) throw new Problem('bad_cursor', 'The cursor is not one that a list has given')
  return { at: Number(at), entry: Number(entry) }
}

const HEADER = ['at', 'actor', 'role', 'action', 'subject', 'building_id', 'before', 'after', 'request_id']
/** Rows that are read at once, so that other requests are answered in between. */
const BATCH = 1000

/** The lines of a CSV file, newest row first. @param max rows. @param after the cursor of the page before */
export function* auditCsv(audit: AuditStore, filter: AuditFilter, max: number, after: string | undefined): Generator<string> {
  yield csvLine(HEADER)
  let left = max
  let cursor = after
  do {
    const page = readAudit(audit, filter, Math.min(left, BATCH), cursor)
    if (page.rows.length > 0) yield page.rows.map(toLine).join('')
    left -= page.rows.length
    cursor = page.cursor
  } while (cursor !== undefined && left > 0)
}

const toLine = ({ at, actor, role, action, subject, building_id, before, after, request_id }: StoredAuditRow): string =>
  csvLine([formatInstant(at), actor, role, action, subject, building_id, textOf(before), textOf(after), request_id])
const textOf = (value: unknown) => (value === null ? null : JSON.stringify(value))

import { Problem } from '#shared/core/problem.ts'
import type { AuditRow } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { afterOf, limitOf, PAGE, type PageQuery } from './list.ts'

export const auditRoutes = ({ audit }: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/audit',
    auth: 'admin',
    summary: 'Who changed what and when, newest first; JSON or CSV',
    query: strict(PAGE),
    problems: ['bad_cursor'],
    handle: ({ query, request, reply }) => {
      const rows = wholeInstants(audit.list({ limit: limitOf(query), ...before(query) }), limitOf(query))
      if (request.headers.accept?.includes('text/csv')) return reply.type('text/csv; charset=utf-8').send(toCsv(rows))
      const last = rows.at(-1)
      const more = last && audit.list({ limit: 1, before: last.at }).length > 0
      const next = more && { next_cursor: Buffer.from(String(last.at)).toString('base64url') }
      return { ok: true, rows: rows.map(row => ({ ...row, at: formatInstant(row.at) })), ...next }
    },
  }),
]

/** The cursor is an instant, so a page ends between two: rows of the last instant come on the next page, if others are before them. */
function wholeInstants(rows: AuditRow[], limit: number): AuditRow[] {
  const last = rows.at(-1)
  const whole = rows.length < limit ? rows : rows.filter(({ at }) => at > last!.at)
  return whole.length ? whole : rows
}

function before(query: PageQuery): { before?: number } {
  const after = afterOf(query)
  if (after === undefined) return {}
  if (!/^\d+$/.test(after)) throw new Problem('bad_cursor', 'The cursor is not one that a list has given')
  return { before: Number(after) }
}

function toCsv(rows: AuditRow[]): string {
  const lines = rows.map(({ at, actor, role, action, subject, before: was, after, request_id }) =>
    csvLine([formatInstant(at), actor, role, action, subject, JSON.stringify(was), JSON.stringify(after), request_id]),
  )
  return [csvLine(['at', 'actor', 'role', 'action', 'subject', 'before', 'after', 'request_id']), ...lines].join('')
}

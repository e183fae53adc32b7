import { Type } from '@sinclair/typebox'
import { formatInstant } from '#shared/core/time.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import { AUDIT_FILTER, auditCsv, readAudit } from '#shared/central/audit-log.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { afterOf, encodeCursor, limitOf, PAGE } from './list.ts'
import { INSTANT_TEXT, orNull, pageAnswer } from './schemas/record-schemas.ts'
import { readInstant } from './record-views.ts'

const INSTANT = Type.Optional(Type.String({ maxLength: 40 }))

const AUDIT_ROW = Type.Object({
  ...{ at: INSTANT_TEXT, actor: Type.String(), role: Type.String(), action: Type.String(), subject: Type.String() },
  building_id: orNull(Type.String({ description: 'null for a change of no building, or of several' })),
  ...{ before: Type.Unknown(), after: Type.Unknown(), request_id: Type.String() },
})

export const auditRoutes = ({ audit }: Pick<CentralContext, 'audit'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/audit',
    auth: 'admin',
    summary: 'Who changed what and when, newest first; JSON or CSV',
    answers: ['application/json', 'text/csv'],
    reply: pageAnswer('rows', AUDIT_ROW),
    query: strict({ ...AUDIT_FILTER, from: INSTANT, to: INSTANT, ...PAGE }),
    problems: ['bad_cursor'],
    handle: ({ query, request, reply }) => {
      const { limit: _limit, cursor: _cursor, from, to, ...given } = query
      const [start, end] = [readInstant('from', from), readInstant('to', to)]
      const filter = { ...given, ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) }
      const after = afterOf(query)
      if (request.headers.accept?.includes('text/csv')) {
        return reply.type('text/csv; charset=utf-8').send([...auditCsv(audit, filter, limitOf(query), after)].join(''))
      }
      const { rows, cursor } = readAudit(audit, filter, limitOf(query), after)
      const next = cursor !== undefined && { next_cursor: encodeCursor(cursor) }
      return { ok: true, rows: rows.map(({ entry: _entry, ...row }) => ({ ...row, at: formatInstant(row.at) })), ...next }
    },
  }),
]

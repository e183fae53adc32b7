/** The page of the audit log, with its filter and a CSV file of the same rows. */
import { Readable } from 'node:stream'
import { type Static, Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import type { AuditFilter } from '#shared/core/stores.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { endOfDate, startOfDate } from '#shared/central/analytics/span.ts'
import { AUDIT_FILTER, auditCsv, readAudit } from '#shared/central/audit-log.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { auditBody } from './audit.view.ts'
import { say } from '#shared/node/http/language.ts'

const ROWS_SHOWN = 100
/** Rows of one CSV file: what a spreadsheet opens, and a few seconds of reading. */
const CSV_ROWS_MAX = 100_000
/** Blank means no choice. */
const DATE = Type.Optional(Type.String({ pattern: String.raw`^(\d{4}-\d{2}-\d{2})?$` }))
const FILTER = { ...AUDIT_FILTER, from: DATE, to: DATE }
const Filter = strict(FILTER)
type FilterQuery = Static<typeof Filter>

export const auditPage = ({ audit, model }: Pick<CentralContext, 'audit' | 'model'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/audit',
    auth: 'admin',
    summary: 'The page of the audit log',
    query: strict({ ...FILTER, after: Type.Optional(Type.String({ maxLength: 64 })) }),
    problems: ['bad_cursor'],
    handle: call => {
      const { after, ...query } = call.query
      const here = layout.here()
      const page = readAudit(audit, filterOf(query, here.timezone), ROWS_SHOWN, after)
      const shown = { query, ...page, isFirst: after === undefined, ...audit.names(), buildings: model.buildings(), here }
      return layout.document(call, { title: say`Audit`, current: '/audit' }, auditBody(shown))
    },
  }),
  route({
    method: 'GET',
    path: '/audit.csv',
    auth: 'admin',
    summary: 'The rows of the audit log as CSV, newest first',
    query: Filter,
    handle: ({ query, reply }) => {
      const lines = auditCsv(audit, filterOf(query, layout.here().timezone), CSV_ROWS_MAX, undefined)
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="audit.csv"')
        .send(Readable.from(lines))
    },
  }),
]

/** @throws Problem bad_request for a day that does not exist */
function filterOf({ from, to, ...names }: FilterQuery, timezone: string): AuditFilter {
  const chosen = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== ''))
  return {
    ...chosen,
    ...(from && { from: needDay(startOfDate(from, timezone)) }),
    ...(to && { to: needDay(endOfDate(to, timezone)) }),
  }
}

function needDay(ms: number | undefined): number {
  if (ms === undefined) throw new Problem('bad_request', 'The month has no such day')
  return ms
}

/** The pages by which a person imports a CSV package: upload, report, confirmation. */
import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { IMPORT_MODES, importDry, importStaged, stagePackage, PACKAGE_MAX } from '#shared/central/commands/import.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { packageBody, reportBody } from './import.view.ts'
import { mappingPages } from './mapping.route.ts'
import { exampleFiles, exampleTable } from '#shared/central/import/example-package.ts'
import { endOfDate } from '#shared/central/analytics/span.ts'
import { sendZip } from '#shared/central/api/import.ts'
import { historyZip } from '#shared/central/commands/export-history.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { ID } from '#shared/core/model/model.ts'
import { formatInstant } from '#shared/core/time.ts'
import { zipTexts } from '#shared/node/zip.ts'
import { words } from '#shared/node/http/language.ts'

const AT = words({ title: 'Import', current: '/import' }, 'title')
const BY_SESSION = strict({ session_id: Type.String({ maxLength: 128 }) })
const pathOf = (session_id: string) => `/import/${encodeURIComponent(session_id)}`

const LINE = Type.Optional(Type.String({ maxLength: 128 }))

/** What is no day is left to the refusal of the export. */
function instantAfter(day: string, timezone: string): string {
  const end = endOfDate(day, timezone)
  return end === undefined ? day : formatInstant(end)
}

export const importPages = (context: CentralParts, layout: PageLayout): Route[] => [
  ...mappingPages(context, layout),
  route({
    method: 'GET',
    path: '/import',
    auth: 'operator',
    summary: 'The page that imports a CSV package',
    handle: call => {
      const buildings = context.model.buildings()
      return layout.document(call, AT, packageBody({ buildings, csrf: layout.csrfOf(call.caller) }))
    },
  }),
  route({
    method: 'GET',
    path: '/import/example.zip',
    auth: 'operator',
    summary: 'An example of a CSV package',
    handle: async ({ reply }) => {
      reply.type('application/zip').header('content-disposition', 'attachment; filename="example-package.zip"')
      return reply.send(await zipTexts(exampleFiles()))
    },
  }),
  route({
    method: 'GET',
    path: '/import/example.csv',
    auth: 'operator',
    summary: 'An example of a table of history',
    handle: ({ reply }) => {
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="example.csv"')
      return reply.send(exampleTable())
    },
  }),
  route({
    method: 'GET',
    path: '/import/history.zip',
    auth: 'operator',
    summary: 'The form that takes history along as a package',
    query: strict({ building_id: ID, equipment_id: LINE, from: LINE, through: LINE }),
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: async ({ query: { building_id, equipment_id, from, through }, reply }) => {
      const { timezone } = needBuilding(context.model, building_id)
      const asked = {
        ...(equipment_id && { equipment_id }),
        ...(from && { from }),
        ...(through && { to: instantAfter(through, timezone) }),
      }
      return sendZip(reply, await historyZip(context, { building_id, ...asked }))
    },
  }),
  route({
    method: 'POST',
    path: '/import',
    auth: 'operator',
    summary: 'The form that stages a CSV package and shows what importing it would do',
    takes: 'upload',
    bodyMax: PACKAGE_MAX,
    action: 'preflight',
    problems: ['package_invalid', 'workspace_full', 'tenant_over_budget'],
    handle: async call => {
      const { request, caller, reply } = call
      const { session_id } = await stagePackage(context, call, request, fields => {
        if (caller && !context.auth.isFormToken(caller, fields.get('csrf') ?? '')) {
          throw new Problem('forbidden', 'The form is not from this session; load the page again')
        }
      })
      return reply.redirect(pathOf(session_id), 303)
    },
  }),
  route({
    method: 'GET',
    path: '/import/:session_id',
    auth: 'operator',
    summary: 'What importing a staged package would do, or has done',
    params: BY_SESSION,
    query: strict({ count: Type.Optional(Type.Literal('1')) }),
    problems: ['unknown_session', 'package_invalid'],
    handle: async call => {
      const { session_id } = call.params
      const session = await context.sessions.get(session_id)
      const counted = call.query.count === '1' ? await importDry(context, session_id, 'merge') : undefined
      return layout.document(call, AT, reportBody({ session, counted, csrf: layout.csrfOf(call.caller) }))
    },
  }),
  route({
    method: 'POST',
    path: '/import/:session_id',
    auth: 'operator',
    summary: 'The form that imports a staged package',
    takes: 'form',
    params: BY_SESSION,
    body: strict({ mode: oneOf(IMPORT_MODES) }),
    action: 'import',
    problems: ['unknown_session', 'package_invalid', 'conflict', 'workspace_full', 'tenant_over_budget'],
    handle: async call => {
      const { session_id } = call.params
      await importStaged(context, call, session_id, call.body.mode)
      return call.reply.redirect(pathOf(session_id), 303)
    },
  }),
]

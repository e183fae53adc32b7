/** The page on which a person says what the columns of a staged table are. */
import { Type } from '@sinclair/typebox'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { changeMapping, leaveTableOut, readMapping } from '#shared/central/commands/import-mapping.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { mappingBody } from './mapping.view.ts'
import { readMappingForm } from './mapping-form.ts'
import { words, sayPlaced } from '#shared/node/http/language.ts'

const TABLE = Type.Optional(Type.String({ maxLength: 128 }))
const AT = words({ title: 'What the columns are', current: '/import' }, 'title')
const BY_SESSION = strict({ session_id: Type.String({ maxLength: 128 }) })
/** A form with three fields for each of five hundred columns. */
const FORM_MAX = 1024 * 1024
const SHORT = Type.Optional(Type.String({ maxLength: 256 }))
const FORM = Type.Object(
  {
    time_1: SHORT,
    time_2: SHORT,
    date_order: SHORT,
    timezone: SHORT,
    grid_minutes: SHORT,
    building_id: SHORT,
    unit_system: SHORT,
    likely: SHORT,
  },
  {
    additionalProperties: false,
    patternProperties: { [String.raw`^(id|type|equipment|role|unit)\.\d{1,4}$`]: Type.String({ maxLength: 256 }) },
  },
)

export function mappingPages(context: CentralParts, layout: PageLayout): Route[] {
  const path = '/import/:session_id/mapping'
  const common = { auth: 'operator', params: BY_SESSION, problems: ['unknown_session', 'not_found', 'conflict'] } as const
  return [
    route({
      ...common,
      method: 'GET',
      path,
      summary: 'The page that maps the columns of a staged table',
      query: strict({ table: TABLE }),
      handle: async call => {
        const staged = await readMapping(context, call.params.session_id, call.query.table)
        return layout.document(call, AT, mappingBody({ ...staged, refusals: [], csrf: layout.csrfOf(call.caller) }))
      },
    }),
    route({
      ...common,
      method: 'POST',
      path,
      summary: 'The form that maps the columns of a staged table and checks it again',
      takes: 'form',
      query: strict({ table: TABLE }),
      bodyMax: FORM_MAX,
      body: FORM,
      action: 'map_columns',
      handle: async call => {
        const { session_id } = call.params
        const { table } = call.query
        const staged = await readMapping(context, session_id, table)
        const mapping = readMappingForm(call.body as Record<string, string>, staged.head.headers, staged)
        try {
          await changeMapping(context, call, { session_id, table }, mapping)
          return call.reply.redirect(await nextPage(context, session_id), 303)
        } catch (error) {
          if (!(error instanceof Problem) || error.code !== 'invalid') throw error
          call.reply.code(PROBLEMS[error.code].status)
          const refusals = error.errors.map(({ message }) => sayPlaced(message))
          return layout.document(call, AT, mappingBody({ ...staged, mapping, refusals, csrf: layout.csrfOf(call.caller) }))
        }
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/import/:session_id/leave-out',
      summary: 'The form that leaves one of several staged tables out',
      takes: 'form',
      body: strict({ table: Type.String({ maxLength: 128 }) }),
      action: 'leave_table_out',
      handle: async call => {
        const { session_id } = call.params
        await leaveTableOut(context, call, session_id, call.body.table)
        return call.reply.redirect(await nextPage(context, session_id), 303)
      },
    }),
  ]
}

/** The next table whose columns nobody has said, or the report. */
async function nextPage(context: CentralParts, session_id: string): Promise<string> {
  const report = `/import/${encodeURIComponent(session_id)}`
  const { tables } = await readMapping(context, session_id)
  const next = tables.find(({ equipment }) => equipment.length === 0)
  return next && tables.length > 1 ? `${report}/mapping?table=${encodeURIComponent(next.table)}` : report
}

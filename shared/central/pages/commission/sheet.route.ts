/** The page that takes a spreadsheet of a building's model: first the difference, then the change. */
import type { FastifyRequest } from 'fastify'
import { Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { partContent, partsOf } from '#shared/node/http/upload.ts'
import { compareModel, importModel, MODEL_TEXT_MAX } from '#shared/central/commands/model-exchange.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { COMMISSION_PATH, commissionHref } from './commission.view.ts'
import { differenceBody, sheetBody } from './sheet.view.ts'
import { words } from '#shared/node/http/language.ts'

const PATH = `${COMMISSION_PATH}/sheet`
const AT = words({ title: 'Spreadsheet', current: COMMISSION_PATH }, 'title')
const FIELD_BYTES = 4096
const LIMITS = { fileSize: MODEL_TEXT_MAX, files: 1, fields: 2, fieldSize: FIELD_BYTES }

export const sheetRoutes = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    auth: 'viewer',
    summary: 'The page that takes a spreadsheet of the model',
    query: strict({ building: Type.Optional(PAGE_ID) }),
    handle: call => {
      const model = { building: chooseBuilding(context.model, call.query.building), user: layout.userOf(call.caller) }
      return layout.document(call, AT, sheetBody({ ...model, csrf: layout.csrfOf(call.caller) }))
    },
  }),
  route({
    method: 'POST',
    path: PATH,
    auth: 'operator',
    summary: 'The form that shows what a spreadsheet would change; nothing is saved',
    takes: 'upload',
    bodyMax: MODEL_TEXT_MAX,
    action: 'preview_model',
    changesNothing: true,
    handle: async call => {
      const { caller, request, reply } = call
      const { fields, text } = await readSheet(request)
      if (caller && !context.auth.isFormToken(caller, fields.get('csrf') ?? '')) {
        throw new Problem('forbidden', 'The form is not from this session; load the page again')
      }
      const building = chooseBuilding(context.model, fields.get('building'))
      const model = { building, user: layout.userOf(caller), csrf: layout.csrfOf(caller) }
      try {
        const differences = compareModel(context, { building_id: building.building_id, format: 'csv', text })
        return layout.document(call, AT, differenceBody(model, differences, text))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        reply.code(PROBLEMS[error.code].status)
        return layout.document(call, AT, sheetBody(model, { message: error.message, errors: error.errors ?? [] }))
      }
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/apply`,
    auth: 'operator',
    summary: 'The form that saves what a spreadsheet changes',
    takes: 'form',
    // A form may write a character as several.
    bodyMax: 3 * MODEL_TEXT_MAX,
    body: strict({ building: ID, text: Type.String({ minLength: 1, maxLength: MODEL_TEXT_MAX }) }),
    action: 'import_model',
    problems: ['invalid'],
    handle: call => {
      const { building: building_id, text } = call.body
      const building = chooseBuilding(context.model, building_id)
      importModel(context, call, { building_id, format: 'csv', text })
      return call.reply.redirect(commissionHref('', building), 303)
    },
  }),
]

/** @throws Problem bad_request for a form without a file or with a field that it does not have, too_large beyond a limit */
async function readSheet(request: FastifyRequest): Promise<{ fields: Map<string, string>; text: string }> {
  const fields = new Map<string, string>()
  for await (const part of partsOf(request, LIMITS)) {
    if (part.type === 'file') return { fields, text: (await partContent(part)).toString('utf8').replace(/^\uFEFF/, '') }
    fields.set(part.fieldname, String(part.value))
  }
  throw new Problem('bad_request', 'The form contains no file')
}

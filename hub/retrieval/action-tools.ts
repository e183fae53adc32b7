/** Tools that change something. Each forwards to one route of central, with the token of its caller, which central checks. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { type CentralClient, CentralError, openCentralClient } from '#shared/central/mcp/central-client.ts'
import { DATE_ORDERS } from '#shared/core/csv/timestamp.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem, type ProblemCode, PROBLEMS } from '#shared/core/problem.ts'
import { BEARER } from '#shared/node/auth/token.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import type { RetrievalTool } from './routes.ts'

/** Largest request: an hour of a thousand columns to append. */
const BODY_MAX = 8 * 1024 * 1024
/** Rules that one request names, as central takes. */
const RULES_MAX = 1000
const CONFIRM = Type.Optional(Type.Boolean({ description: 'true says that this may be changed' }))

type Action<S extends TObject> = {
  name: string
  summary: string
  input: S
  forward: (given: Omit<Static<S>, 'confirm'>, central: CentralClient) => Promise<object>
}

/** @param allowed false refuses every call. @param base central, `http://host:port` */
export const actionTools = (allowed: boolean, base: string): RetrievalTool[] => [
  actionTool(allowed, base, {
    name: 'run_fdd',
    summary: 'Starts the rules over a building and answers with the run, which goes on by itself',
    input: strict({
      building_id: Type.String(ID),
      rule_ids: Type.Optional(Type.Array(Type.String(ID), { minItems: 1, maxItems: RULES_MAX })),
      confirm: CONFIRM,
    }),
    forward: (given, central) => central.post('/api/fdd/run?async=true', given),
  }),
  actionTool(allowed, base, {
    name: 'append_csv_chunk',
    summary: 'Appends rows of CSV to equipment that a package has brought; a repeated chunk adds nothing',
    input: strict({
      building_id: Type.String(ID),
      equipment_id: Type.String(ID),
      csv: Type.String({ minLength: 1, maxLength: BODY_MAX, description: 'header line and rows, as in history_wide.csv' }),
      date_order: Type.Optional(oneOf(DATE_ORDERS)),
      confirm: CONFIRM,
    }),
    forward: (given, central) => central.post('/api/csv/import/package/append', { ...given, confirm: true }),
  }),
]

function actionTool<S extends TObject>(
  allowed: boolean,
  base: string,
  { name, summary, input, forward }: Action<S>,
): RetrievalTool {
  const tool = { name, summary, mode: 'write_guarded' as const, input, bodyMax: BODY_MAX }
  if (!allowed) return { ...tool, problems: ['action_tools_disabled'], answer: refuse }
  return {
    ...tool,
    body: input,
    problems: ['unauthenticated', 'confirm_required', 'central_unreachable', 'central_timeout'],
    async answer({ body: { confirm, ...given }, request }) {
      const central = openCentralClient(base, tokenOf(request))
      if (confirm !== true) throw new Problem('confirm_required', 'This changes data: send it again with confirm: true')
      return await forward(given, central).catch(error => {
        throw error instanceof CentralError ? problemOf(error) : error
      })
    },
  }
}

function refuse(): never {
  throw new Problem(
    'action_tools_disabled',
    'Tools that change something are off: SERVICE_MCP_ENABLE_ACTION_TOOLS=true allows them',
  )
}

/** @throws Problem unauthenticated */
function tokenOf({ headers }: FastifyRequest): string {
  const [, token] = BEARER.exec(headers.authorization ?? '') ?? []
  if (token === undefined)
    throw new Problem('unauthenticated', 'Send Authorization: Bearer <token> with a token that central takes')
  return token
}

/** A refusal of central as it came, with its advice. */
function problemOf({ code, message, hints }: CentralError): Problem {
  const known = Object.hasOwn(PROBLEMS, code) ? (code as ProblemCode) : 'central_unreachable'
  return new Problem(
    known,
    message,
    hints.map(hint => ({ message: hint })),
  )
}

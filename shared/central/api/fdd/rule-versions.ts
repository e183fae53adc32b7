/** The texts that a rule had, and the way back to one of them. */
import { Type } from '@sinclair/typebox'
import { needRule } from '#shared/core/lookup.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { listVersions, needVersion, ROLL_BACK_TO, rollBackRule } from '#shared/central/commands/rules.ts'
import { instantOrNull } from '#shared/central/api/record-views.ts'
import { everywhere } from './rules.ts'
import { ROLL_BACK_ANSWER, RULE_TEXT_ANSWER, VERSIONS_ANSWER } from '#shared/central/api/schemas/rule-schemas.ts'

const RULE_ID = strict({ rule_id: ID })

export const ruleVersionRoutes = (context: CentralParts): Route[] => [
  route({
    method: 'GET',
    path: '/api/fdd-rules/:rule_id/text',
    auth: 'viewer',
    summary: 'The text of one rule as it counts now, with its explanation in words, or one of its versions',
    params: RULE_ID,
    query: strict({ version: Type.Optional(Type.String({ maxLength: 64 })) }),
    reply: RULE_TEXT_ANSWER,
    problems: ['unknown_rule', 'not_found', 'conflict'],
    handle: async ({ params: { rule_id }, query: { version } }) => {
      if (version !== undefined) return { ok: true, rule_id, yaml: needVersion(context, rule_id, version).yaml }
      const read = await context.rules.read(rule_id)
      return { ok: true, rule_id, ...needRule({ get: () => read }, rule_id) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd-rules/:rule_id/versions',
    auth: 'viewer',
    summary: 'The texts of a rule that were deployed, the last one first, and whether a shipped one counts without them',
    params: RULE_ID,
    reply: VERSIONS_ANSWER,
    problems: ['unknown_rule'],
    handle: async ({ params: { rule_id } }) => {
      const { versions, ...more } = await listVersions(context, rule_id)
      const listed = versions.map(({ deployed_at, ...version }) => ({ ...version, deployed_at: instantOrNull(deployed_at) }))
      return { ok: true, rule_id, ...more, versions: listed }
    },
  }),
  route({
    method: 'POST',
    path: '/api/fdd-rules/:rule_id/roll-back',
    auth: 'operator',
    summary: 'Deploys an earlier text of a rule again, or lets the shipped rule count again',
    params: RULE_ID,
    body: strict({ to: ROLL_BACK_TO, confirm: Type.Optional(Type.Boolean()) }),
    reply: ROLL_BACK_ANSWER,
    action: 'roll_back_rule',
    problems: ['confirm_required', 'not_found', 'conflict', 'rule_invalid', 'rule_tests_failed'],
    handle: async call => {
      const { rule_id } = call.params
      if (call.body.confirm !== true)
        throw new Problem('confirm_required', 'This deploys another text of a rule; send confirm: true')
      await rollBackRule(context, call, rule_id, call.body.to)
      return { ok: true, rule_id, to: call.body.to, ...everywhere(context) }
    },
  }),
]

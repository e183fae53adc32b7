import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needRule } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { RuleState } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import { RULE_FILENAME } from '#shared/flow/fdd/publish-rules.ts'
import { type Call, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { activateRule, deployRules } from '#shared/central/commands/rules.ts'
import { ruleOwnerView } from '#shared/central/fdd/rule-owner.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'
import { runEverything } from '#shared/central/fdd/service.ts'
import { runReply } from './fdd.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { ACTIVATION_ANSWER, BATCH_ANSWER, RULE_ANSWER, RULES_ANSWER } from '#shared/central/api/schemas/rule-schemas.ts'

const RULE_ID = strict({ rule_id: ID })
/** Longest rule file, and how many one request brings: a whole catalogue. */
export const YAML_MAX = 256 * 1024
const FILES_MAX = 1000
const BATCH_MAX = 16 * 1024 * 1024

export const ruleRoutes = (context: CentralParts): Route[] => [
  listRoute(context),
  ruleRoute(context),
  batchRoute(context),
  ...activateRoutes(context),
]

const listRoute = ({ rules, ruleStates }: CentralParts) =>
  route({
    method: 'GET',
    path: '/api/fdd-rules',
    auth: 'viewer',
    anyBuilding: true,
    summary: 'Rules with what they read and whether they are active, and files that do not check',
    query: strict(PAGE),
    reply: RULES_ANSWER,
    problems: ['bad_cursor'],
    handle: async ({ query }) => {
      const catalogue = await rules.catalogue()
      const states = new Map(ruleStates.list().map(state => [state.rule_id, state]))
      const { items, ...more } = cutPage(catalogue.rules, query, rule => rule.id)
      const views = items.map(({ gate: _gate, lets: _lets, condition: _condition, ...rule }) =>
        ruleView(rule, states.get(rule.id)),
      )
      return { ok: true, count: catalogue.rules.length, rules: views, ...more, errors: catalogue.errors }
    },
  })

const ruleRoute = ({ rules, ruleStates }: CentralParts) =>
  route({
    method: 'GET',
    path: '/api/fdd-rules/:rule_id',
    auth: 'viewer',
    summary: 'One rule with its condition, the names that it defines, and when it applies',
    params: RULE_ID,
    reply: RULE_ANSWER,
    problems: ['unknown_rule'],
    handle: async ({ params: { rule_id } }) => {
      const { gate, lets, condition, ...rule } = needRule((await rules.catalogue()).byId, rule_id)
      const state = ruleStates.list().find(one => one.rule_id === rule_id)
      return { ok: true, rule: { ...ruleView(rule, state), condition, lets, ...(gate !== undefined && { gate }) } }
    },
  })

/** A rule with its file's name alone, and whether somebody switched it off. */
function ruleView<R extends Pick<RuleView, 'filename' | 'each'>>(
  { filename, each: _each, ...rule }: R,
  state: RuleState | undefined,
) {
  const changed = state && { changed_by: state.changed_by, changed_at: formatInstant(state.changed_at) }
  return { ...rule, filename: filename.slice(filename.lastIndexOf('/') + 1), active: state?.active ?? true, ...changed }
}

const batchRoute = (context: CentralParts) =>
  route({
    method: 'POST',
    path: '/api/rules/batch',
    auth: 'operator',
    summary: 'Checks and deploys rule files, all of them or none; an empty body runs the active rules',
    body: Type.Union([
      strict({
        confirm: Type.Optional(Type.Boolean()),
        rules: Type.Optional(
          Type.Array(
            strict({
              filename: Type.Optional(Type.String({ pattern: RULE_FILENAME })),
              yaml: Type.String({ maxLength: YAML_MAX }),
            }),
            { minItems: 1, maxItems: FILES_MAX },
          ),
        ),
      }),
      Type.Null(),
    ]),
    query: strict({ dry_run: Type.Optional(Type.Boolean()) }),
    bodyMax: BATCH_MAX,
    reply: BATCH_ANSWER,
    action: 'deploy_rules',
    idempotent: true,
    problems: ['confirm_required', 'rule_invalid', 'rule_tests_failed'],
    handle: async call => {
      const { body, query, audit } = call
      const files = body?.rules ?? []
      if (files.length === 0) {
        const { reports } = query.dry_run ? { reports: [] } : await runEverything(context, 'request')
        audit({ subject: 'active rules', after: { runs: reports.map(({ run_id }) => run_id) } })
        return { ok: true, deployed: 0, unchanged: 0, errors: [], runs: reports.map(runReply), ...everywhere(context) }
      }
      if (body?.confirm !== true) throw new Problem('confirm_required', 'This deploys rules; send confirm: true')
      const done = await deployRules(context, call, files, query.dry_run)
      return {
        ok: true,
        deployed: done.deployed.length,
        unchanged: done.unchanged.length,
        files: done,
        errors: [],
        ...everywhere(context),
      }
    },
  })

/** A rule is of every building. */
export const everywhere = (context: CentralParts) =>
  ruleOwnerView(context, ...context.model.buildings().map(({ building_id }) => building_id))

const activateRoutes = (context: CentralParts): Route[] => [
  ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).map(method =>
    route({ ...ACTIVATION, method, body: Type.Union([strict({}), Type.Null()]), handle: call => activate(context, call) }),
  ),
  // Also answers HEAD.
  route({ ...ACTIVATION, method: 'GET', bearerOnly: true, handle: call => activate(context, call) }),
]

/** Every method does the same, as in the service specification; `active` decides. */
const ACTIVATION = {
  path: '/api/fdd-rules/:rule_id/activate',
  auth: 'operator',
  summary: 'Activates a rule that passes its own tests, or deactivates it',
  params: RULE_ID,
  query: strict({ active: Type.Optional(Type.Boolean({ default: true })) }),
  reply: ACTIVATION_ANSWER,
  action: 'activate_rule',
  problems: ['unknown_rule', 'rule_tests_failed', 'conflict'],
} as const

type Activation = Call<unknown, { active?: boolean }, { rule_id: string }>

async function activate(context: CentralParts, call: Activation) {
  const { rule_id, active, changed_by, changed_at } = await activateRule(
    context,
    call,
    call.params.rule_id,
    call.query.active ?? true,
  )
  const [activated_by, activated_at] = [changed_by, formatInstant(changed_at)]
  return { ok: true, rule_id, active, activated_by, activated_at, ...everywhere(context) }
}

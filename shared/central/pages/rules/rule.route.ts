/** The page of one rule, and its forms: activate, deactivate, go back to an earlier text. */
import { Type } from '@sinclair/typebox'
import { needRule } from '#shared/core/lookup.ts'
import { DAY } from '#shared/core/time.ts'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { activateRule, listVersions, removeRuleFile, ROLL_BACK_TO, rollBackRule } from '#shared/central/commands/rules.ts'
import type { CentralParts, Reading } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import { rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { FINDING_DAYS, originOf } from './rule-words.ts'
import { removedBody, ruleBody, type RuleModel, RULE_DONE } from './rule.view.ts'
import { say } from '#shared/node/http/language.ts'

const RULE = strict({ rule_id: PAGE_ID })
const PATH = `${RULES_PATH}/:rule_id`

export const rulePage = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    auth: 'viewer',
    summary: 'The page of one rule',
    params: RULE,
    query: strict({ done: Type.Optional(oneOf(RULE_DONE)), tests: Type.Optional(Type.Literal('run')) }),
    problems: ['unknown_rule', 'conflict'],
    handle: async call => {
      const { rule_id } = call.params
      const { done, tests } = call.query
      const shown = { here: layout.here(), user: layout.userOf(call.caller), csrf: layout.csrfOf(call.caller) }
      const listed = await listVersions(context, rule_id)
      const isRemoved = listed.versions.length > 0 && !(await context.rules.catalogue()).byId.has(rule_id)
      if (isRemoved) {
        const body = removedBody(rule_id, done, { ...listed, ...shown, origin: 'own' })
        return layout.document(call, { title: rule_id, current: RULES_PATH }, body)
      }
      const model = {
        ...(await ruleModel({ ...context, model: layout.modelFor(call.caller) }, rule_id)),
        ...listed,
        ...shown,
        done,
        tested: tests && (await context.rules.test(rule_id)),
      }
      return layout.document(call, { title: say(model.rule.title), current: RULES_PATH }, ruleBody(model))
    },
  }),
  ...forms(context),
]

const forms = (context: CentralParts): Route[] => [
  route({
    method: 'POST',
    path: `${PATH}/activate`,
    auth: 'operator',
    summary: 'The form that activates or deactivates a rule',
    takes: 'form',
    params: RULE,
    body: strict({ active: Type.Boolean() }),
    action: 'activate_rule',
    problems: ['unknown_rule', 'rule_tests_failed', 'conflict'],
    handle: async call => {
      const { active, rule_id } = await activateRule(context, call, call.params.rule_id, call.body.active)
      return call.reply.redirect(`${rulePath(rule_id)}?done=${active ? 'activated' : 'deactivated'}`, 303)
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/roll-back`,
    auth: 'operator',
    summary: 'The form that goes back to an earlier text of a rule, or to the shipped rule',
    takes: 'form',
    params: RULE,
    body: strict({ to: ROLL_BACK_TO }),
    action: 'roll_back_rule',
    problems: ['not_found', 'conflict', 'rule_invalid', 'rule_tests_failed'],
    handle: async call => {
      const { rule_id } = call.params
      await rollBackRule(context, call, rule_id, call.body.to)
      return call.reply.redirect(`${rulePath(rule_id)}?done=rolled-back`, 303)
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/remove`,
    auth: 'admin',
    summary: 'The form that removes an own rule',
    takes: 'form',
    params: RULE,
    body: strict({}),
    action: 'delete_rule',
    problems: ['unknown_rule', 'conflict'],
    handle: async call => {
      const { rule_id } = call.params
      const file = (await context.rules.files()).find(({ rules }) => rules.includes(rule_id))
      await removeRuleFile(context, call, needRule({ get: () => file }, rule_id).filename)
      return call.reply.redirect(`${rulePath(rule_id)}?done=removed`, 303)
    },
  }),
]

/** @throws Problem unknown_rule, or conflict while the rule's file is being changed */
async function ruleModel(
  context: Reading<CentralParts>,
  rule_id: string,
): Promise<Omit<RuleModel, 'done' | 'here' | 'user' | 'csrf' | 'versions' | 'shipped' | 'tested'>> {
  const { rules, ruleStates, findings, model, clock } = context
  const rule = needRule((await rules.catalogue()).byId, rule_id)
  const read = await rules.read(rule_id)
  const file = (await rules.files()).find(one => one.rules.includes(rule_id))
  const now = clock.now()
  const buildings = model
    .buildings()
    .map(({ building_id, name }) => ({ building: name, appliance: ruleOwner(context, building_id) }))
  const appliances = buildings.flatMap(({ building, appliance }) => (appliance === undefined ? [] : [{ building, appliance }]))
  return {
    rule,
    reading: needRule({ get: () => read }, rule_id),
    origin: originOf(file),
    filename: file?.filename ?? '',
    state: ruleStates.list().find(one => one.rule_id === rule_id),
    findings: findings.countByRule(now - FINDING_DAYS * DAY, now).get(rule_id) ?? 0,
    unitSystem: model.buildings()[0]?.unit_system ?? 'si',
    appliances,
    ruleOwner: appliances.length === buildings.length ? appliances[0]?.appliance : undefined,
  }
}

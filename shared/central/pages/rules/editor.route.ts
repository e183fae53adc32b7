/** The page on which a rule is written, its checks while somebody types, its trial on past data, and its deployment. */
import { type Static, Type } from '@sinclair/typebox'
import { chooseBuilding, needRule } from '#shared/core/lookup.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { BacktestReport } from '#shared/flow/fdd/backtest.ts'
import { RULE_FILENAME } from '#shared/flow/fdd/publish-rules.ts'
import { type Call, orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { YAML_MAX } from '#shared/central/api/fdd/rules.ts'
import { BACKTEST_DAYS, BACKTEST_DAYS_DEFAULT } from '#shared/central/commands/params.ts'
import { deployRules, needVersion } from '#shared/central/commands/rules.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import { rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { checkedPart, editorBody, type EditorForm, type EditorModel, type RuleVerdict } from './editor.view.ts'
import { reviewBody, type ReviewModel } from './review.view.ts'
import { copyOf, NEW_RULE_TEXT } from './start-text.ts'
import { EDITOR_PATH, originOf } from './rule-words.ts'
import { say, sayMade, sayPlaced } from '#shared/node/http/language.ts'

const FILE = Type.Optional(orBlank(Type.String({ pattern: RULE_FILENAME })))
const START = strict({
  rule: Type.Optional(PAGE_ID),
  copy: Type.Optional(PAGE_ID),
  version: Type.Optional(Type.String({ maxLength: 64 })),
  file: FILE,
})
/** `rule` and `sha`: the rule that was opened, and its text then. */
const FORM = strict({
  yaml: Type.String({ maxLength: YAML_MAX }),
  file: FILE,
  rule: Type.Optional(PAGE_ID),
  sha: Type.Optional(Type.String({ maxLength: 64 })),
  building: Type.Optional(PAGE_ID),
  days: BACKTEST_DAYS,
})
/** What a person corrects in the text or repeats later; the page then has the text as it was sent. */
const REFUSALS: ReadonlySet<string> = new Set([
  'rule_invalid',
  'rule_tests_failed',
  'conflict',
  'invalid',
  'run_in_progress',
  'query_failed',
  'not_ready',
  'workspace_full',
])
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply' | 'audit'>

export const editorPages = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: EDITOR_PATH,
    auth: 'operator',
    summary: 'The page on which a rule is written',
    query: START,
    problems: ['unknown_rule', 'not_found', 'conflict'],
    handle: async call => show(context, layout, call, { form: await startForm(context, call.query) }),
  }),
  route({
    ...FORM_ROUTE,
    path: `${EDITOR_PATH}/check`,
    summary: 'The form that checks the text of a rule and runs its tests',
    action: 'check_rule',
    changesNothing: true,
    handle: async call => {
      const form = formOf(call.body)
      return show(context, layout, call, { form, verdict: await verdictOn(context, call, form) })
    },
  }),
  route({
    ...FORM_ROUTE,
    path: `${EDITOR_PATH}/checked`,
    summary: 'The part of the page that says whether the text checks, while somebody types',
    action: 'check_rule',
    changesNothing: true,
    handle: async call => {
      const form = formOf(call.body)
      return checkedPart(await verdictOn(context, call, form), form.yaml)
    },
  }),
  route({
    ...FORM_ROUTE,
    path: `${EDITOR_PATH}/try`,
    summary: 'The form that asks what the text would have found',
    action: 'backtest',
    handle: async call => {
      const form = formOf(call.body)
      const { building_id } = chooseBuilding(context.model, form.building || undefined)
      const trial = { building_id, yaml: form.yaml, days: form.days }
      const tried = await refusable(call, () => context.backtests.run(trial))
      if ('refused' in tried) return show(context, layout, call, { form, verdict: tried })
      return show(context, layout, call, { form, verdict: await verdictOn(context, call, form), tried: tried.done })
    },
  }),
  ...deployRoutes(context, layout),
]

const FORM_ROUTE = { method: 'POST', auth: 'operator', takes: 'form', body: FORM } as const

const deployRoutes = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    ...FORM_ROUTE,
    path: `${EDITOR_PATH}/review`,
    summary: 'The form that says what deploying the text would change',
    action: 'check_rule',
    changesNothing: true,
    handle: async call => {
      const form = formOf(call.body)
      const verdict = await verdictOn(context, call, form)
      if ('refused' in verdict) return show(context, layout, call, { form, verdict })
      const body = reviewBody({ ...(await reviewModel(context, form, verdict)), csrf: layout.csrfOf(call.caller) })
      return layout.document(call, { title: say`Deploy a rule`, current: RULES_PATH }, body)
    },
  }),
  route({
    ...FORM_ROUTE,
    path: `${EDITOR_PATH}/deploy`,
    summary: 'The form that deploys the text',
    action: 'deploy_rules',
    handle: async call => {
      const form = formOf(call.body)
      const deployed = await refusable(call, async () => {
        await refuseChanged(context, form)
        return deployRules(context, call, [draftOf(form)])
      })
      if ('refused' in deployed) return show(context, layout, call, { form, verdict: deployed })
      return call.reply.redirect(`${rulePath(deployed.done.rules[0]!.rule_id)}?done=deployed`, 303)
    },
  }),
]

/** Browsers send lines of a text field with CR and LF. */
const formOf = ({ yaml, days = BACKTEST_DAYS_DEFAULT, ...rest }: Static<typeof FORM>): EditorForm => {
  const { file = '', rule = '', sha = '', building = '' } = rest
  return { yaml: yaml.replaceAll('\r\n', '\n'), days, file, rule, sha, building }
}

const draftOf = ({ yaml, file }: EditorForm) => ({ yaml, ...(file !== '' && { filename: file }) })

async function startForm(
  { rules, ruleVersions }: CentralParts,
  { rule, copy, version, file }: Static<typeof START>,
): Promise<EditorForm> {
  const form = { yaml: NEW_RULE_TEXT, days: BACKTEST_DAYS_DEFAULT, file: '', rule: '', sha: '', building: '' }
  if (file) {
    const found = (await rules.withDeployed(({ list }) => list())).find(({ filename }) => filename === file)
    if (!found) throw new Problem('not_found', `No file ${file} is deployed`)
    return { ...form, yaml: found.yaml, file }
  }
  const id = rule ?? copy
  if (id === undefined) return form
  const read = await rules.read(id)
  // A removed rule has versions and no text that counts.
  if (version !== undefined) {
    return { ...form, yaml: needVersion({ ruleVersions }, id, version).yaml, rule: id, sha: read ? sha256(read.yaml) : '' }
  }
  const { yaml } = needRule({ get: () => read }, id)
  return copy === undefined ? { ...form, yaml, rule: id, sha: sha256(yaml) } : { ...form, yaml: copyOf(yaml) }
}

/** Checks as a deployment does, and deploys nothing. */
async function verdictOn(context: CentralParts, call: AnyCall, form: EditorForm): Promise<RuleVerdict> {
  const checked = await refusable(undefined, () => deployRules(context, call, [draftOf(form)], true))
  if ('refused' in checked) return checked
  return { publication: checked.done }
}

/** @throws Problem conflict where somebody else has deployed another text of the rule since it was opened */
async function refuseChanged({ rules }: CentralParts, { rule, sha, yaml }: EditorForm): Promise<void> {
  const now = (await rules.catalogue()).byId.get(rule)?.sha256
  if (now === undefined || now === sha || now === sha256(yaml)) return
  throw new Problem('conflict', `${rule} was changed by somebody else since you opened it; compare before you deploy`)
}

/** @param call gets the status of the refusal; without one it stays 200, so that a part of a page is shown */
async function refusable<T>(
  call: AnyCall | undefined,
  work: () => Promise<T>,
): Promise<{ done: T } | Extract<RuleVerdict, { refused: string }>> {
  try {
    return { done: await work() }
  } catch (error) {
    if (!(error instanceof Problem) || !REFUSALS.has(error.code)) throw error
    call?.reply.code(PROBLEMS[error.code].status)
    return {
      refused: sayMade(error.message),
      errors: error.errors.map(({ row, message }) => ({ line: row, message: sayPlaced(message) })),
    }
  }
}

type Shown = { form: EditorForm; verdict?: RuleVerdict; tried?: BacktestReport }

function show(context: CentralParts, layout: PageLayout, call: AnyCall, { form, verdict, tried }: Shown) {
  const buildings = layout.modelFor(call.caller).buildings()
  const building = buildings.find(({ building_id }) => building_id === form.building) ?? buildings[0]
  const here = { ...layout.here(), ...(building && { timezone: building.timezone }) }
  const names = new Map(building && context.model.equipment(building.building_id).map(one => [one.equipment_id, one.name]))
  const model: EditorModel = {
    form,
    verdict,
    tried,
    building,
    buildings,
    nameOf: id => names.get(id) || id,
    here,
    csrf: layout.csrfOf(call.caller),
  }
  return layout.document(call, { title: say`Write a rule`, current: RULES_PATH, here }, editorBody(model))
}

async function reviewModel(
  context: CentralParts,
  form: EditorForm,
  { publication }: Extract<RuleVerdict, { publication: unknown }>,
): Promise<Omit<ReviewModel, 'csrf'>> {
  const { rules, ruleStates, findings, model } = context
  const rule = publication.rules[0]!
  const current = await rules.read(rule.rule_id)
  const file = (await rules.files()).find(one => one.rules.includes(rule.rule_id))
  const reached = model.buildings().map(building => {
    const { equipment } = rule
    const isFor = (type: EquipmentType) => equipment.includes('any') || equipment.includes(type)
    const count = model.equipment(building.building_id).filter(({ equipment_type }) => isFor(equipment_type)).length
    return { building: building.name, count, appliance: ruleOwner(context, building.building_id)?.name }
  })
  return {
    form,
    rule,
    before: current && { yaml: current.yaml, origin: originOf(file) },
    isInactive: ruleStates.list().some(({ rule_id, active }) => rule_id === rule.rule_id && !active),
    open: findings.list({ rule_id: rule.rule_id, state: 'active', limit: 1000 }).length,
    reached: reached.filter(({ count }) => count > 0),
  }
}

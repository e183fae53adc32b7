/** The pages of parameters, and what their forms do. */
import { type Static, Type } from '@sinclair/typebox'
import { getOwn } from '#shared/core/get-own.ts'
import { chooseBuilding, needRule } from '#shared/core/lookup.ts'
import { EQUIPMENT_TYPES, type Equipment, type EquipmentType, UNIT_SYSTEMS } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { isInRoleGroup } from '#shared/core/rules/compile/compile-equipment.ts'
import { appliesToType, paramUses } from '#shared/core/rules/check/param-settings.ts'
import { type ParamForm, type ParamPageModel, paramBody, scopeOf, typedMeasure } from './param.view.ts'
import { firstKindOf, PARAMS_SHOWN, paramsBody, type ParamsModel, type ParamsQuery, type TunableRule } from './params.view.ts'
import { listParams, type SettingName } from '#shared/flow/fdd/tune-param.ts'
import { type Call, oneOf, orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import {
  BACKTEST_DAYS,
  BACKTEST_DAYS_DEFAULT,
  removeRuleParam,
  SETTING,
  SETTING_VALUE,
  setRuleParam,
  tuningPorts,
} from '#shared/central/commands/params.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { say, sayMade } from '#shared/node/http/language.ts'
import { fromTyped, toTyped } from '#shared/central/ui/measure.ts'
import { ruleFilter } from '#shared/central/pages/rules/rule-words.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'

const RULE = strict({ rule_id: PAGE_ID })
/** Values of the choice of places: no other value may stand for the whole site. */
const WHERE = '^(site|(type|equipment) [^ ]+)$'
/** The fields by which a form names a setting; an empty role is none. */
const NAMED = {
  building: SETTING.building_id,
  param: SETTING.param,
  where: Type.String({ maxLength: 300, pattern: WHERE }),
  role: Type.Optional(orBlank(SETTING.role)),
}
/** `typed_in`: the units in which the page asked for the value; without it the parameter's own. */
const VALUE = strict({ ...NAMED, ...SETTING_VALUE, typed_in: Type.Optional(oneOf(UNIT_SYSTEMS)), days: BACKTEST_DAYS })
/** Rules of one page of the list: three screens of a phone. */
const ROWS_SHOWN = 20
const LIST_QUERY = strict({
  building: Type.Optional(PAGE_ID),
  q: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(orBlank(oneOf(EQUIPMENT_TYPES))),
  show: Type.Optional(oneOf(PARAMS_SHOWN)),
  page: PAGE_NUMBER,
})
type Named = { building: string; param: string; where: string; role?: string }
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export const paramsPage = (context: CentralParts, layout: PageLayout): Route[] => [
  listPage(context, layout),
  rulePage(context, layout),
  ...forms(context, layout),
]

const listPage = (context: CentralParts, layout: PageLayout) =>
  route({
    method: 'GET',
    path: '/params',
    auth: 'viewer',
    summary: 'The page of parameters',
    query: LIST_QUERY,
    handle: async call => {
      const { model, rules } = context
      const { q = '', type, show = 'all', page } = call.query
      const building = chooseBuilding(layout.modelFor(call.caller), call.query.building)
      const names = new Map(model.equipment(building.building_id).map(({ equipment_id, name }) => [equipment_id, name]))
      const catalogue = await rules.catalogue()
      const settings = listParams(building.building_id, tuningPorts(context, catalogue))
      const tunable = tunableRules(catalogue.rules, settings)
      const query: ParamsQuery = { q: q.trim(), show, ...(type && { type }) }
      const here = { ...layout.here(), timezone: building.timezone }
      const body = paramsBody({
        building,
        buildings: model.buildings(),
        settings,
        query,
        part: partOf(tunable.filter(matching(query)), page, ROWS_SHOWN),
        types: EQUIPMENT_TYPES.filter(one => tunable.some(rule => rule.equipment.includes(one))),
        equipmentName: id => names.get(id) || id,
        ruleOwner: ruleOwner(context, building.building_id),
        here,
      })
      return layout.document(call, { title: say`Parameters`, current: '/params', here }, body)
    },
  })

/** Those that have something to set, one kind of equipment after the other. */
function tunableRules(rules: readonly RuleView[], settings: ParamsModel['settings']): TunableRule[] {
  const set = new Set(settings.map(({ rule_id, param }) => `${rule_id} ${param}`))
  const order = (rule: TunableRule) => EQUIPMENT_TYPES.indexOf(firstKindOf(rule) as EquipmentType)
  return rules
    .map(
      ({ id, title, equipment, params }): TunableRule => ({
        ...{ id, title, equipment },
        params: Object.entries(params).map(([name, { default: value, unit }]) => {
          return { name, value, unit, isSet: set.has(`${id} ${name}`) }
        }),
      }),
    )
    .filter(({ params }) => params.length > 0)
    .toSorted((a, b) => order(a) - order(b))
}

function matching(query: ParamsQuery): (rule: TunableRule) => boolean {
  const isAsked = ruleFilter(query)
  return rule => {
    const names = rule.params.map(({ name }) => name)
    return isAsked(rule, names) && (query.show === 'all' || rule.params.some(({ isSet }) => isSet))
  }
}

const rulePage = (context: CentralParts, layout: PageLayout) =>
  route({
    method: 'GET',
    path: '/params/:rule_id',
    auth: 'viewer',
    summary: 'The page of the parameters of one rule',
    params: RULE,
    query: strict({ building: Type.Optional(PAGE_ID), equipment: Type.Optional(PAGE_ID), finding: Type.Optional(PAGE_ID) }),
    handle: call => {
      const { building, equipment, finding } = call.query
      const at = { ...(equipment && { equipment_id: equipment }), ...(finding && { finding_id: finding }) }
      const shown = { building: chooseBuilding(layout.modelFor(call.caller), building), at, form: undefined, outcome: undefined }
      return show(context, layout, call, call.params.rule_id, shown)
    },
  })

const forms = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'POST',
    path: '/params/:rule_id/try',
    auth: 'operator',
    summary: 'The form that asks what another value of a parameter would have found',
    takes: 'form',
    params: RULE,
    body: VALUE,
    action: 'backtest',
    handle: async call => {
      const { rule_id } = call.params
      const read = await readForm(context, rule_id, call.body)
      const { form } = read
      const name = nameOf(rule_id, call.body)
      const asked = { ...name, params: { [form.param]: form.value }, days: form.days }
      const outcome = await context.backtests.run(asked).catch((error: unknown) => refusedBy(call, error, read))
      return show(context, layout, call, rule_id, {
        building: chooseBuilding(layout.modelFor(call.caller), name.building_id),
        at: {},
        form,
        outcome,
      })
    },
  }),
  route({
    method: 'POST',
    path: '/params/:rule_id/set',
    auth: 'operator',
    summary: 'The form that sets a parameter',
    takes: 'form',
    params: RULE,
    body: VALUE,
    action: 'set_param',
    handle: async call => {
      const { rule_id } = call.params
      const read = await readForm(context, rule_id, call.body)
      const { form } = read
      const name = nameOf(rule_id, call.body)
      try {
        await setRuleParam(context, call, { ...name, value: form.value, note: form.note })
        return call.reply.redirect(`${pageOf(rule_id, name)}#set`, 303)
      } catch (error) {
        const outcome = refusedBy(call, error, read)
        const building = chooseBuilding(layout.modelFor(call.caller), name.building_id)
        return show(context, layout, call, rule_id, { building, at: {}, form, outcome })
      }
    },
  }),
  route({
    method: 'POST',
    path: '/params/:rule_id/remove',
    auth: 'operator',
    summary: 'The form that takes a setting of a parameter away',
    takes: 'form',
    params: RULE,
    body: strict(NAMED),
    action: 'remove_param',
    handle: call => {
      const { rule_id } = call.params
      const name = nameOf(rule_id, call.body)
      removeRuleParam(context, call, name)
      return call.reply.redirect(`${pageOf(rule_id, name)}#set`, 303)
    },
  }),
]

const pageOf = (rule_id: string, { building_id }: SettingName): string =>
  `/params/${encodeURIComponent(rule_id)}?building=${encodeURIComponent(building_id)}`

const nameOf = (rule_id: string, { building, param, where, role }: Named): SettingName => {
  return { building_id: building, rule_id, param, ...scopeOf(where), ...(role && { role }) }
}

type ReadForm = {
  form: ParamForm
  /** Why a value that was typed in the reader's units is out of bounds, in these units. */
  outOfBounds: string | undefined
}

/** Turns a value that was typed in the reader's units into the unit of the parameter. */
async function readForm({ rules }: CentralParts, rule_id: string, body: Static<typeof VALUE>): Promise<ReadForm> {
  const { param, where, role = '', note = '', days = BACKTEST_DAYS_DEFAULT, typed_in } = body
  const spec = getOwn((await rules.catalogue()).byId.get(rule_id)?.params ?? {}, param)
  const measure = spec && typed_in && typedMeasure(spec.unit, typed_in)
  const form = { param, where, role, note, days }
  if (!measure) return { form: { ...form, value: body.value }, outOfBounds: undefined }
  const value = fromTyped(body.value, measure)
  const { min, max } = spec
  const isWithin = value >= min && value <= max
  const bounds = say`${param} takes ${toTyped(min, measure)} to ${toTyped(max, measure)} ${measure.label}, not ${body.value}`
  return { form: { ...form, value }, outOfBounds: isWithin ? undefined : bounds }
}

/** Errors that a person can correct are shown on the page, with the form as it was filled in. */
function refusedBy({ reply }: AnyCall, error: unknown, { outOfBounds }: ReadForm): { refused: string } {
  if (!(error instanceof Problem) || !['invalid', 'run_in_progress', 'query_failed'].includes(error.code)) throw error
  reply.code(PROBLEMS[error.code].status)
  return { refused: outOfBounds ?? sayMade(error.message) }
}

type Shown = Pick<ParamPageModel, 'building' | 'at' | 'form' | 'outcome'>

/** @throws Problem unknown_rule */
async function show(context: CentralParts, layout: PageLayout, call: AnyCall, rule_id: string, shown: Shown) {
  const { model } = context
  const { building } = shown
  const { building_id } = building
  const catalogue = await context.rules.catalogue()
  const rule = needRule(catalogue.byId, rule_id)
  const equipment = model.equipment(building_id).filter(({ equipment_type }) => appliesToType(rule, equipment_type))
  const settings = listParams(building_id, tuningPorts(context, catalogue))
  const { id, title, source, each } = rule
  const here = { ...layout.here(), timezone: building.timezone }
  const body = paramBody({
    ...shown,
    rule: { id, title, source, isOverRoles: each !== undefined },
    buildings: model.buildings(),
    params: cardsOf(rule, settings, equipment),
    settings: settings.filter(setting => setting.rule_id === rule_id),
    equipment: equipment.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    roles: rolesOf(context, rule, building_id, equipment),
    ruleOwner: ruleOwner(context, building_id),
    here,
    user: layout.userOf(call.caller),
    csrf: layout.csrfOf(call.caller),
  })
  return layout.document(call, { title: say`Parameters of ${id}`, current: '/params', here }, body)
}

function cardsOf(rule: RuleView, settings: ParamPageModel['settings'], equipment: Equipment[]): ParamPageModel['params'] {
  return Object.entries(rule.params).map(([name, { perRole = {}, ...param }]) => {
    return { name, ...param, perRole, uses: paramUses(rule, name, settings, equipment) }
  })
}

/** Over which a rule over every role may run here. */
function rolesOf({ model }: CentralParts, { each }: RuleView, building_id: string, equipment: Equipment[]): string[] {
  if (!each) return []
  const ids = new Set(equipment.map(({ equipment_id }) => equipment_id))
  const roles = model.points(building_id).flatMap(({ role, equipment_id = '' }) => (role && ids.has(equipment_id) ? role : []))
  return [...new Set(roles)].filter(role => isInRoleGroup(each.which, role)).toSorted()
}

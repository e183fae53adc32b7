/** The pages of parameters, and what their forms do. */
import { type Static, Type } from '@sinclair/typebox'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { isInRoleGroup } from '#shared/core/rules/compile/compile-equipment.ts'
import { appliesToType, paramUses } from '#shared/core/rules/check/param-settings.ts'
import { DAYS_TRIED, type ParamForm, type ParamPageModel, paramBody, scopeOf } from './param.view.ts'
import { paramsBody } from './params.view.ts'
import { listParams, removeParam, setParam, type SettingName } from '#shared/flow/fdd/tune-param.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { ranBy } from '#shared/central/fdd/rule-owner.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'
import { tuneParts, tunePartsOf } from '#shared/central/fdd/tune-parts.ts'
import { idOf } from '#shared/central/api/fdd/params.ts'
import type { Shell } from '#shared/central/pages/shell.ts'

const ID = Type.String({ maxLength: 128 })
const RULE = strict({ rule_id: ID })
/** What a choice of places sends: nothing else may come to stand for the whole site. */
const WHERE = '^(site|(type|equipment) [^ ]+)$'
/** Which setting a form means; an empty role is none. */
const NAMED = { building: ID, param: ID, where: Type.String({ maxLength: 300, pattern: WHERE }), role: Type.Optional(ID) }
const VALUE = strict({
  ...NAMED,
  value: Type.Number(),
  note: Type.Optional(Type.String({ maxLength: 1000 })),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: Math.max(...DAYS_TRIED) })),
})
type Named = { building: string; param: string; where: string; role?: string }
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export const paramPages = (context: CentralParts, shell: Shell): Route[] => [
  listPage(context, shell),
  rulePage(context, shell),
  ...forms(context, shell),
]

const listPage = (context: CentralParts, shell: Shell) =>
  route({
    method: 'GET',
    path: '/params',
    auth: 'viewer',
    summary: 'The page of parameters',
    query: strict({ building: Type.Optional(ID) }),
    handle: async call => {
      const { model, rules } = context
      const building = chosenBuilding(context, call.query.building)
      const names = new Map(model.equipment(building.building_id).map(({ equipment_id, name }) => [equipment_id, name]))
      const catalogue = await rules.catalogue()
      const tunable = catalogue.rules.filter(({ params }) => Object.keys(params).length > 0)
      const here = { ...shell.here(), timezone: building.timezone }
      const body = paramsBody({
        building,
        buildings: model.buildings(),
        settings: listParams(building.building_id, tunePartsOf(context, catalogue)),
        rules: tunable.map(({ id, title, equipment, params }) => ({ id, title, equipment, params: Object.keys(params) })),
        equipmentName: id => names.get(id) || id,
        ranBy: ranBy(context, building.building_id),
        here,
      })
      return shell.document(call, { title: 'Parameters', current: '/params', here }, body)
    },
  })

const rulePage = (context: CentralParts, shell: Shell) =>
  route({
    method: 'GET',
    path: '/params/:rule_id',
    auth: 'viewer',
    summary: 'The page of the parameters of one rule',
    params: RULE,
    query: strict({ building: Type.Optional(ID), equipment: Type.Optional(ID), finding: Type.Optional(ID) }),
    handle: call => {
      const { building, equipment, finding } = call.query
      const at = { ...(equipment && { equipment_id: equipment }), ...(finding && { finding_id: finding }) }
      const shown = { building: chosenBuilding(context, building), at, form: undefined, outcome: undefined }
      return show(context, shell, call, call.params.rule_id, shown)
    },
  })

const forms = (context: CentralParts, shell: Shell): Route[] => [
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
      const form = formOf(call.body)
      const name = nameOf(rule_id, call.body)
      const asked = { ...name, params: { [form.param]: form.value }, days: form.days }
      const outcome = await context.backtests.run(asked).catch((error: unknown) => refusedBy(call, error))
      return show(context, shell, call, rule_id, { building: chosenBuilding(context, name.building_id), at: {}, form, outcome })
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
      const { body, caller, reply, audit } = call
      const { rule_id } = call.params
      const form = formOf(body)
      const name = nameOf(rule_id, body)
      try {
        const by = { changed_by: caller!.subject, changed_at: context.clock.now() }
        const request = { ...name, value: form.value, note: form.note }
        const { before, after } = setParam(request, by, await tuneParts(context), false)
        audit({ subject: idOf(after), before, after })
        return reply.redirect(`${pageOf(rule_id, name)}#set`, 303)
      } catch (error) {
        const outcome = refusedBy(call, error)
        const building = chosenBuilding(context, name.building_id)
        return show(context, shell, call, rule_id, { building, at: {}, form, outcome })
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
    handle: ({ params: { rule_id }, body, reply, audit }) => {
      const name = nameOf(rule_id, body)
      const before = removeParam(name, context, false)
      audit({ subject: idOf(before), before })
      return reply.redirect(`${pageOf(rule_id, name)}#set`, 303)
    },
  }),
]

const pageOf = (rule_id: string, { building_id }: SettingName): string =>
  `/params/${encodeURIComponent(rule_id)}?building=${encodeURIComponent(building_id)}`

const nameOf = (rule_id: string, { building, param, where, role }: Named): SettingName => {
  return { building_id: building, rule_id, param, ...scopeOf(where), ...(role && { role }) }
}

const formOf = ({ param, value, where, role = '', note = '', days = 7 }: Static<typeof VALUE>): ParamForm => {
  return { param, value, where, role, note, days }
}

/** What a person can mend is said on the page, with the form as it was filled in. */
function refusedBy({ reply }: AnyCall, error: unknown): { refused: string } {
  if (!(error instanceof Problem) || !['invalid', 'run_in_progress', 'query_failed'].includes(error.code)) throw error
  reply.code(PROBLEMS[error.code].status)
  return { refused: error.message }
}

/** @throws Problem unknown_building, also where there is none at all */
export function chosenBuilding({ model }: Pick<CentralParts, 'model'>, building_id: string | undefined): Building {
  const [first] = model.buildings()
  const building = building_id === undefined ? first : model.building(building_id)
  if (!building)
    throw new Problem(
      'unknown_building',
      building_id === undefined ? 'There is no building yet' : `There is no building ${building_id}`,
    )
  return building
}

type Shown = Pick<ParamPageModel, 'building' | 'at' | 'form' | 'outcome'>

/** @throws Problem unknown_rule */
async function show(context: CentralParts, shell: Shell, call: AnyCall, rule_id: string, shown: Shown) {
  const { model } = context
  const { building } = shown
  const { building_id } = building
  const catalogue = await context.rules.catalogue()
  const rule = catalogue.byId.get(rule_id)
  if (!rule) throw new Problem('unknown_rule', `There is no rule ${rule_id}`)
  const equipment = model.equipment(building_id).filter(({ equipment_type }) => appliesToType(rule, equipment_type))
  const settings = listParams(building_id, tunePartsOf(context, catalogue))
  const { id, title, source, each } = rule
  const here = { ...shell.here(), timezone: building.timezone }
  const body = paramBody({
    ...shown,
    rule: { id, title, source, isOverRoles: each !== undefined },
    buildings: model.buildings(),
    params: cardsOf(rule, settings, equipment),
    settings: settings.filter(setting => setting.rule_id === rule_id),
    equipment: equipment.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    roles: rolesOf(context, rule, building_id, equipment),
    ranBy: ranBy(context, building_id),
    here,
    user: shell.userOf(call.caller),
    csrf: shell.csrfOf(call.caller),
  })
  return shell.document(call, { title: `Parameters of ${id}`, current: '/params', here }, body)
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

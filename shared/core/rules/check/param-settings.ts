/** Values that people have set for parameters of rules, and which of them counts for an equipment. */
import type { ParamValue } from '#shared/core/findings/finding.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { getOwn } from '#shared/core/get-own.ts'
import type { RuleParam, Program, Rule } from './rule.ts'

/** Wider first: a narrower one counts before it. */
export const PARAM_SCOPES = ['site', 'type', 'equipment'] as const
export type ParamScope = (typeof PARAM_SCOPES)[number]

/** One parameter of one rule, set for a site, for its equipment of one type, or for one equipment. */
export type ParamSetting = {
  rule_id: string
  param: string
  scope: ParamScope
  /** Site id, equipment type or equipment id. */
  scope_id: string
  /** Of a rule over every role: the role alone for which it counts. */
  role?: string
  /** In `unit`, which is the parameter's own. */
  value: number
  unit: string
}

/** What of a rule decides which settings it takes. */
export type ParamOwner = Pick<Rule, 'id' | 'params' | 'equipment'> & { each?: Program['each'] }

export function paramOwner({ id, params, equipment, program: { each } }: Rule): ParamOwner {
  return { id, params, equipment, ...(each && { each }) }
}

/** The unit in which a parameter is written; one of `any` unit has that of the role for which the rule runs. */
export const unitOfParam = ({ unit }: RuleParam, role: string | undefined): string =>
  unit === 'any' ? (getOwn(ROLES, role ?? '')?.unit ?? 'count') : unit

/** What counts where nobody has set anything: the rule's value for the role or for its unit, else for all. */
export function defaultOf(param: RuleParam, role: string | undefined): number {
  const special = role === undefined ? undefined : (param.perRole?.[role] ?? param.perRole?.[getOwn(ROLES, role)?.unit ?? ''])
  return special ?? param.default
}

/**
 * Why a setting cannot count, in words; undefined when it can.
 *
 * @param rule the rule that it names, undefined when there is none any more
 */
export function settingProblem(
  setting: Omit<ParamSetting, 'scope' | 'scope_id'>,
  rule: ParamOwner | undefined,
): string | undefined {
  const { rule_id, param: name, role, value, unit } = setting
  if (!rule) return `there is no rule ${rule_id}`
  const param = getOwn(rule.params, name)
  if (!param) return `${rule_id} has no parameter ${name}`
  if (role !== undefined && !rule.each) return `${rule_id} does not run over roles`
  if (role !== undefined && !getOwn(ROLES, role)) return `there is no role ${role}`
  if (param.unit === 'any' && role === undefined) return `${name} has another unit for every role, so a role must be named`
  const expected = unitOfParam(param, role)
  if (unit !== expected) return `${name} is in ${expected}, not in ${unit}`
  if (value >= param.min && value <= param.max) return undefined
  return `${name} takes ${param.min} to ${param.max} ${expected}, not ${value}`
}

/**
 * The setting that counts: equipment before type before site, and one for the role before one for every role. One that
 * cannot count is passed over.
 *
 * @param settings of the equipment's building
 */
export function settingFor(
  settings: ParamSetting[],
  rule: ParamOwner,
  name: string,
  equipment: { equipment_id: string; equipment_type: EquipmentType },
  role: string | undefined,
): ParamSetting | undefined {
  const fitting = settings.filter(
    setting =>
      setting.rule_id === rule.id &&
      setting.param === name &&
      (setting.role === undefined || setting.role === role) &&
      appliesTo(setting, equipment) &&
      settingProblem(setting, rule) === undefined,
  )
  return fitting.toSorted((a, b) => rank(b) - rank(a))[0]
}

const rank = ({ scope, role }: ParamSetting): number => PARAM_SCOPES.indexOf(scope) * 2 + (role === undefined ? 0 : 1)

/** Whether two settings of one building count for the same: the later one stands for the earlier. */
const isSameSetting = (a: ParamSetting, b: ParamSetting): boolean =>
  a.rule_id === b.rule_id && a.param === b.param && a.scope === b.scope && a.scope_id === b.scope_id && a.role === b.role

/** @returns `settings` as they would be with `proposed` set */
export const withProposed = (settings: ParamSetting[], proposed: ParamSetting[]): ParamSetting[] => [
  ...settings.filter(one => !proposed.some(other => isSameSetting(one, other))),
  ...proposed,
]

/** One value of a parameter, and the equipment on which it counts. */
export type ParamUse = { value: number; source: ParamValue['source']; equipment_ids: string[] }

/**
 * Which values of a parameter count where, for the equipment that the rule is for; values of a single role apart.
 *
 * @param settings of the equipment's building
 * @returns the commonest first
 */
export function paramUses(
  rule: ParamOwner,
  name: string,
  settings: ParamSetting[],
  equipment: { equipment_id: string; equipment_type: EquipmentType }[],
): ParamUse[] {
  const uses = new Map<string, ParamUse>()
  for (const one of equipment.filter(({ equipment_type }) => appliesToType(rule, equipment_type))) {
    const set = settingFor(settings, rule, name, one, undefined)
    const value = set?.value ?? defaultOf(rule.params[name]!, undefined)
    const source = set?.scope ?? 'default'
    const use = uses.get(`${source} ${value}`) ?? { value, source, equipment_ids: [] }
    uses.set(`${source} ${value}`, use)
    use.equipment_ids.push(one.equipment_id)
  }
  return [...uses.values()].toSorted((a, b) => b.equipment_ids.length - a.equipment_ids.length)
}

export const appliesToType = ({ equipment }: Pick<Rule, 'equipment'>, type: EquipmentType): boolean =>
  equipment.includes('any') || equipment.includes(type)

function appliesTo(
  { scope, scope_id }: ParamSetting,
  { equipment_id, equipment_type }: { equipment_id: string; equipment_type: EquipmentType },
): boolean {
  if (scope === 'site') return true
  return scope_id === (scope === 'type' ? equipment_type : equipment_id)
}

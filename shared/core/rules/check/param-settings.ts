/** Settings of rule parameters, and which of them applies to an equipment. */
import type { ParamValue } from '#shared/core/findings/finding.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { getOwn } from '#shared/core/get-own.ts'
import type { RuleParam, Program, Rule } from './rule.ts'

/** Wider first; a narrower scope takes precedence. */
export const PARAM_SCOPES = ['site', 'type', 'equipment'] as const
export type ParamScope = (typeof PARAM_SCOPES)[number]

/** One parameter of one rule, set for a site, for its equipment of one type, or for one equipment. */
export type ParamSetting = {
  rule_id: string
  param: string
  scope: ParamScope
  /** Site id, equipment type or equipment id. */
  scope_id: string
  /** For a rule that runs over roles: the only role to which the setting applies. */
  role?: string
  /** In `unit`, the unit of the parameter. */
  value: number
  unit: string
}

/** The properties of a rule that decide which settings it accepts. */
export type ParamOwner = Pick<Rule, 'id' | 'params' | 'equipment'> & { each?: Program['each'] }

export function paramOwner({ id, params, equipment, program: { each } }: Rule): ParamOwner {
  return { id, params, equipment, ...(each && { each }) }
}

/** The unit of a parameter; one of `any` unit has the unit of the role to which the rule is bound. */
export const unitOfParam = ({ unit }: RuleParam, role: string | undefined): string =>
  unit === 'any' ? (getOwn(ROLES, role ?? '')?.unit ?? 'count') : unit

/** The value without any setting: that of the rule for the role or for its unit, otherwise the default. */
export function defaultOf(param: RuleParam, role: string | undefined): number {
  const special = role === undefined ? undefined : (param.perRole?.[role] ?? param.perRole?.[getOwn(ROLES, role)?.unit ?? ''])
  return special ?? param.default
}

/**
 * The reason why a setting cannot apply, in words; undefined when it can.
 *
 * @param rule the rule that it names, undefined when there is no such rule any more
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
 * The setting that applies: equipment before type before site, and one for the role before one for all roles. Invalid
 * settings are ignored.
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

/** Whether two settings of one building have the same target, so that the later replaces the earlier. */
const isSameSetting = (a: ParamSetting, b: ParamSetting): boolean =>
  a.rule_id === b.rule_id && a.param === b.param && a.scope === b.scope && a.scope_id === b.scope_id && a.role === b.role

/** @returns `settings` as they would be with `proposed` set */
export const withProposed = (settings: ParamSetting[], proposed: ParamSetting[]): ParamSetting[] => [
  ...settings.filter(one => !proposed.some(other => isSameSetting(one, other))),
  ...proposed,
]

/** One value of a parameter, and the equipment to which it applies. */
export type ParamUse = { value: number; source: ParamValue['source']; equipment_ids: string[] }

/**
 * The values of a parameter and the equipment to which they apply; settings for a single role are ignored.
 *
 * @param settings of the equipment's building
 * @returns the most frequent value first
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

import type { Building } from '#shared/core/model/model.ts'
import { needBuilding, needRule } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { type ParamOwner, type ParamScope, settingProblem, unitOfParam } from '#shared/core/rules/check/param-settings.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { SettingKey, SettingStore, StoredSetting } from '#shared/core/tuning.ts'
import { scopeIdOf } from './backtest.ts'

/** The key of a setting in a request. */
export type SettingName = {
  building_id: string
  rule_id: string
  param: string
  scope: ParamScope
  /** Equipment type or equipment id; the site's needs none. */
  scope_id?: string
  role?: string
}
export type SettingRequest = SettingName & {
  value: number
  /** The unit of the parameter; a value in another unit is refused. */
  unit?: string
  note?: string
}
export type TuneParts = {
  model: Pick<ModelStore, 'building' | 'equipment'>
  paramSettings: SettingStore
  /** Returns the loaded rules with these ids. */
  findRules: (ids: Iterable<string>) => Map<string, ParamOwner>
}

/** A setting, with the reason if it does not apply. */
export type ListedSetting = StoredSetting & { problem?: string }

/** Sets a parameter for a site, a type or an equipment; the next run uses it. */
export function setParam(
  request: SettingRequest,
  by: Pick<StoredSetting, 'changed_by' | 'changed_at'>,
  { model, paramSettings, findRules }: TuneParts,
  dry: boolean,
): { before: StoredSetting | undefined; after: StoredSetting } {
  const { rule_id, param, value, note } = request
  const building = needBuilding(model, request.building_id)
  const scope_id = scopeIdOf(request, building.site_id, model.equipment(building.building_id))
  const owner = needRule(findRules([rule_id]), rule_id)
  const spec = Object.hasOwn(owner.params, param) ? owner.params[param] : undefined
  const unit = request.unit ?? (spec ? unitOfParam(spec, request.role) : '')
  const after: StoredSetting = {
    ...keyOf(request, scope_id, building),
    value,
    unit,
    ...by,
    ...(note?.trim() && { note: note.trim() }),
  }
  const message = settingProblem(after, owner)
  if (message !== undefined) throw new Problem('invalid', message, [{ pointer: pointerOf(after, owner), message }])
  const before = paramSettings.get(after)
  if (!dry) paramSettings.put(after)
  return { before, after }
}

/** The field to which a refusal points. */
function pointerOf({ param, role, unit, value }: StoredSetting, owner: ParamOwner): string {
  const spec = Object.hasOwn(owner.params, param) ? owner.params[param] : undefined
  if (!spec) return '/param'
  const wrongRole = settingProblem(
    { rule_id: owner.id, param, value: spec.default, unit: unitOfParam(spec, role), ...(role !== undefined && { role }) },
    owner,
  )
  if (wrongRole !== undefined) return '/role'
  return unit === unitOfParam(spec, role) && !(value >= spec.min && value <= spec.max) ? '/value' : '/unit'
}

/** Removes a setting, also one that no longer applies; a wider setting then applies again. */
export function removeParam(
  name: SettingName,
  { model, paramSettings }: Omit<TuneParts, 'findRules'>,
  dry: boolean,
): StoredSetting {
  const building = needBuilding(model, name.building_id)
  const key = keyOf(name, name.scope_id ?? building.site_id, building)
  const before = paramSettings.get(key)
  if (!before) throw new Problem('not_found', `${name.param} of ${name.rule_id} is not set for this ${name.scope}`)
  if (!dry) paramSettings.remove(key)
  return before
}

/** The settings of a building, each with the reason if it does not apply. @throws Problem unknown_building */
export function listParams(building_id: string, { model, paramSettings, findRules }: TuneParts): ListedSetting[] {
  const { site_id } = needBuilding(model, building_id)
  const settings = paramSettings.list({ site_id, building_id })
  const rules = findRules(settings.map(({ rule_id }) => rule_id))
  const equipment = new Set(model.equipment(building_id).map(({ equipment_id }) => equipment_id))
  return settings.map(setting => {
    const gone = setting.scope === 'equipment' && !equipment.has(setting.scope_id)
    const problem = gone ? `there is no equipment ${setting.scope_id}` : settingProblem(setting, rules.get(setting.rule_id))
    return { ...setting, ...(problem !== undefined && { problem }) }
  })
}

const keyOf = (
  { rule_id, param, scope, role }: SettingName,
  scope_id: string,
  { site_id, building_id }: Building,
): SettingKey => {
  return {
    rule_id,
    param,
    scope,
    scope_id,
    site_id,
    ...(role !== undefined && { role }),
    ...(scope === 'equipment' && { building_id }),
  }
}

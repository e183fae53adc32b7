/** Values of parameters, and where they are set, as people read them. */
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import { formatParam, unitLabel, type UnitSystem } from '#shared/central/ui/measure.ts'
import { say, sayFigure } from '#shared/node/http/language.ts'

/** Units that say nothing beside a figure. */
const BARE = new Set(['fraction', 'count', 'bool'])

/** @returns the figure as it is set, and as the building reads it where that differs: `1.1 K (2 °F)`, `0.95 (95 %)` */
export function paramWords(value: number, unit: string, system: UnitSystem): string {
  const own = BARE.has(unit) ? sayFigure(value) : `${sayFigure(value)} ${unitLabel(unit)}`
  const read = formatParam(value, unit, system)
  return own === read ? own : `${own} (${read})`
}

/** @returns for what a setting counts: `the site riverside`, `every vav`, `Air handler 1`, with the role where it is for one */
export function placeWords(
  { scope, scope_id, role }: Pick<ParamSetting, 'scope' | 'scope_id' | 'role'>,
  name = scope_id,
): string {
  const place =
    scope === 'site' ? say`the site ${scope_id}` : scope === 'type' ? say`every ${scope_id.replaceAll('_', ' ')}` : name
  return role === undefined ? place : say`${place}, ${role} alone`
}

/** Evidence from unit, kind and values of a point, and hypotheses where they are not stated. */
import type { PointKind } from '#shared/core/model/model.ts'
import type { Role } from '#shared/core/model/role.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'

/** Minimum and maximum of a numeric column, and whether it contains only 0 and 1. */
export type Values = { min: number; max: number; isOnOff: boolean }

/** One interpretation of a point. */
export type Hypothesis = {
  kind: PointKind
  /** Undefined where the unit is open. */
  unit: string | undefined
  /** Factor for the confidence of suggestions under this hypothesis. */
  share: number
}

/** Factor where a number without stated unit is read as a flag. */
const FLAG_SHARE = 0.97
/** Factor where a column with only 0 and 1 is read as a signal: it may have been at its end stops. */
const SIGNAL_SHARE = 0.9
/** Factor where the unit is not stated: nothing contradicts the name, but nothing supports it. */
const UNSTATED_SHARE = 0.95

type Given = { kind: PointKind; unit?: string; values?: Values }

/** @returns the possible interpretations of a point, between which the name decides */
export function hypothesesOf({ kind, unit, values }: Given): Hypothesis[] {
  const isBare = unit === undefined || unit === 'count'
  if (kind !== 'number' || !isBare) return [{ kind, unit, share: 1 }]
  const asNumber = { kind, unit, share: unit === undefined ? UNSTATED_SHARE : 1 }
  const asFlag = { kind: 'bool' as const, unit: 'bool', share: FLAG_SHARE }
  if (values === undefined) return [asFlag, asNumber]
  return values.isOnOff ? [asFlag, { ...asNumber, share: SIGNAL_SHARE }] : [asNumber]
}

/** Whether kind and unit fit the role: a number is no switch, and a temperature is no pressure. */
export function fitsKind(role: Pick<Role, 'unit' | 'kind'>, { kind, unit }: Hypothesis): boolean {
  if (role.kind !== 'number' || kind !== 'number') return role.kind === kind || (role.kind !== 'number' && kind !== 'number')
  return unit === undefined || conversion(unit, role.unit) !== undefined
}

/**
 * @returns whether the values are plausible for the role in some unit of its quantity. Values are ignored where the unit is
 *   stated: a failed sensor still has its role.
 */
export function fitsValues(
  role: Pick<Role, 'unit' | 'kind' | 'range'>,
  { unit }: Hypothesis,
  values: Values | undefined,
): boolean {
  if (values === undefined || unit !== undefined || role.kind !== 'number') return true
  const [lowest, highest] = role.range
  return Object.keys(UNITS).some(code => {
    const way = conversion(code, role.unit)
    return way !== undefined && values.min * way.scale + way.offset >= lowest && values.max * way.scale + way.offset <= highest
  })
}

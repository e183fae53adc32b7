/** What unit, kind and values say of a point, and what it may be where nobody has stated them. */
import type { PointKind } from '#shared/core/model/model.ts'
import type { Role } from '#shared/core/model/role.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'

/** Of a column of numbers: its least and greatest, and whether it holds nothing but 0 and 1. */
export type Values = { min: number; max: number; isOnOff: boolean }

/** One way to read a point. */
export type Hypothesis = {
  kind: PointKind
  /** Undefined where any unit may be meant. */
  unit: string | undefined
  /** What a suggestion keeps of its confidence when this is how it was found. */
  share: number
}

/** A number whose unit nobody stated may be a flag. */
const FLAG_SHARE = 0.97
/** A signal that has been at its end stops only looks like a flag. */
const SIGNAL_SHARE = 0.9
/** Nothing contradicts the name where the unit is not stated, and nothing supports it. */
const UNSTATED_SHARE = 0.95

type Given = { kind: PointKind; unit?: string; values?: Values }

/** @returns the ways to read a point, all of which the name may decide between */
export function hypothesesOf({ kind, unit, values }: Given): Hypothesis[] {
  const isBare = unit === undefined || unit === 'count'
  if (kind !== 'number' || !isBare) return [{ kind, unit, share: 1 }]
  const asNumber = { kind, unit, share: unit === undefined ? UNSTATED_SHARE : 1 }
  const asFlag = { kind: 'bool' as const, unit: 'bool', share: FLAG_SHARE }
  if (values === undefined) return [asFlag, asNumber]
  return values.isOnOff ? [asFlag, { ...asNumber, share: SIGNAL_SHARE }] : [asNumber]
}

/** A number is no switch, and a temperature no pressure. */
export function fitsKind(role: Pick<Role, 'unit' | 'kind'>, { kind, unit }: Hypothesis): boolean {
  if (role.kind !== 'number' || kind !== 'number') return role.kind === kind || (role.kind !== 'number' && kind !== 'number')
  return unit === undefined || conversion(unit, role.unit) !== undefined
}

/**
 * @returns whether the values are plausible for the role in any unit of what it measures. Where a unit is stated they decide nothing:
 *   a sensor that has failed stays what it is
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

/** Whether the values of a point fit the unit that it is declared with. */
import type { Point } from './model.ts'
import { ROLES } from './role.ts'
import { conversion, UNITS } from './unit.ts'

type UnitDoubt = {
  /** Lowest and highest value in the unit of the role, as the declared unit makes them. */
  read: [number, number]
  /** What is plausible for the role, in its unit. */
  plausible: readonly [number, number]
  unit: string
  /** Codes of units that would make the values plausible. */
  instead: string[]
}
/** A point with the lowest and highest of its values, in its own unit, that do not fit it. */
export type Doubtful = { point: Point; values: [number, number]; doubt: UnitDoubt }

/**
 * @param values lowest and highest value of some time, in the point's own unit
 * @returns undefined where they are plausible for the role, or the role has no quantity to compare with
 */
export function unitDoubt(
  { role = '', unit, kind }: { role?: string; unit: string; kind: string },
  values: readonly [number, number],
): UnitDoubt | undefined {
  const known = ROLES[role]
  if (!known || known.kind !== 'number' || kind !== 'number') return undefined
  const as = (code: string): [number, number] | undefined => {
    const way = conversion(code, known.unit)
    return way && [values[0] * way.scale + way.offset, values[1] * way.scale + way.offset]
  }
  const fits = (read: readonly [number, number] | undefined) =>
    read !== undefined && read[0] >= known.range[0] && read[1] <= known.range[1]
  const read = as(unit)
  if (!read || fits(read)) return undefined
  const instead = Object.keys(UNITS).filter(code => code !== unit && fits(as(code)))
  return { read, plausible: known.range, unit: known.unit, instead }
}

/**
 * Names such as `fan-cmd` stand for a command or for a speed, and the values decide: only off and on is a command, values
 * between them are a speed. Until they are read, a column is planned as both.
 */
import type { Point } from '#shared/core/model/model.ts'
import { SPEED_OF } from '../suggest/reference-names.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'
import type { CheckReport } from './checks.ts'
import type { Column, HeldChecks, Units } from './column.ts'

/** @returns the present role of a column with the name of a command: an earlier package may have decided it */
export const settledRole = (named: string | undefined, point: Point | undefined): string | undefined =>
  named !== undefined && point?.role !== undefined && SPEED_OF[named] === point.role ? point.role : named

/**
 * @param role role of the column as a command
 * @param taken roles of the other columns
 * @param unitsOf returns the units of the column in a role, given the history of a point, and reports its checks
 * @returns units as a command and as a speed; undefined where there is nothing to decide
 */
export function planBoth(
  role: string | undefined,
  point: Point | undefined,
  taken: ReadonlySet<string | undefined>,
  unitsOf: (role: string, checks: CheckReport, point: Point | undefined) => Units,
): Pick<Column, keyof Units | 'checks' | 'speed'> | undefined {
  const speed = role === undefined ? undefined : SPEED_OF[role]
  if (speed === undefined || taken.has(speed) || (point && point.unit !== 'bool')) return undefined
  const [command, drive] = [holdChecks(), holdChecks()]
  const units = unitsOf(role!, command, point)
  const asSpeed = unitsOf(speed, drive, undefined)
  // Stored off and on are 0 and 1 as a fraction as well.
  const way = point && conversion(asSpeed.unit, 'fraction')
  const held = way ? { ...asSpeed, ...way, historyUnit: 'fraction' } : asSpeed
  // A command with a unit of fraction is still 0 or 1.
  const isShare = UNITS[units.unit]!.dimension === 'fraction'
  const asBool = { unit: 'bool', historyUnit: 'bool', scale: 1, offset: 0, unitStated: true }
  return {
    ...(isShare ? asBool : units),
    checks: isShare ? [] : command.held,
    speed: { role: speed, ...held, checks: drive.held },
  }
}

const holdChecks = (): CheckReport & { held: HeldChecks } => {
  const held: HeldChecks = []
  return { held, add: (...check) => void held.push(check), list: () => [] }
}

/** @returns the column as a command or a speed, after reporting the checks of its unit */
export function settleSpeed(column: Column, isSpeed: boolean, checks: CheckReport): Column {
  const { speed, checks: asCommand = [], ...rest } = column
  for (const check of isSpeed && speed ? speed.checks : asCommand) checks.add(...check)
  if (!isSpeed || !speed) return rest
  const { checks: _held, ...units } = speed
  return { ...rest, ...units }
}

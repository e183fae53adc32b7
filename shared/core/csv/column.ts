/** One column of a table and the point that it becomes. */
import type { Point } from '#shared/core/model/model.ts'
import type { CheckReport } from './checks.ts'

/** Checks that are reported only if the column turns out to be of the kind for which they were made. */
export type HeldChecks = Parameters<CheckReport['add']>[]

export const COLUMN_STATUSES = ['mapped', 'unmapped', 'ambiguous'] as const

export type Column = {
  /** Index of the cell in a row; the timestamp is 0. */
  index: number
  header: string
  role: string | undefined
  /** Code of the unit in the file. */
  unit: string
  /** Code of the unit in history: `value × scale + offset`. */
  historyUnit: string
  scale: number
  offset: number
  /** Whether the unit was stated; otherwise it is the default of the role. */
  unitStated: boolean
  status: (typeof COLUMN_STATUSES)[number]
  /** A name that a person has given, if any. */
  name?: string
  /** The point with the history of this column so far. */
  point: Point | undefined
  /** For the name of a command: the column as a speed, in case its values lie between off and on. */
  speed?: Units & { role: string; checks: HeldChecks }
  /** Checks of the units that apply if the column is a command. */
  checks?: HeldChecks
}

export type Units = Pick<Column, 'unit' | 'historyUnit' | 'scale' | 'offset' | 'unitStated'>

/** One column of a table and the point that it becomes. */
import type { Point } from '#shared/core/model/model.ts'
import type { CheckReport } from './checks.ts'

/** Checks that are only reported if the column turns out to be the kind that they were made for. */
export type HeldChecks = Parameters<CheckReport['add']>[]

export type Column = {
  /** Cell of the row; the timestamp is 0. */
  index: number
  header: string
  role: string | undefined
  /** Code of the unit in which the file has its numbers … */
  unit: string
  /** … and of the one in which history has or will have them; `value × scale + offset` leads there. */
  historyUnit: string
  scale: number
  offset: number
  /** Whether someone stated the unit, or it is the one that the role has by itself. */
  unitStated: boolean
  status: 'mapped' | 'unmapped' | 'ambiguous'
  /** What people call it, where they have said. */
  name?: string
  /** The point that has this column's history so far. */
  point: Point | undefined
  /** Of a column that names a command: what it is where its values lie between off and on. */
  speed?: Units & { role: string; checks: HeldChecks }
  /** What there is to say of the units as long as it is a command. */
  checks?: HeldChecks
}

export type Units = Pick<Column, 'unit' | 'historyUnit' | 'scale' | 'offset' | 'unitStated'>

/** A node of the column graph: one column of values for each building day. */
import type { Leaf } from '#shared/core/rules/compile/equipment-context.ts'
import type { DayRows } from './day-rows.ts'
import type { MinuteHistory } from './minute-history.ts'
import type { NodeState } from './node-state.ts'

export type Node = {
  id: number
  /** The day's values. They lie in `buffer`, in the samples of a role, or in a column of constants that many nodes share. */
  out: Float64Array
  buffer: Float64Array
  /** The node that stores the minutes of this one for the windows over it. */
  minutesNode: Node | undefined
  /** Of such a node: the minutes, and the length of the longest window over them, minutes. */
  history: MinuteHistory | undefined
  reach: number
  inputs: Node[]
  run: (rows: DayRows) => void
  /** Index of the day that `out` holds. */
  dayIndex: number
  /** Its values depend on earlier days; `save` gives its state after the day that `out` holds. */
  isStateful: boolean
  save: (() => NodeState) | undefined
  /** The role that it reads. */
  leaf: Leaf | undefined
}

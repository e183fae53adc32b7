/** One node of the graph of columns. */
import type { Leaf } from '#shared/core/rules/compile/equipment-context.ts'
import type { NodeState } from './node-state.ts'
import type { MinuteHistory } from './minute-history.ts'
import type { DayRows } from './day-rows.ts'

export type Node = {
  id: number
  /** The day's figures: in a column of its own, or, of a role, in the samples themselves; a constant's serves many. */
  out: Float64Array
  own: Float64Array
  /** The node that keeps its minutes, where windows look at them; of that node the minutes, and how many the longest sees. */
  minutes: Node | undefined
  past: MinuteHistory | undefined
  reach: number
  inputs: Node[]
  run: (rows: DayRows) => void
  /** Index of the day that `out` holds. */
  done: number
  /** Of `orderOf`, the last in which it was met. */
  round: number
  /** Its figures hang on days before; `save` gives what it remembers after the day that `out` holds. */
  remembers: boolean
  save: (() => NodeState) | undefined
  /** The role that it reads. */
  leaf: Leaf | undefined
}

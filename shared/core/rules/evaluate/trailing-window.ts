/**
 * Window functions over days of full minutes. Most buildings are read once a minute; a window is then a number of array
 * elements, and the minutes before the day are the only state. Any other day is calculated change by change, with the same
 * results.
 */
import { MINUTE } from '#shared/core/time.ts'
import type { DayRows } from './day-rows.ts'
import type { MinuteHistory } from './minute-history.ts'
import type { Node } from './node.ts'
import { type NodeState, nestedState } from './node-state.ts'

/** Calculates a window change by change; between two calls it stores the part that the window still covers. */
export type WindowColumn = {
  run(rows: Pick<DayRows, 'n' | 't' | 'minute'>, x: Float64Array, out: Float64Array): void
  save(): NodeState
}

/**
 * Calculates a window of `w` minutes over a day of full minutes.
 *
 * `z` is [w + n]: the minutes before the day, then those of the day. At least `least` of the `w` minutes must be known.
 */
type MinuteWindow = (z: Float64Array, w: number, n: number, least: number, out: Float64Array) => void

/** One window function in both forms, which give the same results. */
export type WindowFunction = { byMinute: MinuteWindow; create: CreateColumn }
type CreateColumn = (windowMs: number, coverMs: number, saved?: NodeState) => WindowColumn

/**
 * @param input the column under the window
 * @param history its minutes, for a window of whole minutes
 * @param coverMs how much of the window must be known
 * @param saved the state of the same node
 */
export function trailingWindowRun(
  node: Node,
  { input, history }: { input: Node; history: MinuteHistory | undefined },
  { windowMs, coverMs }: { windowMs: number; coverMs: number },
  fn: WindowFunction,
  saved?: NodeState,
): Node['run'] {
  const w = windowMs / MINUTE
  let column = saved?.column || !history ? fn.create(windowMs, coverMs, nestedState(saved, 'column')) : undefined
  node.save = () => ({ ...(column && { column: column.save() }) })
  if (!history) return rows => column!.run(rows, input.out, node.out)
  return rows => {
    const { n, isMinutely } = rows
    const minutes = history.minutes.subarray(history.reach - w)
    if (isMinutely && history.known >= w) {
      fn.byMinute(minutes, w, n, coverMs / MINUTE, node.out)
      column = undefined
    } else {
      column ??= replay(fn.create(windowMs, coverMs, undefined), minutes.subarray(0, w), rows.t[0]!)
      column.run(rows, input.out, node.out)
    }
  }
}

/** Feeds the minutes before `from` to a column, which then continues change by change. */
function replay(column: WindowColumn, before: Float64Array, from: number): WindowColumn {
  const n = before.length
  const t = Float64Array.from({ length: n + 1 }, (_, i) => from - (n - i) * MINUTE)
  column.run({ n, t, minute: new Uint8Array(n).fill(1) }, before, new Float64Array(n))
  return column
}

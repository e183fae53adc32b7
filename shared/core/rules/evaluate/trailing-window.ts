/**
 * Days of full minutes. Most buildings are read by the minute, and then a window is so many values of an array: nothing need
 * be remembered but the minutes before. Any other day is reckoned step by step, with the same figures.
 */
import { MINUTE } from '#shared/core/time.ts'
import type { Node } from './node.ts'
import { type NodeState, nestedState } from './node-state.ts'
import type { MinuteHistory } from './minute-history.ts'
import type { DayRows } from './day-rows.ts'

/** Reckons a window over one stretch after another; remembers between them what the window still sees. */
export type WindowColumn = {
  run(rows: Pick<DayRows, 'n' | 't' | 'minute'>, x: Float64Array, out: Float64Array): void
  save(): NodeState
}

/** The same by the minute: `z` is [w + n], the minutes before the day and the day's; `least` of `w` have to be known. */
export type MinuteWindow = (z: Float64Array, w: number, n: number, least: number, out: Float64Array) => void

/** One window function in both ways; they give the same figures. */
export type WindowFunction = { byMinute: MinuteWindow; create: MakeColumn }
type MakeColumn = (windowMs: number, coverMs: number, saved?: NodeState) => WindowColumn

/**
 * @param input the column that is looked at
 * @param past its minutes, for a window of whole minutes
 * @param coverMs how much of the window has to be known
 * @param saved what the same node remembered
 */
export function trailingWindowRun(
  node: Node,
  { input, past }: { input: Node; past: MinuteHistory | undefined },
  { windowMs, coverMs }: { windowMs: number; coverMs: number },
  ways: WindowFunction,
  saved?: NodeState,
): Node['run'] {
  const w = windowMs / MINUTE
  let column = saved?.column || !past ? ways.create(windowMs, coverMs, nestedState(saved, 'column')) : undefined
  node.save = () => ({ ...(column && { column: column.save() }) })
  if (!past) return rows => column!.run(rows, input.out, node.out)
  return rows => {
    const { n, isMinutely } = rows
    const seen = past.minutes.subarray(past.reach - w)
    if (isMinutely && past.known >= w) {
      ways.byMinute(seen, w, n, coverMs / MINUTE, node.out)
      column = undefined
    } else {
      column ??= remembering(ways.create(windowMs, coverMs, undefined), seen.subarray(0, w), rows.t[0]!)
      column.run(rows, input.out, node.out)
    }
  }
}

/** Goes on step by step after days by the minute: what a window saw of them is told once more. */
function remembering(column: WindowColumn, before: Float64Array, from: number): WindowColumn {
  const n = before.length
  const t = Float64Array.from({ length: n + 1 }, (_, i) => from - (n - i) * MINUTE)
  column.run({ n, t, minute: new Uint8Array(n).fill(1) }, before, new Float64Array(n))
  return column
}

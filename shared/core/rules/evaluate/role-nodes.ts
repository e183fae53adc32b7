/** Nodes that read samples: the values of a role, and their age. */
import { MINUTE } from '#shared/core/time.ts'
import { isUntrusted } from '#shared/core/series/untrusted-spans.ts'
import type { Node } from './node.ts'
import { type NodeState, restoreState, saveState } from './node-state.ts'
import { firstAtOrAfter, type StepSignal } from '#shared/core/rules/compile/step-signal.ts'

/** Why a role has no usable value at a row; 0 when it has one. */
const [, NO_DATA, STALE, OUT_OF_RANGE, UNTRUSTED] = [0, 1, 2, 3, 4] as const

/** The values of a role at the rows of a day. */
export function roleRun(node: Node, steps: StepSignal, raw: boolean): Node['run'] {
  const { ts, holdMs, isMinutely: minutely } = steps
  const values = raw ? (steps.read ?? steps.values) : steps.values
  const low = raw ? -Infinity : steps.low
  const high = raw ? Infinity : steps.high
  let next = 0
  return ({ t, n, isMinutely }) => {
    const first = (t[0]! - ts[0]!) / MINUTE
    if (minutely && isMinutely && first >= 0 && first + n <= ts.length) {
      node.out = values.subarray(first, first + n)
      return
    }
    const out = node.out
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      while (next < ts.length && ts[next]! <= at) next++
      const value = next > 0 && at < ts[next - 1]! + holdMs ? values[next - 1]! : Number.NaN
      out[i] = value >= low && value <= high ? value : Number.NaN
    }
  }
}

/** Why a role has no usable value at an instant: 0 to 4, see `NO_DATA` and the constants beside it. */
export function roleState(steps: StepSignal, at: number, raw: boolean): number {
  const index = firstAtOrAfter(steps.ts, at + 1) - 1
  if (index < 0) return NO_DATA
  if (steps.untrusted && isUntrusted(steps.untrusted, steps.ts[index]!)) return UNTRUSTED
  if (at >= steps.ts[index]! + steps.holdMs) return STALE
  const value = (raw ? (steps.read ?? steps.values) : steps.values)[index]!
  if (value !== value) return NO_DATA
  return raw || (value >= steps.low && value <= steps.high) ? 0 : OUT_OF_RANGE
}

/** Time since the last sample with a value, also with one that is doubted or not trusted, s; known from the first such sample on. */
export function ageRun(node: Node, { ts, untrusted = [], ...steps }: StepSignal, saved: NodeState | undefined): Node['run'] {
  const values = steps.read ?? steps.values
  let next = 0
  const state = restoreState({ last: Number.NaN, held: Number.NaN }, saved)
  node.save = () => saveState(state)
  return ({ t, minute, n }) => {
    const out = node.out
    let { last, held } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      for (; next < ts.length && ts[next]! <= at; next++) {
        if (values[next] === values[next] || isUntrusted(untrusted, ts[next]!)) last = ts[next]!
      }
      if (minute[i] === 1) held = (at - last) / 1000
      out[i] = held
    }
    Object.assign(state, { last, held })
  }
}

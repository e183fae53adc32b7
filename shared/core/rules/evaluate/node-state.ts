/**
 * The state of operators from day to day, saved as plain data. A run that resumes from it gives bit for bit the
 * results of a run that never stopped.
 */
import { type Pairs, RingBuffer } from './ring-buffer.ts'

/** A saved state; it shares nothing with the operator that saved it. */
export type NodeState = { [name: string]: number | boolean | Float64Array | Pairs | NodeState }

type LiveState = Record<string, number | boolean | RingBuffer>

/**
 * @param initial the state with which an operator begins
 * @param saved what `saveState` gave for the same operator
 * @returns `initial`, changed to what was saved
 */
export function restoreState<T extends LiveState>(initial: T, saved: NodeState | undefined): T {
  const state: LiveState = initial
  for (const name in saved) {
    const current = state[name]
    if (current instanceof RingBuffer) current.load(saved[name] as Pairs)
    else if (current !== undefined) state[name] = saved[name] as number | boolean
  }
  return initial
}

export const saveState = (state: LiveState): NodeState =>
  Object.fromEntries(Object.entries(state).map(([name, value]) => [name, value instanceof RingBuffer ? value.pairs() : value]))

/** A copy of plain data that shares nothing with the original. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Float64Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(deepCopy) as T
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, deepCopy(each)])) as T
  const copy = { ...value }
  for (const key in copy) copy[key] = deepCopy(copy[key])
  return copy
}

/** The state of an operator inside another one. */
export const nestedState = (saved: NodeState | undefined, name: string): NodeState | undefined =>
  saved?.[name] as NodeState | undefined

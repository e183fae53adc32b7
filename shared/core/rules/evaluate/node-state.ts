/**
 * What operators remember from day to day, saved as plain data: a run that goes on from it is, to the bit, the run that
 * never stopped.
 */
import { type Pairs, RingBuffer } from './ring-buffer.ts'

/** Saved; shared with nothing that goes on changing. */
export type NodeState = { [name: string]: number | boolean | Float64Array | Pairs | NodeState }

type Remembered = Record<string, number | boolean | RingBuffer>

/**
 * @param fresh what an operator begins with
 * @param saved what `saveOf` gave for the same operator
 * @returns `fresh`, with what was saved in it
 */
export function restoreState<T extends Remembered>(fresh: T, saved: NodeState | undefined): T {
  const held: Remembered = fresh
  for (const [name, value] of Object.entries(saved ?? {})) {
    const now = held[name]
    if (now instanceof RingBuffer) now.load(value as Pairs)
    else if (now !== undefined) held[name] = value as number | boolean
  }
  return fresh
}

export const saveState = (held: Remembered): NodeState =>
  Object.fromEntries(Object.entries(held).map(([name, value]) => [name, value instanceof RingBuffer ? value.pairs() : value]))

/** A copy of plain data that shares nothing with it. */
export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Float64Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(deepCopy) as T
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, deepCopy(each)])) as T
  const copy = { ...value }
  for (const key in copy) copy[key] = deepCopy(copy[key])
  return copy
}

/** The memory of an operator inside another. */
export const nestedState = (saved: NodeState | undefined, name: string): NodeState | undefined =>
  saved?.[name] as NodeState | undefined

/**
 * What operators remember from day to day, saved as plain data: a run that goes on from it is, to the bit, the run that
 * never stopped.
 */
import { type Pairs, Ring } from './ring-buffer.ts'

/** Saved; shared with nothing that goes on changing. */
export type Memory = { [name: string]: number | boolean | Float64Array | Pairs | Memory }

type Remembered = Record<string, number | boolean | Ring>

/**
 * @param fresh what an operator begins with
 * @param saved what `saveOf` gave for the same operator
 * @returns `fresh`, with what was saved in it
 */
export function recall<T extends Remembered>(fresh: T, saved: Memory | undefined): T {
  const held: Remembered = fresh
  for (const [name, value] of Object.entries(saved ?? {})) {
    const now = held[name]
    if (now instanceof Ring) now.load(value as Pairs)
    else if (now !== undefined) held[name] = value as number | boolean
  }
  return fresh
}

export const saveOf = (held: Remembered): Memory =>
  Object.fromEntries(Object.entries(held).map(([name, value]) => [name, value instanceof Ring ? value.pairs() : value]))

/** A copy of plain data that shares nothing with it. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Float64Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(copyOf) as T
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, copyOf(each)])) as T
  const copy = { ...value }
  for (const key in copy) copy[key] = copyOf(copy[key])
  return copy
}

/** The memory of an operator inside another. */
export const within = (saved: Memory | undefined, name: string): Memory | undefined => saved?.[name] as Memory | undefined

/** Reads members of a decoded body, each with the path it is complained of under. */
import { isId } from '#shared/core/model/model.ts'
import { parseInstant } from '../time.ts'
import type { Decoded } from './body.ts'

/** The error of a reader; `decodeWith` turns it into a returned reason. */
class Unfit extends Error {}

/** @returns what `read` returns, or the reason of the first member that does not fit */
export function decodeWith<T>(read: () => T): Decoded<T> {
  try {
    return { ok: true, value: read() }
  } catch (error) {
    return { ok: false, reason: reasonOf(error) }
  }
}

/** @throws the error where it is none of a reader */
function reasonOf(error: unknown): string {
  if (error instanceof Unfit) return error.message
  throw error
}

/** Where a value is in a body: as text, or as an element of a list, which becomes text only in a complaint. */
export type MemberPath = string | ElementPath
class ElementPath {
  readonly #list: string
  readonly #index: number
  constructor(list: string, index: number) {
    this.#list = list
    this.#index = index
  }
  toString(): string {
    return `${this.#list}[${this.#index}]`
  }
}

export type Fields = { body: Record<string, unknown>; path: MemberPath }

/** @throws Unfit, always: the member at `path` is not `wanted` */
export function unfit(path: MemberPath, wanted: string, value: unknown): never {
  const shown = value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value)).slice(0, 80)
  throw new Unfit(`${path} must be ${wanted}, not ${shown}`)
}

const at = ({ path }: Fields, name: string): string => (path === '' ? name : `${path}.${name}`)

export function fields(value: unknown, path: MemberPath): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return unfit(path, 'an object', value)
  return { body: value as Record<string, unknown>, path }
}

export function text(from: Fields, name: string, maxLength = 1024): string {
  const value = from.body[name]
  return isText(value, maxLength) ? value : asText(value, at(from, name), maxLength)
}
export function asText(value: unknown, path: MemberPath, maxLength = 1024): string {
  return isText(value, maxLength) ? value : unfit(path, `text of at most ${maxLength} characters`, value)
}
const isText = (value: unknown, maxLength: number): value is string => typeof value === 'string' && value.length <= maxLength

export function id(from: Fields, name: string): string {
  const value = from.body[name]
  return isId(value) ? value : asId(value, at(from, name))
}
export function asId(value: unknown, path: MemberPath): string {
  return isId(value) ? value : unfit(path, 'an id of letters, digits and ._-', value)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export function uuid(from: Fields, name: string): string {
  const value = from.body[name]
  return typeof value === 'string' && UUID.test(value) ? value : unfit(at(from, name), 'a UUID', value)
}

/** @returns ms since 1970 UTC */
export function instant(from: Fields, name: string): number {
  const value = from.body[name]
  const ms = typeof value === 'string' ? parseInstant(value) : undefined
  return ms ?? unfit(at(from, name), 'an RFC 3339 time with offset', value)
}

export function number(from: Fields, name: string, min = -Infinity, max = Infinity): number {
  const value = from.body[name]
  const fits = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max
  return fits ? value : unfit(at(from, name), min === -Infinity ? 'a number' : `a number from ${min} to ${max}`, value)
}

export function integer(from: Fields, name: string, min: number): number {
  const value = from.body[name]
  return Number.isSafeInteger(value) && (value as number) >= min
    ? (value as number)
    : unfit(at(from, name), `a whole number of at least ${min}`, value)
}

export function flag(from: Fields, name: string): boolean {
  const value = from.body[name]
  return typeof value === 'boolean' ? value : unfit(at(from, name), 'true or false', value)
}

export function choice<T extends string | number>(from: Fields, name: string, choices: readonly T[]): T {
  const value = from.body[name] as T
  return choices.includes(value) ? value : unfit(at(from, name), `one of ${choices.join(', ')}`, value)
}

/** Reads a list; `read` gets each element with its path. */
export function list<T>(from: Fields, name: string, max: number, read: (value: unknown, path: MemberPath) => T): T[] {
  const value = from.body[name]
  if (!Array.isArray(value) || value.length > max) return unfit(at(from, name), `a list of at most ${max}`, summary(value))
  const path = at(from, name)
  return value.map((element, i) => read(element, new ElementPath(path, i)))
}
const summary = (value: unknown): unknown => (Array.isArray(value) ? `${value.length} elements` : value)

/** An element that does not fit: its path, and why. */
export type Refused = { pointer: string; reason: string }

/** Reads a list whose elements are taken or refused one by one. */
export function usableOf<T>(
  from: Fields,
  name: string,
  max: number,
  read: (value: unknown, path: MemberPath) => T,
): { usable: T[]; refused: Refused[] } {
  const [usable, refused]: [T[], Refused[]] = [[], []]
  list(from, name, max, (value, path) => {
    try {
      usable.push(read(value, path))
    } catch (error) {
      refused.push({ pointer: `${path}`, reason: reasonOf(error) })
    }
  })
  return { usable, refused }
}

/** Reads a member by `read` when it is there. @returns an object to spread: empty when the member is missing */
export function optional<K extends string, T>(from: Fields, name: K, read: (from: Fields, name: K) => T): { [P in K]?: T } {
  return from.body[name] === undefined ? {} : ({ [name]: read(from, name) } as { [P in K]?: T })
}

/**
 * Dimensions: what a value measures, and which values can be combined.
 *
 * Values are in canonical units. A temperature is either absolute (a reading) or a difference; a fraction is a plain number.
 * A number without a unit takes the unit of the value it is combined with (`bare`), and a literal in °C or °F is a reading
 * or a difference as that value requires (`floating`); `unifyTypes` and `unifySum` decide both.
 */
import { UNITS } from '#shared/core/model/unit.ts'

export type ValueType =
  | { kind: 'bool' }
  | { kind: 'bare' }
  | { kind: 'floating'; unit: string }
  /** The role to which a rule that runs over roles is bound; it can be combined with anything. */
  | { kind: 'any' }
  /**
   * `base` is a product such as `flow temperature^-1`; empty for a number. `unit` is the author's unit. `isPoints`: a
   * difference of two fractions, which is shown in percentage points.
   */
  | { kind: 'quantity'; base: string; absolute: boolean; unit?: string; isPoints?: true }

type Quantity = ValueType & { kind: 'quantity' }

/** The unit in which a sentence shows a difference of fractions; values are not stored in it. */
export const PERCENTAGE_POINTS = 'percentage points'

export const NUMBER_TYPE: Quantity = { kind: 'quantity', base: '', absolute: false }
export const TIME_TYPE: Quantity = { kind: 'quantity', base: 'time', absolute: false, unit: 's' }

/** @returns the type of a value in `unit`; `reading` distinguishes a temperature from a difference */
export function typeOfUnit(unit: string, reading: boolean): ValueType {
  const { dimension } = UNITS[unit]!
  if (unit === 'bool') return { kind: 'bool' }
  if (dimension === 'none') return NUMBER_TYPE
  if (dimension === 'fraction') return { ...NUMBER_TYPE, unit }
  if (dimension !== 'temperature') return { kind: 'quantity', base: dimension, absolute: false, unit }
  if (reading) return { kind: 'quantity', base: 'temperature', absolute: true, unit }
  return unit === 'K' ? { kind: 'quantity', base: 'temperature', absolute: false, unit } : { kind: 'floating', unit }
}

/** @returns the value in canonical units of a number in `unit` */
export function toCanonical(value: number, unit: string | undefined, absolute: boolean): number {
  const known = unit === undefined ? undefined : UNITS[unit]
  return known ? value * known.scale + (absolute ? known.offset : 0) : value
}

/** @returns the type in words, for messages */
export function describeType(type: ValueType): string {
  if (type.kind === 'bool') return 'a condition'
  if (type.kind === 'bare') return 'a number'
  if (type.kind === 'floating') return 'a temperature'
  if (type.kind === 'any') return 'any role'
  if (type.base === '') return 'a number or fraction'
  if (type.base === 'temperature') return type.absolute ? 'a temperature' : 'a temperature difference'
  const words = type.base.replaceAll('_', ' ')
  return /[ ^]/.test(type.base) ? words : `${/^[aeio]/.test(words) ? 'an' : 'a'} ${words}`
}

/** A condition counts as 0 or 1 where a number is asked for. */
export const asNumber = (type: ValueType): ValueType => (type.kind === 'bool' ? NUMBER_TYPE : type)

/**
 * The common type of two values that are compared or are alternatives of each other.
 *
 * @returns undefined when there is none
 */
export function unifyTypes(a: ValueType, b: ValueType): ValueType | undefined {
  if (a.kind === 'bool' && b.kind === 'bool') return a
  const left = asNumber(a)
  const right = asNumber(b)
  if (left.kind === 'any') return right.kind === 'quantity' ? right : left
  if (right.kind === 'any') return left.kind === 'quantity' ? left : right
  if (left.kind === 'bare') return right.kind === 'floating' ? reading(right.unit) : right
  if (right.kind === 'bare') return left.kind === 'floating' ? reading(left.unit) : left
  if (left.kind === 'floating') return right.kind === 'floating' ? reading(left.unit) : temperature(right)
  if (right.kind === 'floating') return temperature(left)
  if (left.kind !== 'quantity' || right.kind !== 'quantity') return undefined
  if (left.base !== right.base || left.absolute !== right.absolute) return undefined
  const both = withUnit(left, left.unit ?? right.unit)
  return left.isPoints && right.isPoints ? { ...both, isPoints: true } : both
}

type SumTypes = { left: ValueType; right: ValueType; result: ValueType }

/**
 * The types of `a + b` or `a - b`: that of each side, and that of the result.
 *
 * @returns undefined when the sum has no meaning, such as a temperature plus a temperature
 */
export function unifySum(op: '+' | '-', a: ValueType, b: ValueType): SumTypes | undefined {
  const left = settleLeft(op, asNumber(a), asNumber(b))
  const right = left && settleRight(left, asNumber(b))
  if (!left || !right) return undefined
  if (left.kind !== 'quantity') return { left, right, result: right.kind === 'quantity' ? right : left }
  if (right.kind !== 'quantity') return { left, right, result: left }
  if (left.base !== right.base) return undefined
  if (op === '+' && left.absolute && right.absolute) return undefined
  if (op === '-' && !left.absolute && right.absolute) return undefined
  const absolute = op === '+' ? left.absolute || right.absolute : left.absolute && !right.absolute
  const result: Quantity = { ...withUnit(left, left.unit ?? right.unit), absolute }
  return { left, right, result: op === '-' && isFraction(a) && isFraction(b) ? { ...result, isPoints: true } : result }
}

const isFraction = (type: ValueType): boolean =>
  type.kind === 'quantity' && type.unit !== undefined && UNITS[type.unit]?.dimension === 'fraction'

/** In `1 - x` and `55 degF - x` the literal takes its type from x; in `2 K + x` it is a difference. */
function settleLeft(op: '+' | '-', left: ValueType, right: ValueType): ValueType | undefined {
  if (left.kind !== 'bare' && left.kind !== 'floating') return left
  if (right.kind === 'any' || right.kind === 'bare') return left
  if (right.kind === 'floating') return left.kind === 'bare' ? difference(right.unit) : reading(left.unit)
  if (right.kind !== 'quantity') return undefined
  const absolute = op === '-' && right.absolute
  if (left.kind === 'bare') return { ...right, absolute }
  return right.base === 'temperature' ? { ...right, absolute, unit: left.unit } : undefined
}

/** A literal on the right of + or - is a difference. */
function settleRight(left: ValueType, right: ValueType): ValueType | undefined {
  if (right.kind === 'bare') return left.kind === 'quantity' ? { ...left, absolute: false } : left
  if (right.kind !== 'floating') return right
  return left.kind === 'quantity' && left.base === 'temperature' ? difference(right.unit) : undefined
}

const reading = (unit: string): Quantity => ({ kind: 'quantity', base: 'temperature', absolute: true, unit })
const difference = (unit: string): Quantity => ({ kind: 'quantity', base: 'temperature', absolute: false, unit })
const temperature = (type: ValueType): ValueType | undefined =>
  type.kind === 'quantity' && type.base === 'temperature' ? type : undefined

function withUnit(type: Quantity, unit: string | undefined): Quantity {
  const { base, absolute } = type
  return unit === undefined ? { kind: 'quantity', base, absolute } : { kind: 'quantity', base, absolute, unit }
}

/**
 * The product `a × b^sign`.
 *
 * @returns undefined when it contains a temperature: only differences can be multiplied
 */
export function multiplyTypes(a: ValueType, b: ValueType, sign: 1 | -1): ValueType | undefined {
  const left = asNumber(a)
  const right = asNumber(b)
  if (left.kind === 'any' || right.kind === 'any') return { kind: 'any' }
  if (left.kind === 'bare' && right.kind === 'bare') return left
  const x = factorType(left)
  const y = factorType(right)
  if (!x || !y) return undefined
  if (y.base === '' && y.unit === undefined) return x
  if (x.base === '' && x.unit === undefined && sign === 1) return y
  return withUnit({ ...x, base: product(x.base, y.base, sign) }, undefined)
}

/** @returns the type of a value within a product */
export function factorType(type: ValueType): Quantity | undefined {
  if (type.kind === 'bare' || type.kind === 'bool') return NUMBER_TYPE
  if (type.kind === 'floating') return difference(type.unit)
  return type.kind === 'quantity' && !type.absolute ? type : undefined
}

/** `flow` × `temperature^-1` → `flow temperature^-1` */
function product(a: string, b: string, sign: 1 | -1): string {
  const powers = new Map<string, number>()
  for (const [text, times] of [
    [a, 1],
    [b, sign],
  ] as const) {
    for (const part of text.split(' ').filter(Boolean)) {
      const [name, power = '1'] = part.split('^') as [string, string?]
      powers.set(name, (powers.get(name) ?? 0) + Number(power) * times)
    }
  }
  return [...powers]
    .filter(([, power]) => power !== 0)
    .toSorted(([x], [y]) => (x < y ? -1 : 1))
    .map(([name, power]) => (power === 1 ? name : `${name}^${power}`))
    .join(' ')
}

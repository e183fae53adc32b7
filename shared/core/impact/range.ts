/** Values with their uncertainty. Errors are combined in the worst case, so the true value is hardly ever outside. */
import type { Quantity } from '#shared/core/model/quantity.ts'
import type { Range } from './impact.ts'

/**
 * Relative uncertainty of a value by its source.
 *
 * TAB is the tolerance within which a balancing report is accepted. The others are estimates from practice: a measurement on
 * site is better than a balancing report, a rating holds at rated conditions, a design value is what was ordered and not
 * what was built, and an assumed value may be 50 % higher or lower.
 *
 * @source ASHRAE 111-2008 and NEBB procedural standards: air and water flows within ±10 % of design
 */
export const BASIS_WIDTH: Record<Quantity['value_basis'], number> = {
  Measured: 0.05,
  TAB: 0.1,
  Rated: 0.15,
  Design: 0.25,
  Assumed: 0.5,
}

/** Two temperatures agree within this, K. An estimate for common sensors, √2 × 0.35 K. */
export const SENSORS_K = 0.5

/** `width` is a share of the value, 0..1. */
export const withTolerance = (value: number, width: number): Range => ({
  low: value * (1 - width),
  mid: value,
  high: value * (1 + width),
})
export const exactRange = (value: number): Range => ({ low: value, mid: value, high: value })

/** Both ranges lie at or above zero. */
export const multiplyRanges = (a: Range, b: Range): Range => ({ low: a.low * b.low, mid: a.mid * b.mid, high: a.high * b.high })
/** `b` is above zero. */
export const divideRanges = (a: Range, b: Range): Range => ({ low: a.low / b.high, mid: a.mid / b.mid, high: a.high / b.low })
export const addRanges = (a: Range, b: Range): Range => ({ low: a.low + b.low, mid: a.mid + b.mid, high: a.high + b.high })

/** Four digits are more than the uncertainty allows, and findings stay short. */
export const roundRange = ({ low, mid, high }: Range): Range => ({ low: digits(low), mid: digits(mid), high: digits(high) })
const digits = (value: number): number => Number(value.toPrecision(4))

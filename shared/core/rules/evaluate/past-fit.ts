/**
 * A model of an equipment fitted to its own past: a quantity as a sum of its drivers, each times a constant, and a constant.
 * Least squares over the values at full minutes. A day is kept as sums alone, so days can be left out later.
 */
import type { DayRows } from './day-rows.ts'
import type { Node } from './node.ts'

export type PastFit = {
  /** The constant, then the factor of each driver. */
  factors: Float64Array
  /** Between these values of a driver the past says something. */
  low: Float64Array
  high: Float64Array
}

/** A driver that the others explain to all but this share of its variance has no factor of its own. */
const OWN_VARIANCE = 1e-3
/** How far beyond what the past covered the model still holds, as a share of what it covered. */
const BEYOND = 0.1

/** Elements of a day's sums: their number, means of drivers and quantity, products of deviations, extremes of the drivers. */
export const sumsWidth = (drivers: number): number => 1 + (drivers + 1) + (drivers + 1) ** 2 + 2 * drivers

type Sums = { count: number; means: Float64Array; products: Float64Array; low: Float64Array; high: Float64Array }

function viewOf(sums: Float64Array, drivers: number): Sums {
  const width = drivers + 1
  const at = 1 + width + width ** 2
  return {
    count: sums[0]!,
    means: sums.subarray(1, 1 + width),
    products: sums.subarray(1 + width, at),
    low: sums.subarray(at, at + drivers),
    high: sums.subarray(at + drivers),
  }
}

/** @returns the sums of a day's full minutes at which `when` holds and everything has a value */
export function sumsOfDay(rows: DayRows, of: Node, drivers: readonly Node[], when: Node): Float64Array {
  const columns = [...drivers.map(({ out }) => out), of.out]
  const width = columns.length
  const sums = new Float64Array(sumsWidth(drivers.length))
  const { means, products, low, high } = viewOf(sums, drivers.length)
  low.fill(Infinity)
  high.fill(-Infinity)
  const off = new Float64Array(width)
  let count = 0
  for (let row = 0; row < rows.n; row++) {
    if (rows.minute[row] !== 1 || when.out[row] !== 1 || columns.some(column => column[row] !== column[row])) continue
    count++
    for (let i = 0; i < width; i++) {
      const value = columns[i]![row]!
      off[i] = value - means[i]!
      means[i]! += off[i]! / count
      if (i === drivers.length) continue
      low[i] = Math.min(low[i]!, value)
      high[i] = Math.max(high[i]!, value)
    }
    for (let i = 0; i < width; i++) {
      for (let j = 0; j < width; j++) products[i * width + j]! += (off[i]! * off[j]! * (count - 1)) / count
    }
  }
  sums[0] = count
  return sums
}

/** The sums of two spans of time together. */
function joined(a: Float64Array, b: Float64Array, drivers: number): Float64Array {
  const [left, right] = [viewOf(a, drivers), viewOf(b, drivers)]
  const sums = new Float64Array(a.length)
  const both = viewOf(sums, drivers)
  const width = drivers + 1
  const count = left.count + right.count
  sums[0] = count
  for (let i = 0; i < width; i++) {
    both.means[i] = (left.means[i]! * left.count + right.means[i]! * right.count) / count
    for (let j = 0; j < width; j++) {
      const apart = (right.means[i]! - left.means[i]!) * (right.means[j]! - left.means[j]!)
      const at = i * width + j
      both.products[at] = left.products[at]! + right.products[at]! + (apart * left.count * right.count) / count
    }
  }
  for (let i = 0; i < drivers; i++) {
    both.low[i] = Math.min(left.low[i]!, right.low[i]!)
    both.high[i] = Math.max(left.high[i]!, right.high[i]!)
  }
  return sums
}

/**
 * @param days sums of one day each, at least one
 * @returns the model, the mean of the quantity, and by how much the mean of each day differs from the model
 */
export function fitDays(days: Float64Array[], drivers: number): { fit: PastFit; mean: number; misses: Float64Array } {
  const { means, products, low, high } = viewOf(
    days.reduce((sum, day) => joined(sum, day, drivers)),
    drivers,
  )
  const slopes = slopesOf(products, drivers)
  const mean = means[drivers]!
  const factors = Float64Array.of(mean - dot(slopes, means), ...slopes)
  const fit = { factors, low, high }
  return { fit, mean, misses: Float64Array.from(days, day => missOf(fit, day)) }
}

/** By how much the mean of a day differs from a model. */
export function missOf({ factors }: PastFit, day: Float64Array): number {
  const drivers = factors.length - 1
  const { means } = viewOf(day, drivers)
  return means[drivers]! - factors[0]! - dot(factors.subarray(1), means)
}

/** Whether the past came so near to rest, where every driver is zero, that the constant of a model is that of rest. */
export const isKnownAtZero = ({ low, high }: PastFit): boolean =>
  low.every((least, i) => least <= BEYOND * (high[i]! - least) && high[i]! >= -BEYOND * (high[i]! - least))

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0)

/**
 * Solves the normal equations by elimination, the driver with the greatest variance of its own first. A driver that did not
 * vary, or only as others do, has the factor 0.
 */
function slopesOf(products: Float64Array, drivers: number): Float64Array {
  const width = drivers + 1
  const left = Float64Array.from(products)
  const own = (i: number): number => left[i * width + i]! / products[i * width + i]!
  const open = new Set(Array.from({ length: drivers }, (_, i) => i).filter(i => products[i * width + i]! > 0))
  const solved: number[] = []
  while (open.size > 0) {
    const next = [...open].reduce((best, i) => (own(i) > own(best) ? i : best))
    if (own(next) < OWN_VARIANCE) break
    open.delete(next)
    solved.push(next)
    for (let i = 0; i < drivers; i++) {
      if (i === next) continue
      const factor = left[i * width + next]! / left[next * width + next]!
      for (let j = 0; j < width; j++) left[i * width + j]! -= factor * left[next * width + j]!
    }
  }
  const slopes = new Float64Array(drivers)
  for (const i of solved) slopes[i] = left[i * width + drivers]! / left[i * width + i]!
  return slopes
}

/** What the model gives at a row; NaN where a driver is beyond what the past covered. */
export function fittedAt({ factors, low, high }: PastFit, drivers: readonly Node[], row: number): number {
  let sum = factors[0]!
  for (let i = 0; i < drivers.length; i++) {
    const value = drivers[i]!.out[row]!
    const beyond = BEYOND * (high[i]! - low[i]!)
    if (!(value >= low[i]! - beyond && value <= high[i]! + beyond)) return Number.NaN
    sum += factors[i + 1]! * value
  }
  return sum
}

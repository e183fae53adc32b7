/**
 * Elementwise operations: one loop for each, over columns of equal length.
 *
 * A missing value is NaN and makes every result NaN; conditions are 1, 0 or NaN. The loops are written out on purpose: a
 * shared loop that calls the operation is three to five times slower.
 */

import { nameTable } from '#shared/core/name-table.ts'
import { quantileOf } from '#shared/core/series/statistics.ts'

/** Values closer than this (in canonical units) are equal, so that rounding never decides a comparison. */
const EQUAL = 1e-9

type Kernel = (out: Float64Array, a: Float64Array, b: Float64Array, n: number) => void

export const KERNELS = nameTable<Kernel>({
  add: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i]! + b[i]!
  },
  sub: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i]! - b[i]!
  },
  mul: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i]! * b[i]!
  },
  div: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const q = a[i]! / b[i]!
      out[i] = q - q === 0 ? q : Number.NaN
    }
  },
  lt: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = a[i]! - b[i]!
      out[i] = d < -EQUAL ? 1 : d >= -EQUAL ? 0 : Number.NaN
    }
  },
  le: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = a[i]! - b[i]!
      out[i] = d <= EQUAL ? 1 : d > EQUAL ? 0 : Number.NaN
    }
  },
  gt: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = a[i]! - b[i]!
      out[i] = d > EQUAL ? 1 : d <= EQUAL ? 0 : Number.NaN
    }
  },
  ge: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = a[i]! - b[i]!
      out[i] = d >= -EQUAL ? 1 : d < -EQUAL ? 0 : Number.NaN
    }
  },
  eq: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = Math.abs(a[i]! - b[i]!)
      out[i] = d <= EQUAL ? 1 : d > EQUAL ? 0 : Number.NaN
    }
  },
  ne: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const d = Math.abs(a[i]! - b[i]!)
      out[i] = d > EQUAL ? 1 : d <= EQUAL ? 0 : Number.NaN
    }
  },
  and: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i]! * b[i]!
  },
  or: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x + y - x * y
    }
  },
  not: (out, a, _, n) => {
    for (let i = 0; i < n; i++) out[i] = 1 - a[i]!
  },
  neg: (out, a, _, n) => {
    for (let i = 0; i < n; i++) out[i] = -a[i]!
  },
  abs: (out, a, _, n) => {
    for (let i = 0; i < n; i++) out[i] = Math.abs(a[i]!)
  },
  least: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = Math.min(a[i]!, b[i]!)
  },
  greatest: (out, a, b, n) => {
    for (let i = 0; i < n; i++) out[i] = Math.max(a[i]!, b[i]!)
  },
  first: (out, a, b, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i]!
      out[i] = x === x ? x : b[i]!
    }
  },
})

/** `if(condition, a, b)`: only the selected branch must be evaluated. */
export function selectBranch(out: Float64Array, condition: Float64Array, a: Float64Array, b: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) out[i] = condition[i] === 1 ? a[i]! : condition[i] === 0 ? b[i]! : Number.NaN
}

/** Share of zones that must be evaluated for their aggregate to be evaluated. */
const ZONES_MIN = 0.8

/** @param how one of `ZONE_AGGREGATES` */
export function aggregateZones(how: string, out: Float64Array, columns: Float64Array[], n: number): void {
  const values = new Float64Array(columns.length)
  for (let i = 0; i < n; i++) {
    let known = 0
    for (const column of columns) if (column[i] === column[i]) values[known++] = column[i]!
    out[i] = known === 0 || known < ZONES_MIN * columns.length ? Number.NaN : joined(how, values.subarray(0, known))
  }
}

function joined(how: string, values: Float64Array): number {
  if (how === 'median') return quantileOf(values.toSorted(), values.length, 0.5)
  let result = values[0]!
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!
    result = how === 'min' ? Math.min(result, value) : how === 'max' ? Math.max(result, value) : result + value
  }
  return how === 'avg' ? result / values.length : result
}

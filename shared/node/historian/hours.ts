import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { HOUR } from '#shared/core/time.ts'
import type { Buckets } from '#shared/core/series/series.ts'

const COLUMNS = ['count', 'min', 'max', 'mean', 'last'] as const

/** Packs buckets of one hour: the first instant and the columns one after the other, as 64-bit numbers, compressed. */
export function packHours(hours: Buckets): Uint8Array {
  const n = hours.count.length
  const numbers = new Float64Array(1 + COLUMNS.length * n)
  numbers[0] = hours.from
  for (const [i, column] of COLUMNS.entries()) numbers.set(hours[column], 1 + i * n)
  return deflateRawSync(numbers)
}

/** @throws Error when the bytes are not what `packHours` returned */
export function unpackHours(packed: Uint8Array): Buckets {
  const { buffer, byteOffset, byteLength } = inflateRawSync(packed)
  const numbers = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength))
  const n = (numbers.length - 1) / COLUMNS.length
  const [count, min, max, mean, last] = COLUMNS.map((_, i) => numbers.subarray(1 + i * n, 1 + (i + 1) * n))
  return { from: numbers[0]!, step: HOUR, count: count!, min: min!, max: max!, mean: mean!, last: last! }
}

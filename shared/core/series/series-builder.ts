import type { Series } from './series.ts'

/**
 * Builds one point's series from parts, those with the lowest priority first: of two samples at the same instant, the one of
 * the later part counts. Parts that follow each other in time cost one copy; only overlapping ones are merged.
 */
export type SeriesBuilder = {
  /** Begins the next part. */
  begin(): void
  /** @throws RangeError when `t` is not later than the sample before in this part */
  push(t: number, value: number): void
  /**
   * Adds many samples at once, ascending in time.
   *
   * @throws RangeError when the first is not later than the sample before in this part
   */
  append(ts: Float64Array, values: Float64Array): void
  /** Adds samples at equal intervals. */
  appendEven(first: number, step: number, values: Float64Array): void
  /** @returns the series, ascending, without duplicates; the builder must not be used afterwards */
  build(): Series
}

const CAPACITY_MIN = 64

/** @param capacity expected number of samples; more is possible */
export function createSeriesBuilder(capacity: number): SeriesBuilder {
  let ts = new Float64Array(Math.max(capacity, CAPACITY_MIN))
  let values = new Float64Array(ts.length)
  let n = 0
  /** Index at which the current part begins. */
  let start = 0

  const reserve = (more: number) => {
    if (n + more <= ts.length) return
    ts = extended(ts, n + more)
    values = extended(values, n + more)
  }
  const checkNext = (t: number | undefined) => {
    if (n > start && !(t! > ts[n - 1]!)) throw new RangeError(`${t} comes after ${ts[n - 1]} in a stretch that ascends`)
  }
  const begin = () => {
    if (start > 0 && start < n && ts[start]! <= ts[start - 1]!) {
      const whole = overlay(
        { ts: ts.subarray(0, start), values: values.subarray(0, start) },
        { ts: ts.subarray(start, n), values: values.subarray(start, n) },
      )
      ;({ ts, values } = whole)
      n = ts.length
    }
    start = n
  }
  return {
    begin,
    push: (t, value) => {
      checkNext(t)
      reserve(1)
      ts[n] = t
      values[n] = value
      n += 1
    },
    append: (moreTs, moreValues) => {
      if (moreTs.length === 0) return
      checkNext(moreTs[0])
      reserve(moreTs.length)
      ts.set(moreTs, n)
      values.set(moreValues, n)
      n += moreTs.length
    },
    appendEven: (first, step, more) => {
      if (more.length === 0) return
      checkNext(first)
      reserve(more.length)
      for (let i = 0; i < more.length; i++) ts[n + i] = first + i * step
      values.set(more, n)
      n += more.length
    },
    build: () => {
      begin()
      return n === ts.length ? { ts, values } : { ts: ts.slice(0, n), values: values.slice(0, n) }
    },
  }
}

function extended(column: Float64Array<ArrayBuffer>, least: number): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(Math.max(least, column.length * 2))
  longer.set(column)
  return longer
}

/** Merges two series; `over` counts where both have the same instant. */
export function overlay(under: Series, over: Series): { ts: Float64Array<ArrayBuffer>; values: Float64Array<ArrayBuffer> } {
  const ts = new Float64Array(under.ts.length + over.ts.length)
  const values = new Float64Array(ts.length)
  let n = 0
  for (let i = 0, j = 0; i < under.ts.length || j < over.ts.length; n++) {
    const below = under.ts[i] ?? Infinity
    const above = over.ts[j] ?? Infinity
    ts[n] = Math.min(below, above)
    values[n] = above <= below ? over.values[j]! : under.values[i]!
    if (below <= above) i += 1
    if (above <= below) j += 1
  }
  return { ts: ts.slice(0, n), values: values.slice(0, n) }
}

/**
 * Samples of one minute of a building in one blob: columns of little-endian numbers, in the order of point and instant.
 * First the values (float64, NaN where the point had no usable one), then the keys of the points (uint32), the milliseconds within
 * the minute (uint16) and the qualities (uint8, an index of `QUALITIES`).
 */

/** `ms`: milliseconds within the minute. */
export type HotRow = { point: number; ms: number; value: number; quality: number }

/** Bytes of the columns of one sample. */
const [VALUE, POINT, MS, QUALITY] = [8, 4, 2, 1]
const SAMPLE = VALUE + POINT + MS + QUALITY

export const inOrder = (a: HotRow, b: HotRow): number => a.point - b.point || a.ms - b.ms

/** @param rows of one minute, ascending by `inOrder`, each point and instant once */
export function packChunk(rows: readonly HotRow[]): Buffer {
  const n = rows.length
  const bytes = Buffer.allocUnsafe(n * SAMPLE)
  const view = viewOf(bytes)
  for (let i = 0; i < n; i++) {
    const { point, ms, value, quality } = rows[i]!
    view.setFloat64(VALUE * i, value, true)
    view.setUint32(VALUE * n + POINT * i, point, true)
    view.setUint16((VALUE + POINT) * n + MS * i, ms, true)
    view.setUint8((VALUE + POINT + MS) * n + i, quality)
  }
  return bytes
}

/** Reads the samples of a chunk by their index. */
export class HotChunk {
  readonly length: number
  readonly #view: DataView

  constructor(data: Uint8Array) {
    this.length = data.length / SAMPLE
    this.#view = viewOf(data)
  }

  value(i: number): number {
    return this.#view.getFloat64(VALUE * i, true)
  }

  point(i: number): number {
    return this.#view.getUint32(VALUE * this.length + POINT * i, true)
  }

  ms(i: number): number {
    return this.#view.getUint16((VALUE + POINT) * this.length + MS * i, true)
  }

  quality(i: number): number {
    return this.#view.getUint8((VALUE + POINT + MS) * this.length + i)
  }

  /** @returns the index of the first sample of `point` that is not before `ms`, or of the first one behind it */
  indexFrom(point: number, ms: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const isBefore = this.point(middle) < point || (this.point(middle) === point && this.ms(middle) < ms)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }

  /** @returns the index of the sample; undefined when it is not there */
  find({ point, ms }: Pick<HotRow, 'point' | 'ms'>): number | undefined {
    const i = this.indexFrom(point, ms)
    return i < this.length && this.point(i) === point && this.ms(i) === ms ? i : undefined
  }

  /** @returns the value of the sample; undefined when it is not there */
  valueAt(row: Pick<HotRow, 'point' | 'ms'>): number | undefined {
    const i = this.find(row)
    return i === undefined ? undefined : this.value(i)
  }

  rows(): HotRow[] {
    return Array.from({ length: this.length }, (_, i) => ({
      point: this.point(i),
      ms: this.ms(i),
      value: this.value(i),
      quality: this.quality(i),
    }))
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength)

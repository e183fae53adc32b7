/** The pairs of a ring buffer, oldest first; [n] each. */
export type Pairs = { a: Float64Array; b: Float64Array }

const CAPACITY_MIN = 16

/**
 * A queue of pairs that grows as needed and drops pairs from the front: the part of a signal that a window still covers.
 * Its fields are public because the innermost loops of the engine read them directly.
 */
export class RingBuffer {
  a = new Float64Array(CAPACITY_MIN)
  b = new Float64Array(CAPACITY_MIN)
  /** Index of the oldest pair and index behind the newest. Both only grow; apply `mask` to read. */
  front = 0
  back = 0
  mask = CAPACITY_MIN - 1

  push(a: number, b: number): void {
    if (this.back - this.front > this.mask) this.grow()
    this.a[this.back & this.mask] = a
    this.b[this.back & this.mask] = b
    this.back++
  }

  pairs(): Pairs {
    const n = this.back - this.front
    const pairs = { a: new Float64Array(n), b: new Float64Array(n) }
    for (let i = 0; i < n; i++) {
      pairs.a[i] = this.a[(this.front + i) & this.mask]!
      pairs.b[i] = this.b[(this.front + i) & this.mask]!
    }
    return pairs
  }

  /** Replaces the content. */
  load({ a, b }: Pairs): void {
    if (this.mask < a.length) this.allocate(2 ** Math.ceil(Math.log2(a.length + 1)))
    this.a.set(a)
    this.b.set(b)
    this.front = 0
    this.back = a.length
  }

  private grow(): void {
    const { a, b, mask } = this
    this.allocate((mask + 1) * 2)
    for (let i = this.front; i < this.back; i++) {
      this.a[i & this.mask] = a[i & mask]!
      this.b[i & this.mask] = b[i & mask]!
    }
  }

  /** @param size a power of two; the content is lost */
  private allocate(size: number): void {
    this.a = new Float64Array(size)
    this.b = new Float64Array(size)
    this.mask = size - 1
  }
}

/** The pairs of a ring that count, oldest first; [n] each. */
export type Pairs = { a: Float64Array; b: Float64Array }

const LEAST = 16

/**
 * A queue of pairs that grows as needed and forgets from the front: what a window still sees.
 * It is a class because it is the innermost loop's store and is changed in place.
 */
export class RingBuffer {
  a = new Float64Array(LEAST)
  b = new Float64Array(LEAST)
  /** Index of the oldest pair, and of the place behind the newest; both only grow. Mask them to read. */
  front = 0
  back = 0
  mask = LEAST - 1

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

  /** Takes the place of what is there. */
  load({ a, b }: Pairs): void {
    if (this.mask < a.length) this.hold(2 ** Math.ceil(Math.log2(a.length + 1)))
    this.a.set(a)
    this.b.set(b)
    this.front = 0
    this.back = a.length
  }

  private grow(): void {
    const { a, b, mask } = this
    this.hold((mask + 1) * 2)
    for (let i = this.front; i < this.back; i++) {
      this.a[i & this.mask] = a[i & mask]!
      this.b[i & this.mask] = b[i & mask]!
    }
  }

  /** @param size a power of two; what was there is gone */
  private hold(size: number): void {
    this.a = new Float64Array(size)
    this.b = new Float64Array(size)
    this.mask = size - 1
  }
}

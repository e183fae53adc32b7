/**
 * The greatest or least value of a trailing window: like the mean, common enough to have a loop that calls nothing.
 *
 * Only values that may still become the extreme are kept, falling from the front: each enters once and leaves once.
 */
import type { Node } from './graph.ts'
import { Ring } from './ring.ts'
import type { Rows } from './rows.ts'
import { knownTime } from './windows.ts'

/** @param sign 1 for the greatest, −1 for the least */
export function extremeRun(node: Node, input: Node, windowMs: number, coverMs: number, sign: 1 | -1): Node['run'] {
  // (value × sign, instant at which it ended)
  const falling = new Ring()
  const known = knownTime(windowMs)
  // Kept from day to day, as in `average.ts`.
  const state = { last: Number.NaN, since: Number.NaN, held: Number.NaN }
  return ({ t, minute, n }: Rows) => {
    const x = input.out
    const out = node.out
    let { last, since, held } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      const value = x[i]! * sign
      const there = value === value
      if (value !== last && (there || last === last)) {
        if (last === last) falling.b[(falling.back - 1) & falling.mask] = at
        if (there !== (last === last)) {
          known.flip(at, there)
          since = at
        }
        if (there) {
          const { a, mask, front } = falling
          let back = falling.back
          while (back > front && a[(back - 1) & mask]! <= value) back--
          falling.back = back
          falling.push(value, Infinity)
        }
        last = value
      } else if (minute[i] === 0) {
        out[i] = held
        continue
      }
      held = Number.NaN
      if (there && (at - since >= windowMs || known.read(at) >= coverMs)) {
        const { b, mask } = falling
        const cut = at - windowMs
        let front = falling.front
        while (b[front & mask]! <= cut) front++
        falling.front = front
        held = falling.a[front & mask]! * sign
      }
      out[i] = held
    }
    Object.assign(state, { last, since, held })
  }
}

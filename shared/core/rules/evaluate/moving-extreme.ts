/** The greatest or least value of a trailing window. As for the mean, the loops are written out because it is frequent. */
import { type NodeState, restoreState, saveState, nestedState } from './node-state.ts'
import type { WindowFunction, WindowColumn } from './trailing-window.ts'
import { RingBuffer } from './ring-buffer.ts'
import { knownTime } from './window-operators.ts'

export const GREATEST = twoWays(1)
export const LEAST = twoWays(-1)

function twoWays(sign: 1 | -1): WindowFunction {
  return {
    byMinute: (z, w, n, least, out) => extremeByMinute(z, w, n, least, out, sign),
    create: (windowMs, coverMs, saved) => extremeColumn(windowMs, coverMs, sign, saved),
  }
}

/**
 * A window consists of the end of one block of `w + 1` minutes and the beginning of the next, so that each value is compared
 * three times, however long the window is. Missing values are less than any other.
 *
 * @param z [w + n] the minutes before the day, then those of the day
 * @param least how many of the `w` minutes before must be known
 * @param sign 1 for the greatest, −1 for the least
 * @source van Herk 1992; Gil and Werman 1993
 */
function extremeByMinute(z: Float64Array, w: number, n: number, least: number, out: Float64Array, sign: 1 | -1): void {
  for (let start = 0; start < n; start += w + 1) {
    const end = Math.min(start + w + 1, n)
    let rest = -Infinity
    for (let i = start + w; i >= start; i--) {
      const value = z[i]! * sign
      if (value > rest) rest = value
      if (i < end) out[i] = rest
    }
    let ahead = -Infinity
    out[start] = out[start]! * sign
    for (let i = start + 1; i < end; i++) {
      const value = z[i + w]! * sign
      if (value > ahead) ahead = value
      const own = out[i]!
      out[i] = (own > ahead ? own : ahead) * sign
    }
  }
  blankUnknown(z, w, n, least, out)
}

/** Clears the result where the value is missing, or too many of the `w` minutes before it. */
function blankUnknown(z: Float64Array, w: number, n: number, least: number, out: Float64Array): void {
  let known = 0
  for (let i = 0; i < w; i++) if (z[i] === z[i]) known++
  for (let i = 0; i < n; i++) {
    const there = z[w + i] === z[w + i]
    if (!there || known < least) out[i] = Number.NaN
    if (there) known++
    if (z[i] === z[i]) known--
  }
}

/**
 * Retains only values that may still become the extreme, in falling order: each enters once and leaves once.
 *
 * @param sign as above
 */
function extremeColumn(windowMs: number, coverMs: number, sign: 1 | -1, saved?: NodeState): WindowColumn {
  // (value × sign, instant at which the value ended)
  const falling = new RingBuffer()
  const known = knownTime(windowMs, nestedState(saved, 'known'))
  // The state passes from day to day, as in `moving-average.ts`.
  const state = restoreState({ falling, last: Number.NaN, since: Number.NaN, held: Number.NaN }, saved)
  const run: WindowColumn['run'] = ({ t, minute, n }, x, out) => {
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
      if (there) {
        const { b, mask } = falling
        const cut = at - windowMs
        let front = falling.front
        while (b[front & mask]! <= cut) front++
        falling.front = front
        if (at - since >= windowMs || known.read(at) >= coverMs) held = falling.a[front & mask]! * sign
      }
      out[i] = held
    }
    Object.assign(state, { last, since, held })
  }
  return { run, save: () => ({ ...saveState(state), known: known.save() }) }
}

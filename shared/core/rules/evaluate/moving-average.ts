/**
 * The trailing time-weighted mean. It is by far the most frequent window, so its loops are written out and call nothing.
 *
 * As every window it is calculated at full minutes and when the input changes, and only when the input is known now and was
 * known for `coverMs` of the window.
 */
import { type NodeState, restoreState, saveState } from './node-state.ts'
import type { WindowFunction, WindowColumn } from './trailing-window.ts'
import { RingBuffer } from './ring-buffer.ts'

export const MEAN: WindowFunction = { byMinute: meanByMinute, create: meanColumn }

/**
 * The mean of the known values among the `w` minutes before each minute; the minute itself has only begun.
 *
 * @param z [w + n] the minutes before the day, then those of the day
 * @param least how many of them must be known
 */
function meanByMinute(z: Float64Array, w: number, n: number, least: number, out: Float64Array): void {
  let sum = 0
  let known = 0
  for (let i = 0; i < w; i++) {
    const value = z[i]!
    if (value !== value) continue
    sum += value
    known++
  }
  for (let i = 0; i < n; i++) {
    const value = z[w + i]!
    const gone = z[i]!
    const there = value === value
    out[i] = there && known >= least ? sum / known : Number.NaN
    if (there) {
      sum += value
      known++
    }
    if (gone === gone) {
      sum -= gone
      known--
    }
  }
}

function meanColumn(windowMs: number, coverMs: number, saved?: NodeState): WindowColumn {
  // (start, value) of each step. The oldest begins before the window and the newest has not ended: neither is in the sums.
  const steps = new RingBuffer()
  // The state passes from day to day. Within a day it is in local variables, because changing a captured variable allocates
  // a new object each time.
  const state = restoreState({ steps, sum: 0, time: 0, last: Number.NaN, lastFrom: 0, held: Number.NaN }, saved)
  const run: WindowColumn['run'] = ({ t, minute, n }, x, out) => {
    let { sum, time, last, lastFrom, held } = state
    for (let i = 0; i < n; i++) {
      const at = t[i]!
      const value = x[i]!
      const there = value === value
      if (value !== last && (there || last === last)) {
        if (steps.back - steps.front > 1 && last === last) {
          sum += last * (at - lastFrom)
          time += at - lastFrom
        }
        steps.push(at, value)
        last = value
        lastFrom = at
      } else if (minute[i] === 0) {
        out[i] = held
        continue
      }
      const { a, b, mask } = steps
      const cut = at - windowMs
      const newest = steps.back - 1
      let front = steps.front
      while (front < newest && a[(front + 1) & mask]! <= cut) {
        front++
        const gone = b[front & mask]!
        if (front < newest && gone === gone) {
          const length = a[(front + 1) & mask]! - a[front & mask]!
          sum -= gone * length
          time -= length
        }
      }
      steps.front = front
      // Without a complete step the sums are exactly zero, so that rounding errors do not accumulate over years.
      if (newest - front < 2) sum = time = 0
      held = there ? mean(a, b, mask, front, newest, at, cut, sum, time, coverMs) : Number.NaN
      out[i] = held
    }
    Object.assign(state, { sum, time, last, lastFrom, held })
  }
  return { run, save: () => saveState(state) }
}

/** The complete steps in the window, the part of the oldest step that is in it, and the newest step so far. */
function mean(
  a: Float64Array,
  b: Float64Array,
  mask: number,
  front: number,
  newest: number,
  at: number,
  cut: number,
  sum: number,
  time: number,
  coverMs: number,
): number {
  const value = b[newest & mask]!
  const begun = a[newest & mask]!
  if (front === newest) return at - Math.max(begun, cut) >= coverMs ? value : Number.NaN
  const oldest = b[front & mask]!
  const tail = oldest === oldest ? a[(front + 1) & mask]! - Math.max(cut, a[front & mask]!) : 0
  const total = time + at - begun + tail
  if (total < coverMs) return Number.NaN
  return (sum + value * (at - begun) + (tail > 0 ? oldest * tail : 0)) / total
}

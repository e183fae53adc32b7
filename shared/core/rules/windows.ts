/**
 * Functions over a trailing window, in one pass: every value enters once and leaves once.
 *
 * An operator is told of each change (`push`, NaN when the value goes missing) and asked at each full minute and after
 * each change (`read`, only while there is a value). Times are ms; a value holds until the next push.
 */
import { MINUTE } from '../time.ts'
import { Ring } from './ring.ts'

export type WindowOp = { push(t: number, value: number): void; read(t: number): number }

/** How much of (t − w, t] had a value, ms. */
export function knownTime(windowMs: number): { flip(t: number, known: boolean): void; read(t: number): number } {
  const stretches = new Ring()
  let complete = 0
  let since = Number.NaN
  return {
    flip(t, known) {
      if (known) since = t
      else {
        stretches.push(since, t)
        complete += t - since
        since = Number.NaN
      }
    },
    read(t) {
      const cut = t - windowMs
      const { a, b, mask } = stretches
      while (stretches.front < stretches.back && b[stretches.front & mask]! <= cut) {
        complete -= b[stretches.front & mask]! - a[stretches.front & mask]!
        stretches.front++
      }
      let known = complete + (since === since ? t - Math.max(since, cut) : 0)
      if (stretches.front < stretches.back) known -= Math.max(0, cut - a[stretches.front & mask]!)
      return known
    },
  }
}

/** The value that held at t − w. */
export function lagged(windowMs: number): WindowOp {
  const steps = new Ring()
  return {
    push: (t, value) => steps.push(t, value),
    read(t) {
      const cut = t - windowMs
      const { a, b, mask } = steps
      while (steps.front < steps.back - 1 && a[(steps.front + 1) & mask]! <= cut) steps.front++
      return a[steps.front & mask]! <= cut ? b[steps.front & mask]! : Number.NaN
    },
  }
}

export function deltaOf(windowMs: number): WindowOp {
  const before = lagged(windowMs)
  let current = Number.NaN
  return {
    push(t, value) {
      current = value
      before.push(t, value)
    },
    read: t => current - before.read(t),
  }
}

/** Sum of the amounts of events within the window; `amount` tells what a change from one value to the next is worth. */
export function eventSum(windowMs: number, amount: (from: number, to: number) => number): WindowOp {
  const events = new Ring()
  let sum = 0
  let last = Number.NaN
  return {
    push(t, value) {
      const worth = amount(last, value)
      last = value
      if (!(worth > 0)) return
      events.push(t, worth)
      sum += worth
    },
    read(t) {
      const cut = t - windowMs
      while (events.front < events.back && events.a[events.front & events.mask]! <= cut) {
        sum -= events.b[events.front & events.mask]!
        events.front++
      }
      if (events.front === events.back) sum = 0
      return sum
    },
  }
}

/** A change of direction counts once it has come back by `deadband`; a gap begins anew. */
export function reversal(deadband: number): (from: number, to: number) => number {
  let direction = 0
  let low = Number.NaN
  let high = Number.NaN
  return (_, value) => {
    if (value !== value || low !== low) {
      direction = 0
      low = high = value
      return 0
    }
    const up = value - low >= deadband && value > low
    const down = high - value >= deadband && value < high
    if (direction >= 0 && value > high) high = value
    if (direction <= 0 && value < low) low = value
    if (!(direction > 0 ? down : direction < 0 ? up : up || down)) return 0
    const turned = direction !== 0
    direction = direction > 0 || (direction === 0 && down) ? -1 : 1
    low = high = value
    return turned ? 1 : 0
  }
}

/** How many separate stretches in which a condition held reach into the window. */
export function stretchCount(windowMs: number): WindowOp {
  const ends = new Ring()
  let open = false
  return {
    push(t, value) {
      if (open && value !== 1) ends.push(t, 0)
      open = value === 1
    },
    read(t) {
      const cut = t - windowMs
      while (ends.front < ends.back && ends.a[ends.front & ends.mask]! <= cut) ends.front++
      return ends.back - ends.front + (open ? 1 : 0)
    },
  }
}

/** True when the condition has held all through the window; false when it failed in it; else not evaluated. */
export function heldFor(windowMs: number): WindowOp {
  let current = Number.NaN
  let trueSince = Number.NaN
  let falseUntil = -Infinity
  return {
    push(t, value) {
      if (current === 0) falseUntil = t
      current = value
      trueSince = value === 1 ? t : Number.NaN
    },
    read(t) {
      if (current === 0) return 0
      if (t - trueSince >= windowMs) return 1
      return falseUntil > t - windowMs ? 0 : Number.NaN
    },
  }
}

/** A quantile of the values at the full minutes of the window, all of equal weight. */
export function quantile(windowMs: number, share: number): WindowOp {
  const samples = new Ring()
  let sorted = new Float64Array(64)
  let n = 0
  let current = Number.NaN
  let result = Number.NaN
  const place = (value: number) => {
    let low = 0
    for (let high = n; low < high; ) {
      const middle = (low + high) >> 1
      if (sorted[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }
  const drop = (at: number) => void sorted.copyWithin(at, at + 1, n--)
  /** In place of the value at `free`. */
  const put = (value: number, free: number) => {
    const at = place(value)
    if (at > free) {
      sorted.copyWithin(free, free + 1, at)
      sorted[at - 1] = value
    } else {
      sorted.copyWithin(at + 1, at, free)
      sorted[at] = value
    }
  }
  return {
    push: (_, value) => void (current = value),
    read(t) {
      if (t % MINUTE !== 0 && n > 0) return result
      const cut = t - windowMs
      const { a, b } = samples
      // Mostly one value goes for the one that comes: only what lies between their places moves.
      let [gone, leaving] = [0, 0]
      for (; samples.front < samples.back && a[samples.front & samples.mask]! <= cut; samples.front++) {
        if (leaving++ > 0) drop(gone)
        gone = place(b[samples.front & samples.mask]!)
      }
      if (n === sorted.length) {
        const wider = new Float64Array(n * 2)
        wider.set(sorted)
        sorted = wider
      }
      if (leaving === 0) sorted[(gone = n++)] = Infinity
      put(current, gone)
      samples.push(t, current)
      return (result = between(sorted, n, share))
    },
  }
}

/** Quantile of `n` ascending values, interpolated between neighbours. */
export function between(sorted: Float64Array, n: number, share: number): number {
  const place = (n - 1) * share
  const low = Math.floor(place)
  const high = Math.min(low + 1, n - 1)
  return sorted[low]! + (sorted[high]! - sorted[low]!) * (place - low)
}

/** Greatest integral of (value − slack) over a stretch that ends now and began within the window, in value × hours. */
export function cusum(windowMs: number, slack: number): WindowOp {
  // (instant, integral so far), integrals rising: the front is the lowest.
  const rising = new Ring()
  let integral = 0
  let since = Number.NaN
  let current = Number.NaN
  const advance = (t: number) => {
    if (current === current) integral += ((current - slack) * (t - since)) / (60 * MINUTE)
    since = t
    while (rising.back > rising.front && rising.b[(rising.back - 1) & rising.mask]! >= integral) rising.back--
    rising.push(t, integral)
  }
  return {
    push(t, value) {
      advance(t)
      current = value
    },
    read(t) {
      advance(t)
      while (rising.a[rising.front & rising.mask]! < t - windowMs) rising.front++
      return integral - rising.b[rising.front & rising.mask]!
    },
  }
}

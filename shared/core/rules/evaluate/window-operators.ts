/**
 * Functions over a trailing window in one pass: every value enters once and leaves once.
 *
 * An operator receives each change (`push`, NaN when the value becomes unknown). At each full minute and after each change
 * at which the value is known it is read, or passed over while too little of the window is known. Times are ms; a value holds
 * until the next push. The state is saved as plain data and restored from it.
 */
import { quantileOf } from '#shared/core/series/statistics.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type NodeState, restoreState, saveState, nestedState } from './node-state.ts'
import { RingBuffer } from './ring-buffer.ts'

export type WindowOp = {
  push(t: number, value: number): void
  read(t: number): number
  /** As `read`, without a result: gathers what a later result needs, and drops what has left the window. */
  pass?(t: number): void
  save(): NodeState
}

type KnownTime = { flip(t: number, known: boolean): void; read(t: number): number; save(): NodeState }

/** How much of (t − w, t] had a value, ms. */
export function knownTime(windowMs: number, saved?: NodeState): KnownTime {
  const stretches = new RingBuffer()
  const held = restoreState({ stretches, complete: 0, since: Number.NaN }, saved)
  return {
    flip(t, known) {
      if (known) held.since = t
      else {
        stretches.push(held.since, t)
        held.complete += t - held.since
        held.since = Number.NaN
      }
    },
    read(t) {
      const cut = t - windowMs
      const { a, b, mask } = stretches
      while (stretches.front < stretches.back && b[stretches.front & mask]! <= cut) {
        held.complete -= b[stretches.front & mask]! - a[stretches.front & mask]!
        stretches.front++
      }
      const { complete, since } = held
      let known = complete + (since === since ? t - Math.max(since, cut) : 0)
      if (stretches.front < stretches.back) known -= Math.max(0, cut - a[stretches.front & mask]!)
      return known
    },
    save: () => saveState(held),
  }
}

/** The value that held at t − w. */
export function lagged(windowMs: number, saved?: NodeState): WindowOp {
  const steps = new RingBuffer()
  const held = restoreState({ steps }, saved)
  return {
    push: (t, value) => steps.push(t, value),
    read(t) {
      const cut = t - windowMs
      const { a, b, mask } = steps
      while (steps.front < steps.back - 1 && a[(steps.front + 1) & mask]! <= cut) steps.front++
      return a[steps.front & mask]! <= cut ? b[steps.front & mask]! : Number.NaN
    },
    save: () => saveState(held),
  }
}

export function deltaOf(windowMs: number, saved?: NodeState): WindowOp {
  const before = lagged(windowMs, nestedState(saved, 'before'))
  const held = restoreState({ current: Number.NaN }, saved)
  return {
    push(t, value) {
      held.current = value
      before.push(t, value)
    },
    read: t => held.current - before.read(t),
    save: () => ({ ...saveState(held), before: before.save() }),
  }
}

/** Sum of the amounts of events within the window; `amount` gives the amount of a change from one value to the next. */
export function eventSum(windowMs: number, amount: (from: number, to: number) => number, saved?: NodeState): Required<WindowOp> {
  const events = new RingBuffer()
  const held = restoreState({ events, sum: 0, last: Number.NaN }, saved)
  const pass = (t: number) => {
    const cut = t - windowMs
    while (events.front < events.back && events.a[events.front & events.mask]! <= cut) {
      held.sum -= events.b[events.front & events.mask]!
      events.front++
    }
    if (events.front === events.back) held.sum = 0
  }
  return {
    push(t, value) {
      const worth = amount(held.last, value)
      held.last = value
      if (!(worth > 0)) return
      events.push(t, worth)
      held.sum += worth
    },
    read(t) {
      pass(t)
      return held.sum
    },
    pass,
    save: () => saveState(held),
  }
}

/** How often the direction changed. A change counts once the value has come back by `deadband`; a gap starts over. */
export function reversals(windowMs: number, deadband: number, saved?: NodeState): WindowOp {
  const held = restoreState({ direction: 0, low: Number.NaN, high: Number.NaN }, saved)
  const turns = eventSum(windowMs, (_, value) => turn(held, deadband, value), nestedState(saved, 'turns'))
  return { ...turns, save: () => ({ ...saveState(held), turns: turns.save() }) }
}

/** @returns 1 when the new value shows that the direction has changed, otherwise 0 */
function turn(held: { direction: number; low: number; high: number }, deadband: number, value: number): number {
  const { direction, low, high } = held
  if (value !== value || low !== low) {
    held.direction = 0
    held.low = held.high = value
    return 0
  }
  const up = value - low >= deadband && value > low
  const down = high - value >= deadband && value < high
  if (direction >= 0 && value > high) held.high = value
  if (direction <= 0 && value < low) held.low = value
  if (!(direction > 0 ? down : direction < 0 ? up : up || down)) return 0
  held.direction = direction > 0 || (direction === 0 && down) ? -1 : 1
  held.low = held.high = value
  return direction === 0 ? 0 : 1
}

/** Number of separate stretches of a true condition that reach into the window. */
export function stretchCount(windowMs: number, saved?: NodeState): WindowOp {
  const ends = new RingBuffer()
  const held = restoreState({ ends, open: false as boolean }, saved)
  const pass = (t: number) => {
    const cut = t - windowMs
    while (ends.front < ends.back && ends.a[ends.front & ends.mask]! <= cut) ends.front++
  }
  return {
    push(t, value) {
      if (held.open && value !== 1) ends.push(t, 0)
      held.open = value === 1
    },
    pass,
    read(t) {
      pass(t)
      return ends.back - ends.front + (held.open ? 1 : 0)
    },
    save: () => saveState(held),
  }
}

/** 1 when the condition has held throughout the window, 0 when it failed within it, otherwise not evaluated. */
export function heldFor(windowMs: number, saved?: NodeState): WindowOp {
  const held = restoreState({ current: Number.NaN, trueSince: Number.NaN, falseUntil: -Infinity }, saved)
  return {
    push(t, value) {
      if (held.current === 0) held.falseUntil = t
      held.current = value
      held.trueSince = value === 1 ? t : Number.NaN
    },
    read(t) {
      if (held.current === 0) return 0
      if (t - held.trueSince >= windowMs) return 1
      return held.falseUntil > t - windowMs ? 0 : Number.NaN
    },
    save: () => saveState(held),
  }
}

/** A quantile of the values at the full minutes of the window, all of equal weight. */
export function quantile(windowMs: number, share: number, saved?: NodeState): WindowOp {
  const samples = new RingBuffer()
  const held = restoreState({ samples, current: Number.NaN, result: Number.NaN }, saved)
  let n = samples.back
  let sorted = new Float64Array(Math.max(64, n))
  sorted.set(samples.pairs().b.toSorted())
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
  /** Overwrites the value at `free`. */
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
  const gather = (t: number) => {
    const cut = t - windowMs
    const { a, b } = samples
    // Usually one value leaves for each that enters, and only the elements between their places move.
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
    put(held.current, gone)
    samples.push(t, held.current)
    held.result = Number.NaN
  }
  return {
    push: (_, value) => void (held.current = value),
    pass(t) {
      if (t % MINUTE === 0) gather(t)
    },
    read(t) {
      if (t % MINUTE === 0 || n === 0) gather(t)
      if (held.result !== held.result) held.result = quantileOf(sorted, n, share)
      return held.result
    },
    save: () => saveState(held),
  }
}

/** Greatest integral of (value − slack) over a stretch that ends now and began within the window, in value × hours. */
export function cusum(windowMs: number, slack: number, saved?: NodeState): WindowOp {
  // (instant, integral so far), integrals rising: the front is the lowest.
  const rising = new RingBuffer()
  const held = restoreState({ rising, integral: 0, since: Number.NaN, current: Number.NaN }, saved)
  const advance = (t: number) => {
    const { current, since } = held
    if (current === current) held.integral += ((current - slack) * (t - since)) / (60 * MINUTE)
    held.since = t
    const { integral } = held
    while (rising.back > rising.front && rising.b[(rising.back - 1) & rising.mask]! >= integral) rising.back--
    rising.push(t, integral)
  }
  const pass = (t: number) => {
    advance(t)
    while (rising.front < rising.back && rising.a[rising.front & rising.mask]! < t - windowMs) rising.front++
  }
  return {
    push(t, value) {
      advance(t)
      held.current = value
    },
    pass,
    read(t) {
      pass(t)
      return held.integral - rising.b[rising.front & rising.mask]!
    },
    save: () => saveState(held),
  }
}

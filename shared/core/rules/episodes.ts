/**
 * From true, false and not evaluated to episodes: candidate → confirmed → cleared.
 *
 * A candidate begins with the first stretch of true that lasts `persistenceMs`; a false or unknown moment breaks a
 * stretch. It is confirmed once the building day has `dailyMinimumMs` of true. Evaluated-false for `clearMs` in all ends
 * it at the first of those moments. Time that is not evaluated neither ends nor feeds it, until nothing has been evaluated
 * for `LAPSE_MS`: nobody knows of the fault any more, and it ends where it was last looked at.
 */
import { nothingSpent } from '../impact/meter.ts'
import { DAY } from '../time.ts'

/** A weekend without the plant does not end a fault; an equipment or a point that is gone for good does. */
export const LAPSE_MS = 3 * DAY

/** The worst moment of a stretch, with what was seen then. */
export type Moment = { at: number; measure: number; seen: Float64Array }
/** Time in fault, ms, how much of it each conditional cause held, and what the fault's meter summed meanwhile. */
export type Tally = { trueMs: number; causeMs: Float64Array; spent: Float64Array }

export type Episode = {
  from: number
  to: number | null
  confirmed_at: number
  worst: Moment
  tally: Tally
  /** By index of the building day. */
  days: Map<number, Tally>
}

/** A stretch of one state within one building day, `[from, to)`. */
export type Stretch = { from: number; to: number; day: number; state: 'true' | 'false' | 'unknown' }
export type Seen = { worst: Moment; causeMs: Float64Array; spent: Float64Array }

export type EpisodeLimits = { persistenceMs: number; dailyMinimumMs: number; clearMs: number; causes: number }

/** An episode that an earlier run left open and that began before this run's data: `trueMs` is its time until `upTo`. */
export type OpenEpisode = { from: number; confirmed_at: number; trueMs: number; upTo: number }

export function episodeTracker(limits: EpisodeLimits, carried?: OpenEpisode) {
  const done: Episode[] = []
  let day = -1
  let dayTrueMs = 0
  let stretchFrom = Number.NaN
  let falseFrom = Number.NaN
  let falseMs = 0
  /** End of the last time that was evaluated. */
  let lookedTo = Number.NaN
  /** What is being gathered: a stretch, a candidate or a confirmed episode. */
  let current: Episode | undefined
  let candidate = false
  let confirmed = false
  if (carried) {
    current = begin(carried.from, limits.causes)
    current.confirmed_at = carried.confirmed_at
    current.tally.trueMs = carried.trueMs
    candidate = confirmed = true
  }

  function feedTrue(stretch: Stretch, seen: Seen): void {
    const { from, to } = stretch
    if (stretchFrom !== stretchFrom) stretchFrom = from
    falseFrom = Number.NaN
    falseMs = 0
    if (!current) current = begin(stretchFrom, limits.causes)
    gather(current, stretch, seen, carried?.upTo ?? -Infinity)
    const persistedAt = Math.max(from, stretchFrom + limits.persistenceMs)
    if (persistedAt <= to) candidate = true
    const enoughAt = Math.max(
      from + limits.dailyMinimumMs - dayTrueMs,
      candidate && current.from < stretchFrom ? from : persistedAt,
    )
    if (candidate && !confirmed && enoughAt <= to) {
      confirmed = true
      current.confirmed_at = Math.max(from, enoughAt)
    }
    dayTrueMs += to - from
  }

  function feedFalse({ from, to }: Stretch): void {
    stretchFrom = Number.NaN
    if (!candidate) {
      current = undefined
      return
    }
    if (falseMs === 0) falseFrom = from
    falseMs += to - from
    if (falseMs >= limits.clearMs) end(falseFrom)
  }

  function end(to: number): void {
    if (current && confirmed) done.push({ ...current, to })
    current = undefined
    candidate = confirmed = false
    falseMs = 0
  }

  return {
    /** Stretches in time order; `seen` comes with those that are true. */
    feed(whole: Stretch, seen?: Seen): void {
      if (carried && whole.to <= carried.confirmed_at) return
      const stretch = carried ? { ...whole, from: Math.max(whole.from, carried.confirmed_at) } : whole
      if (stretch.day !== day) dayTrueMs = 0
      day = stretch.day
      if (stretch.state !== 'unknown') lookedTo = stretch.to
      else if (Number.isNaN(lookedTo)) lookedTo = stretch.from
      if (stretch.state === 'true') feedTrue(stretch, seen!)
      else if (stretch.state === 'false') feedFalse(stretch)
      else {
        stretchFrom = Number.NaN
        if (!candidate) current = undefined
        if (candidate && stretch.to - lookedTo >= LAPSE_MS) end(falseMs > 0 ? falseFrom : lookedTo)
      }
    },
    /** Confirmed episodes in time order; the last may still be open. */
    episodes: (): Episode[] => (current && confirmed ? [...done, current] : done),
    /** How many there are, and those with time in fault on one day, the last first. */
    count: (): number => done.length + (current && confirmed ? 1 : 0),
    on(index: number): Episode[] {
      const found = current && confirmed && current.days.has(index) ? [current] : []
      for (let i = done.length - 1; i >= 0 && done[i]!.days.has(index); i--) found.push(done[i]!)
      return found
    },
  }
}

const begin = (from: number, causes: number): Episode => ({
  from,
  to: null,
  confirmed_at: Number.NaN,
  worst: { at: from, measure: -Infinity, seen: new Float64Array(0) },
  tally: { trueMs: 0, causeMs: new Float64Array(causes), spent: nothingSpent() },
  days: new Map(),
})

/** Adds a true stretch; of a carried episode, what lies before `countedUpTo` is in its time already. */
function gather(episode: Episode, { from, to, day }: Stretch, { worst, causeMs, spent }: Seen, countedUpTo: number): void {
  const { tally, days } = episode
  const ofDay = days.get(day) ?? { trueMs: 0, causeMs: new Float64Array(causeMs.length), spent: nothingSpent() }
  days.set(day, ofDay)
  ofDay.trueMs += to - from
  tally.trueMs += Math.max(0, to - Math.max(from, countedUpTo))
  for (let i = 0; i < causeMs.length; i++) {
    ofDay.causeMs[i] = ofDay.causeMs[i]! + causeMs[i]!
    tally.causeMs[i] = tally.causeMs[i]! + causeMs[i]!
  }
  for (let i = 0; i < spent.length; i++) {
    ofDay.spent[i]! += spent[i]!
    tally.spent[i]! += spent[i]!
  }
  if (worst.measure > episode.worst.measure) episode.worst = worst
}

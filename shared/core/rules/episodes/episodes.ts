/**
 * From intervals of true, false and not evaluated to episodes: candidate → confirmed → cleared. This is the entry of the
 * phase: the tracker takes the intervals of one rule on one equipment in time order and gives its episodes.
 *
 * A candidate begins with the first stretch of true that lasts `persistenceMs`; false or not evaluated breaks a stretch. It
 * is confirmed once the building day has `dailyMinimumMs` of true. Evaluated-false for `clearMs` in total ends it at the
 * first of those moments. Time that is not evaluated neither ends nor extends it, until nothing has been evaluated for
 * `LAPSE_MS`; then it ends where it was last evaluated.
 */
import { addStretch } from '#shared/core/findings/fault-time.ts'
import { type FaultStretch } from '#shared/core/findings/finding.ts'
import type { BaselineView } from '#shared/core/findings/finding.ts'
import { emptyWasteSums } from '#shared/core/impact/waste-meter.ts'
import { DAY } from '#shared/core/time.ts'
import { type NearMissDay, recordTrue } from './unconfirmed.ts'

/** Long enough that a weekend with the plant off does not end a fault; removed equipment or a removed point does. */
export const LAPSE_MS = 3 * DAY

/** The worst moment of an interval, with the values of terms and figures then. */
export type WorstMoment = {
  at: number
  measure: number
  seen: Float64Array
  /** Known only while the samples of its day are loaded; set on first use. */
  inputs?: Record<string, number | null>
  baselines?: BaselineView[]
}
/** Time in fault, ms, for how much of it each conditional cause held, and the sums of the waste meter. */
export type Tally = { trueMs: number; causeMs: Float64Array; spent: Float64Array }

export type Episode = {
  from: number
  to: number | null
  confirmed_at: number
  worst: WorstMoment
  tally: Tally
  /** The stretches that make up `tally.trueMs`. */
  stretches: FaultStretch[]
  /**
   * Time in fault, ms, that was evaluated by this run or the runs whose state it resumed; less than `tally.trueMs` for a
   * carried episode.
   */
  seenMs: number
  /** By index of the building day. */
  days: Map<number, Tally>
}

/** An interval of one state within one building day, `[from, to)`. */
export type StateInterval = { from: number; to: number; day: number; state: 'true' | 'false' | 'unknown' }
export type IntervalDetail = { worst: WorstMoment; causeMs: Float64Array; spent: Float64Array }

type EpisodeLimits = { persistenceMs: number; dailyMinimumMs: number; clearMs: number; causes: number }

/** An episode that an earlier run left open and that began before this run's data; its figures are those until `upTo`. */
export type OpenEpisode = {
  from: number
  confirmed_at: number
  trueMs: number
  stretches: readonly FaultStretch[]
  spent: Float64Array
  upTo: number
}

/** The state of a rule between two intervals. */
export type EpisodeState = {
  done: Episode[]
  /** Number of finished episodes that are no longer stored. */
  dropped: number
  day: number
  dayTrueMs: number
  stretchFrom: number
  falseFrom: number
  falseMs: number
  /** Days on which the condition held for a time. */
  near: NearMissDay[]
  /** End of the last evaluated interval. */
  lookedTo: number
  /** The current stretch, candidate or confirmed episode. */
  current?: Episode
  candidate: boolean
  confirmed: boolean
  carried?: OpenEpisode
}

export function initialEpisodeState({ causes }: EpisodeLimits, carried?: OpenEpisode): EpisodeState {
  const nothing: EpisodeState = {
    done: [],
    dropped: 0,
    day: -1,
    dayTrueMs: 0,
    stretchFrom: Number.NaN,
    falseFrom: Number.NaN,
    falseMs: 0,
    near: [],
    lookedTo: Number.NaN,
    candidate: false,
    confirmed: false,
  }
  if (!carried) return nothing
  const current = newEpisode(carried.from, causes)
  current.confirmed_at = carried.confirmed_at
  current.tally.trueMs = carried.trueMs
  current.stretches = [...carried.stretches]
  current.tally.spent = carried.spent
  return { ...nothing, current, candidate: true, confirmed: true, carried }
}

/** @param held the state, changed in place */
export function createEpisodeTracker(limits: EpisodeLimits, held: EpisodeState) {
  const { done, carried } = held

  function feedTrue(stretch: StateInterval, seen: IntervalDetail): void {
    const { from, to } = stretch
    if (held.stretchFrom !== held.stretchFrom) held.stretchFrom = from
    held.falseFrom = Number.NaN
    held.falseMs = 0
    held.current ??= newEpisode(held.stretchFrom, limits.causes)
    const { current, stretchFrom } = held
    addTrueInterval(current, stretch, seen, carried?.upTo ?? -Infinity)
    const persistedAt = Math.max(from, stretchFrom + limits.persistenceMs)
    if (persistedAt <= to) held.candidate = true
    const enoughAt = Math.max(
      from + limits.dailyMinimumMs - held.dayTrueMs,
      held.candidate && current.from < stretchFrom ? from : persistedAt,
    )
    if (held.candidate && !held.confirmed && enoughAt <= to) {
      held.confirmed = true
      current.confirmed_at = Math.max(from, enoughAt)
    }
    held.dayTrueMs += to - from
    recordTrue(held.near, stretch.day, to - from, to - stretchFrom)
  }

  function feedFalse({ from, to }: StateInterval): void {
    held.stretchFrom = Number.NaN
    if (!held.candidate) {
      delete held.current
      return
    }
    if (held.falseMs === 0) held.falseFrom = from
    held.falseMs += to - from
    if (held.falseMs >= limits.clearMs) end(held.falseFrom)
  }

  function feedUnknown({ to }: StateInterval): void {
    held.stretchFrom = Number.NaN
    if (!held.candidate) delete held.current
    else if (to - held.lookedTo >= LAPSE_MS) end(held.falseMs > 0 ? held.falseFrom : held.lookedTo)
  }

  function end(to: number): void {
    if (held.current && held.confirmed) done.push({ ...held.current, to })
    delete held.current
    held.candidate = held.confirmed = false
    held.falseMs = 0
  }

  const open = () => (held.confirmed ? held.current : undefined)
  return {
    /** Takes intervals in time order; `seen` is given for those that are true. */
    feed(whole: StateInterval, seen?: IntervalDetail): void {
      if (carried && whole.to <= carried.confirmed_at) return
      const stretch = carried ? { ...whole, from: Math.max(whole.from, carried.confirmed_at) } : whole
      if (stretch.day !== held.day) held.dayTrueMs = 0
      held.day = stretch.day
      if (stretch.state !== 'unknown') held.lookedTo = stretch.to
      else if (Number.isNaN(held.lookedTo)) held.lookedTo = stretch.from
      if (stretch.state === 'true') feedTrue(stretch, seen!)
      else if (stretch.state === 'false') feedFalse(stretch)
      else feedUnknown(stretch)
    },
    /** @returns confirmed episodes in time order; the last may still be open */
    episodes: (): Episode[] => {
      const current = open()
      return current ? [...done, current] : done
    },
    /** @returns the number of episodes so far */
    count: (): number => held.dropped + done.length + (open() ? 1 : 0),
    on(index: number): Episode[] {
      const current = open()
      const found = current?.days.has(index) ? [current] : []
      for (let i = done.length - 1; i >= 0 && done[i]!.days.has(index); i--) found.push(done[i]!)
      return found
    },
    held,
  }
}

const newEpisode = (from: number, causes: number): Episode => ({
  from,
  to: null,
  confirmed_at: Number.NaN,
  worst: { at: from, measure: -Infinity, seen: new Float64Array(0) },
  tally: { trueMs: 0, causeMs: new Float64Array(causes), spent: emptyWasteSums() },
  stretches: [],
  seenMs: 0,
  days: new Map(),
})

/** Adds a true interval. The time and waste of a carried episode already include what lies before `countedUpTo`. */
function addTrueInterval(
  episode: Episode,
  { from, to, day }: StateInterval,
  { worst, causeMs, spent }: IntervalDetail,
  countedUpTo: number,
): void {
  const { tally, days } = episode
  const ofDay = days.get(day) ?? { trueMs: 0, causeMs: new Float64Array(causeMs.length), spent: emptyWasteSums() }
  days.set(day, ofDay)
  ofDay.trueMs += to - from
  const newMs = Math.max(0, to - Math.max(from, countedUpTo))
  tally.trueMs += newMs
  addStretch(episode.stretches, [to - newMs, to, newMs])
  episode.seenMs += to - from
  for (let i = 0; i < causeMs.length; i++) {
    ofDay.causeMs[i] = ofDay.causeMs[i]! + causeMs[i]!
    tally.causeMs[i] = tally.causeMs[i]! + causeMs[i]!
  }
  for (let i = 0; i < spent.length; i++) {
    ofDay.spent[i]! += spent[i]!
    tally.spent[i]! += newMs < to - from ? (spent[i]! * newMs) / (to - from) : spent[i]!
  }
  if (worst.measure > episode.worst.measure) episode.worst = worst
}

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

/** Follows one rule on one equipment from interval to interval. Its state is plain data, so that it can be saved between days. */
export class EpisodeTracker {
  private readonly limits: EpisodeLimits
  private readonly state: EpisodeState

  /** @param state changed in place */
  constructor(limits: EpisodeLimits, state: EpisodeState) {
    this.limits = limits
    this.state = state
  }

  /** @param whole intervals are given in time order; `detail` with those that are true */
  feed(whole: StateInterval, detail?: IntervalDetail): void {
    const { state } = this
    const { carried } = state
    if (carried && whole.to <= carried.confirmed_at) return
    const interval = carried ? { ...whole, from: Math.max(whole.from, carried.confirmed_at) } : whole
    if (interval.day !== state.day) state.dayTrueMs = 0
    state.day = interval.day
    if (interval.state !== 'unknown') state.lookedTo = interval.to
    else if (Number.isNaN(state.lookedTo)) state.lookedTo = interval.from
    if (interval.state === 'true') this.feedTrue(interval, detail!)
    else if (interval.state === 'false') this.feedFalse(interval)
    else this.feedUnknown(interval)
  }

  /** @returns confirmed episodes in time order; the last may still be open */
  episodes(): Episode[] {
    const current = this.open()
    return current ? [...this.state.done, current] : this.state.done
  }

  /** @returns the number of episodes so far */
  count(): number {
    return this.state.dropped + this.state.done.length + (this.open() ? 1 : 0)
  }

  /** @returns the episodes with time in fault on a day, the last first */
  on(dayIndex: number): Episode[] {
    const { done } = this.state
    const current = this.open()
    const found = current?.days.has(dayIndex) ? [current] : []
    for (let i = done.length - 1; i >= 0 && done[i]!.days.has(dayIndex); i--) found.push(done[i]!)
    return found
  }

  private open(): Episode | undefined {
    return this.state.confirmed ? this.state.current : undefined
  }

  private feedTrue(interval: StateInterval, detail: IntervalDetail): void {
    const { state, limits } = this
    const { from, to } = interval
    if (state.stretchFrom !== state.stretchFrom) state.stretchFrom = from
    state.falseFrom = Number.NaN
    state.falseMs = 0
    state.current ??= newEpisode(state.stretchFrom, limits.causes)
    const { current, stretchFrom } = state
    addTrueInterval(current, interval, detail, state.carried?.upTo ?? -Infinity)
    const persistedAt = Math.max(from, stretchFrom + limits.persistenceMs)
    if (persistedAt <= to) state.candidate = true
    const enoughAt = Math.max(
      from + limits.dailyMinimumMs - state.dayTrueMs,
      state.candidate && current.from < stretchFrom ? from : persistedAt,
    )
    if (state.candidate && !state.confirmed && enoughAt <= to) {
      state.confirmed = true
      current.confirmed_at = Math.max(from, enoughAt)
    }
    state.dayTrueMs += to - from
    recordTrue(state.near, interval.day, to - from, to - stretchFrom)
  }

  private feedFalse({ from, to }: StateInterval): void {
    const { state } = this
    state.stretchFrom = Number.NaN
    if (!state.candidate) {
      delete state.current
      return
    }
    if (state.falseMs === 0) state.falseFrom = from
    state.falseMs += to - from
    if (state.falseMs >= this.limits.clearMs) this.end(state.falseFrom)
  }

  private feedUnknown({ to }: StateInterval): void {
    const { state } = this
    state.stretchFrom = Number.NaN
    if (!state.candidate) delete state.current
    else if (to - state.lookedTo >= LAPSE_MS) this.end(state.falseMs > 0 ? state.falseFrom : state.lookedTo)
  }

  private end(to: number): void {
    const { state } = this
    if (state.current && state.confirmed) state.done.push({ ...state.current, to })
    delete state.current
    state.candidate = state.confirmed = false
    state.falseMs = 0
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

/** Adds a true interval. The time and waste of a carried episode already include everything before `countedUpTo`. */
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

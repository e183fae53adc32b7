/** The instants at which one building day is evaluated: every full minute, and every change between them. */
import { DAY, MINUTE } from '#shared/core/time.ts'
import { dateOf, nextDay } from '#shared/core/time-zone.ts'
import { firstAtOrAfter, type StepSignal } from '#shared/core/rules/compile/step-signal.ts'

/** `index` counts calendar days; it is the same in every run. */
export type BuildingDay = { index: number; date: string; from: number; to: number }

/** The instants of a day. A row holds until the next one, the last until `day.to`. */
export type DayRows = {
  day: BuildingDay
  n: number
  /** [n + 1] instants, ms; the last is `day.to` */
  t: Float64Array
  /** [n] 1 on a full minute; windows are calculated then, and whenever their input changes */
  minute: Uint8Array
  /** Every row is a full minute and none is missing. The last one may be shorter, on a day that is not over. */
  isMinutely: boolean
}

/** Longest span of one run, days: ten years. */
const DAYS_MAX = 3660

/** @returns the building days of `[from, to)`, the first and the last clipped to it; `from` is rounded down to its minute */
export function buildingDays(from: number, to: number, timezone: string): BuildingDay[] {
  const days: BuildingDay[] = []
  let at = Math.floor(from / MINUTE) * MINUTE
  while (at < to) {
    if (days.length > DAYS_MAX) throw new RangeError(`a run spans at most ${DAYS_MAX} days`)
    const next = nextDay(at, timezone)
    const date = dateOf(at, timezone)
    days.push({ index: Date.parse(date) / DAY, date, from: at, to: Math.min(next, to) })
    at = next
  }
  return days
}

/** @returns a function that gives the rows of one day after another, in the same buffers */
export function createRowLayout(sources: StepSignal[]): (day: BuildingDay) => DayRows {
  let t = new Float64Array(1500)
  let minute = new Uint8Array(1500)
  const offMinute = sources.map(steps => steps.offMinuteChanges).filter(times => times.length > 0)
  return day => {
    const extra = extraRows(offMinute, day)
    const most = Math.ceil((day.to - day.from) / MINUTE) + extra.length + 1
    if (t.length < most) {
      t = new Float64Array(most)
      minute = new Uint8Array(most)
    }
    let n = 0
    let next = 0
    for (let at = day.from; at < day.to; at += MINUTE) {
      minute[n] = 1
      t[n++] = at
      for (; next < extra.length && extra[next]! < at + MINUTE; next++) {
        minute[n] = 0
        t[n++] = extra[next]!
      }
    }
    t[n] = day.to
    return { day, n, t, minute, isMinutely: extra.length === 0 }
  }
}

/** Changes between the minutes, ascending and each once. */
function extraRows(offMinute: Float64Array[], { from, to }: BuildingDay): Float64Array {
  const parts = offMinute.map(times => times.subarray(firstAtOrAfter(times, from), firstAtOrAfter(times, to)))
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  all.sort()
  let kept = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!
  return all.subarray(0, kept)
}

/** The hours of a building's clock, each with its index in the week, across daylight-saving changes. */
import { DAY, HOUR } from '../time.ts'
import { dayStart, nextDay, wallOf } from '#shared/core/time-zone.ts'
import type { TakeInterval } from './signal-merge.ts'

export const HOURS_PER_WEEK = 7 * 24

export type WeekHours = {
  /** [n + 1] beginnings of the hours in ms, and the end of the last. */
  bounds: Float64Array
  /** [n] 0 is Sunday 00:00, 167 Saturday 23:00. The hour that is repeated in autumn has the same index twice. */
  slots: Uint8Array
}

/**
 * @param from the first hour is that of the beginning of its day
 * @returns the hours that end by `to`
 */
export function weekHours(from: number, to: number, timezone: string): WeekHours {
  const bounds: number[] = []
  const slots: number[] = []
  for (let day = dayStart(from, timezone), end = 0; day < to; day = end) {
    end = nextDay(day, timezone)
    for (let at = day; at < end; at += HOUR) {
      if (Math.min(at + HOUR, end) > to) return finished(bounds, slots, at)
      bounds.push(at)
      slots.push(slotOf(at, timezone))
    }
  }
  return finished(bounds, slots, to)
}

const finished = (bounds: number[], slots: number[], end: number): WeekHours => ({
  bounds: Float64Array.from([...bounds, end]),
  slots: Uint8Array.from(slots),
})

function slotOf(ms: number, timezone: string): number {
  const { year, month, day, hour } = wallOf(ms, timezone)
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() * 24 + hour
}

/** Share of an hour for which a point must be known. */
const COVER = 0.5

/** Time-weighted means of one signal by hour. Memory is two numbers an hour, whatever the sampling. */
export function createHourMeans({ bounds }: WeekHours): { take: TakeInterval; means(): Float64Array } {
  const n = bounds.length - 1
  const known = new Float64Array(n)
  const sums = new Float64Array(n)
  let hour = 0
  return {
    take(from, to, values) {
      const value = values[0]!
      while (hour < n && from >= bounds[hour + 1]!) hour++
      if (Number.isNaN(value)) return
      for (let at = Math.max(from, bounds[0]!), i = hour; i < n && at < to; i++) {
        const until = Math.min(to, bounds[i + 1]!)
        known[i]! += until - at
        sums[i]! += value * (until - at)
        at = until
      }
    },
    means: () => sums.map((sum, i) => (known[i]! >= COVER * (bounds[i + 1]! - bounds[i]!) ? sum / known[i]! : Number.NaN)),
  }
}

/** Number of past weeks with which hours are compared. */
export const WEEKS = 8
/** @returns the beginning of the past for hours from `from` on */
export const pastBegin = (from: number): number => from - WEEKS * 7 * DAY

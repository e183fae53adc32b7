/** Tick marks of a plot: round values, and round times of the building's clock. */
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'

/** Values closer than this share of their size lie on one line: an axis of their differences would show rounding. */
const FLAT = 1e-6

const STEPS = [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR]
const DAY_STEPS = [1, 2, 7, 14, 30, 91, 365]

/**
 * Ticks at round times of the building's clock.
 *
 * @param most how many fit
 * @returns instants in `[from, to)`, ascending, and whether each starts a day
 */
export function timeTicks(from: number, to: number, timezone: string, most: number): { at: number; day: boolean }[] {
  const span = to - from
  const step = STEPS.find(candidate => span / candidate <= most)
  const every = step ? 1 : (DAY_STEPS.find(days => span / (days * DAY) <= most) ?? 365)
  const ticks: { at: number; day: boolean }[] = []
  let count = 0
  for (let day = dayStart(from, timezone); day < to; day = nextDay(day, timezone)) {
    if (count++ % every === 0 && day >= from) ticks.push({ at: day, day: true })
    if (!step) continue
    const end = Math.min(nextDay(day, timezone), to)
    for (let at = day + step; at < end; at += step) if (at >= from) ticks.push({ at, day: false })
  }
  return ticks
}

/** @returns about `count` round values that enclose `[low, high]`, ascending, at least two */
export function valueTicks(low: number, high: number, count: number): number[] {
  const flat = high - low <= FLAT * Math.max(1, Math.abs(low), Math.abs(high))
  const [bottom, top] = flat ? [low - 1, high + 1] : [low, high]
  const rough = (top - bottom) / count
  const magnitude = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map(factor => factor * magnitude).find(candidate => candidate >= rough) ?? 10 * magnitude
  const first = Math.floor(bottom / step + 1e-9)
  const last = Math.ceil(top / step - 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

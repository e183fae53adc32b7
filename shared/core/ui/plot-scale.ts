/** Numbers behind a plot: tick marks on values and on the building's clock, and the stretches without data. */
import type { Buckets } from '../series.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import { dayStart, nextDay } from '../zone.ts'

export type Span = { from: number; to: number }

/** A sample is taken to hold for at most this many nominal intervals, as the engine does. */
export const HOLDS_INTERVALS = 3

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

/**
 * Where a trace has no data: longer without a sample than a sample may hold.
 *
 * @param nominalMs nominal time between samples
 * @param until end of what can have data by now
 */
export function gapsOf({ from, step, count }: Buckets, nominalMs: number, until: number): Span[] {
  const holds = HOLDS_INTERVALS * nominalMs
  const gaps: Span[] = []
  let seen = from
  const close = (at: number) => {
    if (at - seen > holds) gaps.push({ from: seen, to: at })
  }
  for (const [i, samples] of count.entries()) {
    if (!samples) continue
    close(from + i * step)
    seen = from + (i + 1) * step
  }
  close(until)
  return gaps
}

/** Joins spans that touch or overlap. @returns ascending */
export function joined(spans: Span[]): Span[] {
  const out: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = out.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else out.push({ ...span })
  }
  return out
}

/** @returns the parts that lie in every one of `lists`, each without overlaps and ascending; none when there are no lists */
export function common(lists: Span[][]): Span[] {
  const [first = [], ...rest] = lists
  return rest.reduce((kept, spans) => kept.flatMap(({ from, to }) => clipped(spans, from, to)), first)
}

/** @returns ms covered by spans that do not overlap */
export const lengthOf = (spans: Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

/** @returns the parts of spans that lie within `[from, to)` */
export const clipped = (spans: Span[], from: number, to: number): Span[] =>
  spans.map(span => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) })).filter(span => span.from < span.to)

/** What a trace's own samples say of their nominal interval, ms; for points that are not polled by us. */
export function nominalOf({ step, count }: Buckets): number {
  const filled = [...count.keys()].filter(i => count[i]! > 0)
  const dense = median(filled.map(i => count[i]!))
  if (dense > 1) return step / dense
  return step * (median(filled.slice(1).map((i, k) => i - filled[k]!)) || 1)
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Spans of time: their overlaps, and gaps without data. Instants in ms since 1970 UTC. */
import type { Buckets } from './series.ts'
import { upperMedianOf } from './statistics.ts'

/** `[from, to)` */
export type Span = { from: number; to: number }

/** A sample holds for at most this many nominal intervals, as in the engine. */
export const HOLDS_INTERVALS = 3

/**
 * The gaps of a trace: times without a sample that are longer than a sample holds.
 *
 * @param nominalMs nominal time between samples
 * @param until end of the time that can have data
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

/**
 * When a trace ended: the instant of its newest sample, where that is older than a sample holds.
 *
 * @param at newest sample, usable or not; null where there is none
 * @param known until when something can be known: the present, or where the building's data ended
 */
export const endedAt = (at: number | null, nominalMs: number, known: number): number | undefined =>
  at !== null && known - at > HOLDS_INTERVALS * nominalMs ? at : undefined

/** Merges spans that touch or overlap. @returns ascending */
export function mergeSpans(spans: Span[]): Span[] {
  const out: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = out.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else out.push({ ...span })
  }
  return out
}

/** @returns the parts that are in every one of `lists`, each without overlaps and ascending; none when there are no lists */
export function intersectSpans(lists: Span[][]): Span[] {
  const [first = [], ...rest] = lists
  return rest.reduce((kept, spans) => kept.flatMap(({ from, to }) => clipSpans(spans, from, to)), first)
}

/** @returns ms covered by spans that do not overlap */
export const totalLength = (spans: Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

/** @returns the parts of spans within `[from, to)` */
export const clipSpans = (spans: Span[], from: number, to: number): Span[] =>
  spans.map(span => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) })).filter(span => span.from < span.to)

/** The nominal interval derived from the samples of a trace, ms; for points that are not polled by us. */
export function usualInterval({ step, count }: Buckets): number {
  const filled = [...count.keys()].filter(i => count[i]! > 0)
  const dense = upperMedianOf(filled.map(i => count[i]!)) ?? 0
  if (dense > 1) return step / dense
  return step * (upperMedianOf(filled.slice(1).map((i, k) => i - filled[k]!)) ?? 1)
}

/** Spans of time: where they overlap, and where a series has no data. Instants in ms since 1970 UTC. */
import type { Buckets } from './series.ts'

/** `[from, to)` */
export type Span = { from: number; to: number }

/** A sample is taken to hold for at most this many nominal intervals, as the engine does. */
export const HOLDS_INTERVALS = 3

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
export function mergeSpans(spans: Span[]): Span[] {
  const out: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = out.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else out.push({ ...span })
  }
  return out
}

/** @returns the parts that lie in every one of `lists`, each without overlaps and ascending; none when there are no lists */
export function intersectSpans(lists: Span[][]): Span[] {
  const [first = [], ...rest] = lists
  return rest.reduce((kept, spans) => kept.flatMap(({ from, to }) => clipSpans(spans, from, to)), first)
}

/** @returns ms covered by spans that do not overlap */
export const totalLength = (spans: Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

/** @returns the parts of spans that lie within `[from, to)` */
export const clipSpans = (spans: Span[], from: number, to: number): Span[] =>
  spans.map(span => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) })).filter(span => span.from < span.to)

/** What a trace's own samples say of their nominal interval, ms; for points that are not polled by us. */
export function usualInterval({ step, count }: Buckets): number {
  const filled = [...count.keys()].filter(i => count[i]! > 0)
  const dense = median(filled.map(i => count[i]!))
  if (dense > 1) return step / dense
  return step * (median(filled.slice(1).map((i, k) => i - filled[k]!)) || 1)
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/**
 * Untrusted spans: parts of history for which the exporter does not vouch. They are stored and shown, but rules do not use
 * them.
 */

/** `[from, to)`, ms. */
export type UntrustedSpan = readonly [from: number, to: number]

/** @returns whether an instant is in one of the spans, which ascend */
export function isUntrusted(stretches: readonly UntrustedSpan[], t: number): boolean {
  for (const [from, to] of stretches) {
    if (t < from) return false
    if (t < to) return true
  }
  return false
}

/** @returns values with NaN in place of those in one of the spans; the same array where there are none */
export function withoutUntrusted(ts: Float64Array, values: Float64Array, stretches: readonly UntrustedSpan[]): Float64Array {
  let masked = values
  let next = 0
  for (let i = 0; i < ts.length && next < stretches.length; i++) {
    while (next < stretches.length && stretches[next]![1] <= ts[i]!) next++
    if (next === stretches.length || ts[i]! < stretches[next]![0]) continue
    if (masked === values) masked = values.slice()
    masked[i] = Number.NaN
  }
  return masked
}

/** @returns spans merged: ascending, without overlaps and empty ones */
export function mergeUntrusted(stretches: readonly UntrustedSpan[]): UntrustedSpan[] {
  const joined: [number, number][] = []
  for (const [from, to] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (to <= from) continue
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** @returns the parts of the spans outside of `[from, to)` */
export const withoutSpan = (stretches: readonly UntrustedSpan[], [from, to]: UntrustedSpan): UntrustedSpan[] =>
  mergeUntrusted(
    stretches.flatMap(([a, b]): UntrustedSpan[] => [
      [a, Math.min(b, from)],
      [Math.max(a, to), b],
    ]),
  )

/** @returns the parts of `[from, to)` that are in none of the trusted windows */
export function untrustedOutside(windows: readonly UntrustedSpan[], [from, to]: UntrustedSpan): UntrustedSpan[] {
  let rest: UntrustedSpan[] = [[from, to]]
  for (const window of windows) rest = withoutSpan(rest, window)
  return mergeUntrusted(rest)
}

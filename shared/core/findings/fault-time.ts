/**
 * When the condition of a finding was true. The duration of a finding, the shading on its plot, its row in a list and the
 * hours in fault of its equipment all use this one record.
 */
import type { FaultStretch, Finding } from './finding.ts'

/** More than a plot can show. Beyond, the two stretches with the shortest pause between them are joined. */
export const STRETCHES_MAX = 48

/** Adds a stretch that begins at or after the end of the last one. */
export function addStretch(stretches: FaultStretch[], [from, to, trueMs]: FaultStretch): void {
  if (to <= from) return
  const last = stretches.at(-1)
  if (last && from <= last[1]) stretches[stretches.length - 1] = [last[0], to, last[2] + trueMs]
  else stretches.push([from, to, trueMs])
  if (stretches.length > STRETCHES_MAX) joinNearest(stretches)
}

function joinNearest(stretches: FaultStretch[]): void {
  let nearest = 1
  const pause = (i: number) => stretches[i]![0] - stretches[i - 1]![1]
  for (let i = 2; i < stretches.length; i++) if (pause(i) < pause(nearest)) nearest = i
  const [before, after] = [stretches[nearest - 1]!, stretches[nearest]!]
  stretches.splice(nearest - 1, 2, [before[0], after[1], before[2] + after[2]])
}

/** @returns the parts within `[from, to)`; the time of a joined stretch that is clipped counts in proportion */
export const stretchesWithin = (stretches: readonly FaultStretch[], from: number, to: number): FaultStretch[] =>
  stretches.flatMap(([start, end, trueMs]): FaultStretch[] => {
    const [first, last] = [Math.max(start, from), Math.min(end, to)]
    return first < last ? [[first, last, (trueMs * (last - first)) / (end - start)]] : []
  })

export const trueMsOf = (stretches: readonly FaultStretch[]): number => stretches.reduce((sum, [, , trueMs]) => sum + trueMs, 0)

/**
 * @param now the end of an open finding without stretches
 * @returns ascending; for a finding without stretches, one stretch over its whole episode with its duration
 */
export function stretchesOf(
  finding: Pick<Finding, 'from' | 'to' | 'duration_secs' | 'stretches'>,
  now: number,
): readonly FaultStretch[] {
  const { from, to, duration_secs, stretches } = finding
  if (stretches) return stretches
  const end = Math.max(from, to ?? now)
  return [[from, end, Math.min(duration_secs * 1000, end - from)]]
}

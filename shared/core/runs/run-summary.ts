import { type ResultState, type RuleResult, resultState } from '#shared/core/findings/finding.ts'
import type { ReasonCounts, RunRecord, RunSummary } from '#shared/core/ports.ts'

export function summaryOf({ results, ...run }: RunRecord): RunSummary {
  return { ...run, ...countResults(results) }
}

/**
 * @param results each counts `n` times, or once
 * @returns how many results are in each state, which add up to all of them, and the reasons of those that were not evaluated
 */
export function countResults(results: (Pick<RuleResult, 'status' | 'reason'> & { n?: number })[]): {
  counts: Record<ResultState, number>
  reasons: ReasonCounts
} {
  const counts: Record<ResultState, number> = { fault: 0, pass: 0, gated: 0, no_data: 0 }
  const reasons: ReasonCounts = {}
  for (const { n = 1, ...result } of results) {
    counts[resultState(result)] += n
    if (result.status === 'not_evaluated' && result.reason) reasons[result.reason] = (reasons[result.reason] ?? 0) + n
  }
  return { counts, reasons }
}

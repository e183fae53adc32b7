import type { RunRecord, RunSummary } from './ports.ts'

export function summaryOf({ results, ...run }: RunRecord): RunSummary {
  const counts = { fault: 0, pass: 0, not_evaluated: 0 }
  for (const { status } of results) counts[status]++
  return { ...run, counts }
}

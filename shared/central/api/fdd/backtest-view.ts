/** A backtest as the API answers it. */
import type { Finding, RuleResult } from '#shared/core/findings/finding.ts'
import { EPISODE_CHANGES, type ComparedEpisode, countChanges } from '#shared/core/rules/report/compare-findings.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { BacktestReport } from '#shared/flow/fdd/backtest.ts'
import { instantOrNull } from '#shared/central/api/record-views.ts'

/** Episodes that one answer lists; `truncated`: there are more. */
const EPISODES_MAX = 1000

export function backtestView({ from, to, equipment, ...report }: BacktestReport) {
  const sum = (side: 'before' | 'after', what: 'episodes' | 'fault_secs') =>
    equipment.reduce((total, one) => total + one[side][what], 0)
  let room = EPISODES_MAX
  const listed = equipment.map(({ episodes, result_before, result_after, ...one }) => {
    const shown = episodes.slice(0, room)
    room -= shown.length
    return { ...one, result_before: wordOf(result_before), result_after: wordOf(result_after), episodes: shown.map(episodeView) }
  })
  return {
    ok: true,
    ...report,
    from: formatInstant(from),
    to: formatInstant(to),
    counts: {
      before: sum('before', 'episodes'),
      after: sum('after', 'episodes'),
      before_secs: sum('before', 'fault_secs'),
      after_secs: sum('after', 'fault_secs'),
      ...Object.fromEntries(EPISODE_CHANGES.map(change => [change, countChanges(equipment, change)])),
    },
    equipment: listed,
    truncated: equipment.some(({ episodes }, i) => episodes.length > listed[i]!.episodes.length),
  }
}

const wordOf = (result: RuleResult | undefined) =>
  result && { status: result.status, ...(result.reason && { reason: result.reason }), coverage: result.coverage }

const episodeView = ({ change, finding, before_secs }: ComparedEpisode) => ({
  change,
  ...spanView(finding),
  ...(before_secs !== undefined && { before_secs }),
})

function spanView({ role, from, to, duration_secs, suppressed_by, evidence }: Finding) {
  return {
    ...(role !== undefined && { role }),
    from: formatInstant(from),
    to: instantOrNull(to),
    duration_secs,
    silenced: suppressed_by !== undefined,
    sentence: evidence.sentence,
  }
}

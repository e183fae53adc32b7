/**
 * Turns the rule outcomes of one equipment into findings, results and baselines. This is the entry of the phase; what it
 * gives is plain data, so that the samples of the equipment can be dropped.
 */
import type { CauseWeight, Finding, RuleResult } from '#shared/core/findings/finding.ts'
import { wasteOf } from '#shared/core/impact/waste-meter.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { Episode } from '#shared/core/rules/episodes/episodes.ts'
import { causesOf, countedCauses, evidenceOf, hindsightEvidence } from './evidence.ts'
import { trueMsOf } from '#shared/core/findings/fault-time.ts'
import type { Hindsight } from '#shared/core/rules/evaluate/hindsight.ts'
import { findingId, versionOf } from '#shared/core/findings/finding-id.ts'
import {
  type OutcomeTimes,
  commonestReason,
  timesSince,
  noTimes,
  OPEN_REASONS,
  sumTimes,
} from '#shared/core/rules/evaluate/evaluate-day.ts'
import type { RuleOutcome } from '#shared/core/rules/evaluate/run-equipment.ts'
import type { BuildingDay } from '#shared/core/rules/evaluate/day-rows.ts'
import { type SourcedFinding, leavesRead, type FindingSource } from '#shared/core/rules/episodes/suppress.ts'
import type { RuleBaseline, CarriedFinding, RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import { nearestMiss } from '#shared/core/rules/episodes/unconfirmed.ts'

/**
 * A finding with its days in fault that overlap the span. One that ended before the span is not reported and only explains
 * others.
 */
export type ReportedFinding = SourcedFinding & { isReported: boolean; days: FaultDay[] }
/** `cause`: the weights that counted on that day, in the order of the rule. */
type FaultDay = { date: string; cause: CauseWeight[] }

export type EquipmentReport = { findings: ReportedFinding[]; results: RuleResult[]; baselines: RuleBaseline[] }

type Span = Pick<RunPlan, 'building_id' | 'from' | 'to'>
/**
 * Findings that an earlier run left active, with the beginning of the span of the run that received them; and those of the
 * last run.
 */
type EarlierFindings = { carried: CarriedFinding[]; carriedFrom: number; open: CarriedFinding[] }

export function reportEquipment(outcomes: RuleOutcome[], span: Span, known: EarlierFindings): EquipmentReport {
  const made = outcomes.flatMap(outcome => {
    const episodes = outcome.episodes.filter(({ from }) => from < span.to)
    const { hindsight } = outcome
    if (episodes.length === 0 && !hindsight) return []
    const { rule, role, equipment } = outcome.instance
    const source: FindingSource = {
      rule,
      ...(role !== undefined && { role }),
      equipment: { equipment_id: equipment.equipment_id },
      leaves: leavesRead(outcome.instance).map(({ equipment_id, role: read }) => ({ equipment_id, role: read })),
    }
    const found = episodes.map((episode): ReportedFinding => {
      const finding = findingOf(adopt(episode, outcome.instance, known), outcome, span)
      const isReported = overlapsSpan(episode, span) || known.open.some(item => isSame(item, finding))
      return { finding, instance: source, isReported, days: isReported ? faultDays(episode, outcome, span) : [] }
    })
    if (!hindsight) return found
    // What was found within the span is new, however long ago it ended.
    const isReported = hindsight.found_at > span.from
    return [...found, { finding: hindsightOf(hindsight, outcome, span), instance: source, isReported, days: [] }]
  })
  return { findings: made, results: resultsOf(outcomes, span), baselines: outcomes.flatMap(baselinesOf) }
}

const overlapsSpan = ({ to }: Episode, { from }: Span): boolean => to === null || to > from

/** A finding that is still stored as active is reported however long ago it ended. */
const isSame = (item: CarriedFinding, { rule_id, equipment_id, role, from }: Finding): boolean =>
  item.from === from && item.rule_id === rule_id && item.equipment_id === equipment_id && item.role === role

/** An episode that began before the span has the start of the last run, even if this run's history shows another. */
function adopt(episode: Episode, { rule, equipment, role }: RuleInstance, { carried, carriedFrom }: EarlierFindings): Episode {
  const known = carried.find(
    item =>
      item.rule_id === rule.id &&
      item.equipment_id === equipment.equipment_id &&
      item.role === role &&
      item.from < (episode.to ?? Infinity),
  )
  return known && episode.from < carriedFrom ? { ...episode, from: known.from, confirmed_at: known.confirmed_at } : episode
}

/** What a finding is about, and when it began. */
const subjectOf = ({ rule, equipment, role }: RuleInstance, building_id: string, from: number) => ({
  finding_id: findingId(building_id, rule.id, equipment.equipment_id, from, role),
  building_id,
  equipment_id: equipment.equipment_id,
  rule_id: rule.id,
  ...(role !== undefined && { role }),
  kind: rule.kind,
  title: rule.title,
  severity: rule.severity,
  from,
})

function findingOf(episode: Episode, { instance }: RuleOutcome, { building_id }: Span): Finding {
  const { meter } = instance
  const { from, to, confirmed_at, tally, stretches, seenMs } = episode
  return {
    ...subjectOf(instance, building_id, from),
    to,
    confirmed_at,
    duration_secs: Math.round(tally.trueMs / 1000),
    stretches: [...stretches],
    state: to === null ? 'active' : 'cleared',
    cause: causesOf(instance, { trueMs: seenMs, causeMs: tally.causeMs }),
    evidence: evidenceOf(instance, episode),
    ...(meter && { waste: wasteOf(meter, tally.spent) }),
  }
}

function hindsightOf(seen: Hindsight, { instance }: RuleOutcome, { building_id }: Span): Finding {
  const { from, to, found_at, normal_from, stretches, cause } = seen
  return {
    ...subjectOf(instance, building_id, from),
    to,
    confirmed_at: found_at,
    duration_secs: Math.round(trueMsOf(stretches) / 1000),
    stretches,
    state: 'cleared',
    hindsight: { normal_from },
    cause,
    evidence: hindsightEvidence(instance, seen),
  }
}

/** A day that holds only the end of an episode is not a day in fault. */
function faultDays({ days }: Episode, { instance, days: known }: RuleOutcome, { from }: Span): FaultDay[] {
  return [...days].flatMap(([index, tally]) => {
    const day = known.get(index)
    if (!day || day.to <= from || tally.trueMs < instance.dailyMinimumMs) return []
    return [{ date: day.date, cause: countedCauses(instance, tally) }]
  })
}

// ---- results: one for each rule, over all roles of a rule over roles

function resultsOf(outcomes: RuleOutcome[], span: Span): RuleResult[] {
  return [...Map.groupBy(outcomes, ({ instance }) => instance.rule.id).values()].map(group => resultOf(group, span))
}

function resultOf(group: RuleOutcome[], span: Span): RuleResult {
  const { rule, equipment } = group[0]!.instance
  const coverage = sumTimes(group.map(outcome => coverageIn(outcome, span)))
  const evaluated = coverage.evaluatedMs
  const gated = evaluated + missedMs(coverage)
  const share = gated > 0 ? evaluated / gated : 0
  const faultTimes = group.flatMap(outcome =>
    outcome.episodes
      .filter(episode => episode.from < span.to && overlapsSpan(episode, span))
      .map(episode => faultMs(episode, outcome, span)),
  )
  const untrusted = coverage.missedMs.untrusted / group.length
  const base = {
    rule_id: rule.id,
    equipment_id: equipment.equipment_id,
    version: versionOf(group[0]!.instance),
    coverage: share,
    fault_secs: Math.round(faultTimes.reduce((sum, ms) => sum + ms, 0) / 1000),
    episodes: faultTimes.length,
    ...(untrusted > 0 && { untrusted_secs: Math.round(untrusted / 1000) }),
  }
  const missing = [...new Set(group.flatMap(({ instance }) => instance.missing))]
  if (missing.length > 0) return { ...base, status: 'not_evaluated', reason: 'missing_role', missing_roles: missing }
  if (faultTimes.length > 0) return { ...base, status: 'fault' }
  const held = group.filter(({ near }) => near.length > 0)
  const unconfirmed = nearestMiss(held.map(outcome => ({ ...outcome, days: daysWithin(outcome, span) })))
  const coarse = group.find(({ instance }) => instance.coarse)?.instance.coarse
  const sampling = coarse && { every_secs: coarse.everyMs / 1000, needs_secs: coarse.needsMs / 1000 }
  const near = { ...base, ...(unconfirmed && { unconfirmed }), ...(sampling && { sampling }) }
  if (gated > 0 && share >= rule.program.min_coverage - 1e-9) return { ...near, status: 'pass' }
  return { ...near, status: 'not_evaluated', reason: commonestReason(coverage) ?? 'no_data' }
}

const daysWithin = ({ days }: RuleOutcome, { from, to }: Span): Map<number, BuildingDay> =>
  new Map([...days].filter(([, day]) => day.to > from && day.from < to))

/** Times by outcome on the days that overlap the span. */
function coverageIn({ covered, days }: RuleOutcome, { from }: Span): OutcomeTimes {
  for (const { index, to } of days.values()) if (to > from) return timesSince(covered, index)
  return noTimes()
}

/** Time that should have been evaluated; time of untrusted data is not included. */
const missedMs = ({ missedMs: missed }: OutcomeTimes): number =>
  OPEN_REASONS.reduce((sum, reason) => (reason === 'untrusted' ? sum : sum + missed[reason]), 0)

/** Time in fault within the span, ms. */
function faultMs({ days }: Episode, outcome: RuleOutcome, { from, to }: Span): number {
  let sum = 0
  for (const [index, { trueMs }] of days) {
    const day = outcome.days.get(index)
    if (day && day.to > from && day.from < to) sum += Math.min(trueMs, day.to - Math.max(day.from, from))
  }
  return sum
}

function baselinesOf({ instance: { rule, equipment, role }, baselines }: RuleOutcome): RuleBaseline[] {
  return baselines.map(view => ({
    rule_id: rule.id,
    equipment_id: equipment.equipment_id,
    ...(role !== undefined && { role }),
    ...view,
  }))
}

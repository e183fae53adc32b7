/** A finding is one episode of one rule on one equipment (contract §6). Times in memory are ms since 1970 UTC. */
import type { PricingGap, Impact, Waste } from '#shared/core/impact/impact.ts'

export type Severity = 1 | 2 | 3 | 4

/** Three priorities, not more: severities 3 and 4 are both low. */
export type Priority = 1 | 2 | 3
export const PRIORITIES: readonly Priority[] = [1, 2, 3]
export const PRIORITY_WORDS: Record<Priority, string> = { 1: 'high', 2: 'medium', 3: 'low' }

export const priorityOf = (severity: Severity): Priority => (severity <= 3 ? (severity as Priority) : 3)

export const FINDING_KINDS = ['fault', 'control', 'sensor', 'data', 'override', 'energy', 'comfort'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export type CauseWeight = { component: string; weight: number }
export type ParamValue = { value: number; unit: string; source: 'default' | 'site' | 'type' | 'equipment' | 'request' }

export type Evidence = {
  /** The rule's condition as written. */
  expression: string
  /** The same condition term by term with its value at the worst moment. */
  terms: { text: string; holds: boolean | null }[]
  /** Role values at the worst moment, in the role's canonical unit. */
  inputs: Record<string, number | null>
  params: Record<string, ParamValue>
  /** The moment the inputs are taken from. */
  worst_at: number
  /** One sentence in words, with figures. */
  sentence: string
  /** The baselines that the rule compared with at the worst moment's day. */
  baselines?: BaselineView[]
}

/** A baseline of an equipment's own past, and the days that it is based on. */
export type BaselineView = {
  name: string
  /** In the canonical unit of what it measures. */
  value: number | null
  /** Median absolute deviation × 1.4826: the standard deviation, if the days are normally distributed. */
  spread: number | null
  days_used: number
  dates: string[]
  left_out: { date: string; why: string }[]
  /** True until there are enough days; the fallback is used meanwhile. */
  cold: boolean
  /** Absent in findings of an earlier version. */
  min_days?: number
  /** The display unit of `value`; `absolute` for a temperature reading instead of a difference. */
  unit?: string
  absolute?: boolean
  /** The value of the baseline while it is cold, canonical; null when it is not evaluated then. */
  fallback?: number | null
  /** The tolerance while it is cold, canonical; null when the rule has no special one. */
  tolerance_cold?: number | null
}

/** Why a finding ends without being cured. `rule_changed`: the changed rule does not apply to the same samples. */
export const ENDINGS = ['rule_removed', 'rule_deactivated', 'rule_changed', 'not_for_equipment', 'point_unmapped'] as const
/** `at`: when the rule was deactivated; for any other reason, the start of the run that detected it. */
export type Ending = { why: (typeof ENDINGS)[number]; at: number }

/** `[from, to)` in ms since 1970 UTC, and for how many ms of it the condition was true: all, unless two stretches were joined. */
export type FaultStretch = readonly [from: number, to: number, trueMs: number]

export type Finding = {
  /** Hash of building, rule, equipment and start, so edge and hub agree. */
  finding_id: string
  building_id: string
  equipment_id: string
  rule_id: string
  kind: FindingKind
  title: string
  severity: Severity
  /** Episode [from, to); `to` is null while it lasts. */
  from: number
  to: number | null
  confirmed_at: number
  /** Time in fault within the episode, seconds, without gaps and not-evaluated time. */
  duration_secs: number
  /**
   * The stretches in fault, ascending; `duration_secs` is their sum. Absent where another maker's edge, or an earlier
   * version, does not give them.
   */
  stretches?: readonly FaultStretch[]
  state: 'active' | 'cleared'
  /** Set for a finding that was not cured but is no longer evaluated. */
  ended?: Ending
  cause: CauseWeight[]
  evidence: Evidence
  /**
   * Set for a finding that later days made of the equipment's first ones: it had ended before `confirmed_at`, when it was found.
   * `normal_from`: the beginning of the days that showed it, ms.
   */
  hindsight?: { normal_from: number }
  /** The finding that explains this one, which is stored and shown as suppressed. */
  suppressed_by?: string
  /** The override that explains this one, which stays visible with the override as its most likely cause. */
  relabelled_by?: string
  /** The role, for a rule that runs over roles. */
  role?: string
  /** The waste, before sizes and prices are applied. */
  waste?: Waste
  /** The cost; only with reviewed quantities. */
  impact?: Impact
  /** The inputs that are missing for a complete price. */
  not_priced?: PricingGap[]
}

/** What is counted and searched of a finding that lasts, in many buildings. */
export type ActiveFinding = Pick<
  Finding,
  'finding_id' | 'building_id' | 'equipment_id' | 'rule_id' | 'role' | 'kind' | 'title' | 'severity' | 'from' | 'suppressed_by'
>

/** Notes of people on a finding. They are stored separately, so a later run never loses them. */
export type FindingNote = {
  finding_id: string
  ack: 'unacked' | 'acked'
  note?: string
  assignee?: string
  not_a_fault?: string
}

export const RESULT_REASONS = [
  'missing_role',
  'no_data',
  'stale',
  'gated',
  'settling',
  'out_of_range',
  'sampling',
  'insufficient_history',
  'untrusted',
] as const
export type ResultReason = (typeof RESULT_REASONS)[number]

/** Reasons without missing data: the gate was closed. */
export const GATE_CLOSED_REASONS: readonly ResultReason[] = ['gated', 'settling']
export const isGateClosed = (reason: ResultReason | undefined): boolean =>
  reason !== undefined && GATE_CLOSED_REASONS.includes(reason)

/** The result of one rule on one equipment in one run. */
export type RuleResult = {
  rule_id: string
  equipment_id: string
  status: 'fault' | 'pass' | 'not_evaluated'
  /** The most frequent reason for not evaluating. */
  reason?: ResultReason
  missing_roles?: string[]
  /** Share of gated time in which the condition could be evaluated, 0..1. */
  coverage: number
  /** Changes with the rule's file and with its parameters. */
  version?: string
  fault_secs: number
  episodes: number
  /** Time of the span outside of the trusted windows of a package. It is not evaluated and does not lower the coverage. */
  untrusted_secs?: number
  /** Set when the condition held, but not long enough. */
  unconfirmed?: Unconfirmed
  /** The actual and the required interval between samples, where the actual one is too long. */
  sampling?: { every_secs: number; needs_secs: number }
}

/** The time that a condition lacked: without a break, in one building day, or for its window. */
export type Shortfall = { of: 'persistence' | 'daily_minimum' | 'window'; held_secs: number; needs_secs: number }
/** `date`: the building day that came nearest. `role`: for a rule that runs over roles. */
export type Unconfirmed = { date: string; role?: string; short: Shortfall[] }

/** Whether the run evaluated anything; a fault may only have been carried over from an earlier run. */
export const isEvaluated = ({ status, coverage }: Pick<RuleResult, 'status' | 'coverage'>): boolean =>
  status === 'pass' || (status === 'fault' && coverage > 0)

/**
 * `gated`: not applicable in the span, because the gate never opened for long enough. `no_data`: applicable, but could not
 * be evaluated.
 */
export const RESULT_STATES = ['fault', 'pass', 'gated', 'no_data'] as const
export type ResultState = (typeof RESULT_STATES)[number]

/** The state of a result: `not_evaluated` is split by its reason. */
export function resultState({ status, reason }: Pick<RuleResult, 'status' | 'reason'>): ResultState {
  if (status !== 'not_evaluated') return status
  return isGateClosed(reason) ? 'gated' : 'no_data'
}

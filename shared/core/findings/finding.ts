/** A finding is one episode of one rule on one equipment (contract §6). Times in memory are ms since 1970 UTC. */
import type { PricingGap, Impact, Waste } from '#shared/core/impact/impact.ts'

export type Severity = 1 | 2 | 3 | 4

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

/** What a baseline of an equipment's own past stands on. */
export type BaselineView = {
  name: string
  /** In the canonical unit of what it measures. */
  value: number | null
  /** Median absolute deviation × 1.4826: the standard deviation, were the days normally spread. */
  spread: number | null
  days_used: number
  dates: string[]
  left_out: { date: string; why: string }[]
  /** True until enough days are there: the physical fallback counts. */
  cold: boolean
  /** What an earlier version did not say is absent in its findings. */
  min_days?: number
  /** In which people read `value`; `absolute` for a reading of temperature rather than a difference. */
  unit?: string
  absolute?: boolean
  /** What the baseline is while it is cold, canonical; null when it is not evaluated then. */
  fallback?: number | null
  /** The tolerance while it is cold, canonical; null when the rule has no other then. */
  tolerance_cold?: number | null
}

/** Why a finding ends without being cured. `rule_changed`: what the rule says now does not apply to the same samples. */
export const ENDINGS = ['rule_removed', 'rule_deactivated', 'rule_changed', 'not_for_equipment', 'point_unmapped'] as const
/** `at`: when the rule was deactivated; of any other reason, when the run began that found it so. */
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
  /** Time in fault within the episode, seconds: gaps and not-evaluated stretches do not count. */
  duration_secs: number
  /** When that was, ascending; `duration_secs` is their sum. Absent where another maker's edge, or an earlier version, does not say. */
  stretches?: readonly FaultStretch[]
  state: 'active' | 'cleared'
  /** Of a finding that was not cured: nothing evaluates it any more. */
  ended?: Ending
  cause: CauseWeight[]
  evidence: Evidence
  /** The finding that explains this one; it is kept and shown as silenced. */
  suppressed_by?: string
  /** The override that explains this one; it is shown as before, with the override as its likeliest cause. */
  relabelled_by?: string
  /** The role of which a rule over every role speaks. */
  role?: string
  /** What was wasted, before sizes and prices are known. */
  waste?: Waste
  /** What that costs; only with reviewed quantities. */
  impact?: Impact
  /** What is missing before all of it can be priced. */
  not_priced?: PricingGap[]
}

/** What people add to a finding. It lives beside the finding, so a re-run never loses it. */
export type FindingNote = {
  finding_id: string
  ack: 'unacked' | 'acked'
  snoozed_until?: number
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

/** Reasons that lack nothing: the equipment was not in the state at which the rule looks. */
export const GATE_CLOSED_REASONS: readonly ResultReason[] = ['gated', 'settling']
export const isGateClosed = (reason: ResultReason | undefined): boolean =>
  reason !== undefined && GATE_CLOSED_REASONS.includes(reason)

/** What one rule said of one equipment in one run. */
export type RuleResult = {
  rule_id: string
  equipment_id: string
  status: 'fault' | 'pass' | 'not_evaluated'
  /** The commonest reason for not evaluating. */
  reason?: ResultReason
  missing_roles?: string[]
  /** Share of gated time in which the condition could be evaluated, 0..1. */
  coverage: number
  /** Differs when the rule's file or one of its parameters does. */
  version?: string
  fault_secs: number
  episodes: number
  /** Time of the span outside the windows in which a package vouches for its data. It is not judged, and lowers no coverage. */
  untrusted_secs?: number
  /** The condition held, too briefly to count. */
  unconfirmed?: Unconfirmed
  /** Of a rule that samples come too seldom for: how often they come, and how often they have to. */
  sampling?: { every_secs: number; needs_secs: number }
}

/** What a condition lacks before it counts: time without a break, time in one building day, or time for which its window looks back. */
export type Shortfall = { of: 'persistence' | 'daily_minimum' | 'window'; held_secs: number; needs_secs: number }
/** `date`: the building day that came nearest. `role`: of a rule over every role. */
export type Unconfirmed = { date: string; role?: string; short: Shortfall[] }

/** Whether the run saw anything of it: a fault may only have been carried over from an earlier run. */
export const isEvaluated = ({ status, coverage }: Pick<RuleResult, 'status' | 'coverage'>): boolean =>
  status === 'pass' || (status === 'fault' && coverage > 0)

/** `gated`: not applicable in the span, because the gate never opened for long enough. `no_data`: it applied and could not be evaluated. */
export const RESULT_STATES = ['fault', 'pass', 'gated', 'no_data'] as const
export type ResultState = (typeof RESULT_STATES)[number]

/** The state of a result: `not_evaluated` is split by its reason. */
export function resultState({ status, reason }: Pick<RuleResult, 'status' | 'reason'>): ResultState {
  if (status !== 'not_evaluated') return status
  return isGateClosed(reason) ? 'gated' : 'no_data'
}

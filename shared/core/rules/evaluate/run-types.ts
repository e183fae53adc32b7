/** The input of a run of rules. */
import type { BaselineView, CauseWeight, Finding, RuleResult } from '#shared/core/findings/finding.ts'
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import type { EquipmentOutline } from '#shared/core/rules/compile/topology.ts'

export type RunInput = {
  building_id: string
  timezone: string
  /** `[from, to)`: episodes are looked for here; data before `from` serves windows and baselines. */
  from: number
  to: number
  rules: Rule[]
  equipment: EquipmentData[]
  /** Values that replace a rule's defaults: rule id → parameter → value in the parameter's own unit. */
  params?: Record<string, Record<string, number>>
  /** What people have set for the building; `params` counts before it. */
  settings?: ParamSetting[]
  /** Baselines that people have begun anew. */
  resets?: BaselineReset[]
  /** Findings that the last run left active: one that began before the data of this run goes on under its id. */
  carried?: CarriedFinding[]
}
/** As `RunInput`, for a run that is given its samples equipment by equipment. */
export type RunPlan = Omit<RunInput, 'equipment'> & {
  /** All of the building, with what is known of it before any sample is read. */
  equipment: EquipmentOutline[]
  /** Ids of the rules of which it tells; the others only explain what these find. All of them unless it is given. */
  reportOnly?: readonly string[]
  /** Ends of building days at which states are wanted; those that the run does not pass are ignored. */
  saveStatesAt?: readonly number[]
  /**
   * Asked right after each day of each rule: the time since it was asked last is that rule's. True: the rule has taken
   * too long, and fails alone on that equipment.
   */
  isOvertime?: (rule_id: string, equipment_id: string) => boolean
}
/** From the day of `at` on, a baseline counts no day that began before `at`; earlier days keep the one they had. */
export type BaselineReset = { rule_id: string; equipment_id: string; role?: string; name: string; at: number }
export type CarriedFinding = Pick<
  Finding,
  'rule_id' | 'equipment_id' | 'role' | 'from' | 'confirmed_at' | 'duration_secs' | 'stretches' | 'waste'
> & {
  /** The last run's `to`: `duration_secs` and `waste` are reckoned until then. */
  up_to: number
  /** As of the rule that found it; a rule of another version does not go on with it unseen. */
  version?: string
}

export type RunOutput = {
  findings: Finding[]
  results: RuleResult[]
  failed: { rule_id: string; equipment_id: string; error: string }[]
  /** One row per equipment and building day on which a rule that names a cause was active. */
  days: EquipmentDay[]
  /** The baselines as they stood on the run's last day. */
  baselines: RuleBaseline[]
}
export type RuleBaseline = BaselineView & { rule_id: string; equipment_id: string; role?: string }
export type EquipmentDay = {
  equipment_id: string
  /** Building date, `2026-03-01`. */
  date: string
  rule_ids: string[]
  /** Fused over the day's rules, heaviest first. */
  cause: CauseWeight[]
}

/** The input and the output of a run of rules. */
import type { BaselineView, CauseWeight, Finding, RuleResult } from '#shared/core/findings/finding.ts'
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import type { EquipmentOutline } from '#shared/core/rules/compile/topology.ts'

export type RunInput = {
  building_id: string
  timezone: string
  /** Episodes are searched in `[from, to)`; data before `from` serves windows and baselines. */
  from: number
  to: number
  rules: Rule[]
  equipment: EquipmentData[]
  /** Values that replace a rule's defaults: rule id → parameter → value in the parameter's own unit. */
  params?: Record<string, Record<string, number>>
  /** Settings for the building; `params` takes precedence. */
  settings?: ParamSetting[]
  /** Baselines that people have reset. */
  resets?: BaselineReset[]
  /** Findings that the last run left active. One that began before the data of this run continues under its id. */
  carried?: CarriedFinding[]
}
/** As `RunInput`, for a run that receives its samples equipment by equipment. */
export type RunPlan = Omit<RunInput, 'equipment'> & {
  /** All equipment of the building, without samples. */
  equipment: EquipmentOutline[]
  /** Ids of the rules to report; the others only explain their findings. Undefined: all rules. */
  reportOnly?: readonly string[]
  /** [16], P1 first: the levels by which `overridden` was decided; a state of others is not resumed. */
  overrideLevels?: readonly boolean[]
  /** Ends of building days at which states are saved; those outside of the run are ignored. */
  saveStatesAt?: readonly number[]
  /**
   * Called after each day of each rule; the time since the last call is that rule's. If true, the rule has taken too long
   * and fails on that equipment.
   */
  isOvertime?: (rule_id: string, equipment_id: string) => boolean
}
/** From the day of `at` on, a baseline ignores days that began before `at`; the baseline of earlier days is unchanged. */
export type BaselineReset = { rule_id: string; equipment_id: string; role?: string; name: string; at: number }
export type CarriedFinding = Pick<
  Finding,
  'rule_id' | 'equipment_id' | 'role' | 'from' | 'confirmed_at' | 'duration_secs' | 'stretches' | 'waste'
> & {
  /** `to` of the last run; `duration_secs` and `waste` are those until then. */
  up_to: number
  /** Version of the rule that found it; another version does not continue it without evidence. */
  version?: string
}

export type RunOutput = {
  findings: Finding[]
  results: RuleResult[]
  failed: { rule_id: string; equipment_id: string; error: string }[]
  /** One row for each equipment and building day on which a rule with causes was active. */
  days: EquipmentDay[]
  /** The baselines of the run's last day. */
  baselines: RuleBaseline[]
}
export type RuleBaseline = BaselineView & { rule_id: string; equipment_id: string; role?: string }
export type EquipmentDay = {
  equipment_id: string
  /** Building date, `2026-03-01`. */
  date: string
  rule_ids: string[]
  /** Causes summed over the day's rules, heaviest first. */
  cause: CauseWeight[]
}

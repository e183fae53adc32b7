/** A rule as it is loaded, and what a run of rules takes and gives. The notation is in LANGUAGE.md. */
import type { EquipmentType } from '../model.ts'
import type { CauseWeight, Finding, FindingKind, RuleResult, Severity } from '../finding.ts'
import type { Series } from '../series.ts'

/** What a run knows of one equipment. Times are ms since 1970 UTC. */
export type EquipmentData = {
  equipment_id: string
  equipment_type: EquipmentType
  /** By role, in the role's canonical unit. Samples outside the role's plausible range are left in. */
  roles: Record<string, RoleSeries>
  /** Equipment that this one feeds (for `zones(role)`), and the one that feeds it. */
  feeds: string[]
  parent_id?: string
}
export type RoleSeries = Series & {
  point_id: string
  /** Nominal time between samples, ms: a sample holds for min(gap, 3 × this). */
  nominalMs: number
}

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
}

export type RunOutput = {
  findings: Finding[]
  results: RuleResult[]
  failed: { rule_id: string; equipment_id: string; error: string }[]
  /** One row per equipment and building day on which a rule that names a cause was active. */
  days: EquipmentDay[]
}
export type EquipmentDay = {
  equipment_id: string
  /** Building date, `2026-03-01`. */
  date: string
  rule_ids: string[]
  /** Fused over the day's rules, heaviest first. */
  cause: CauseWeight[]
}

export type Param = { default: number; min: number; max: number; unit: string; perRole?: Record<string, number> }

/** The parsed, checked rule. The engine adds its own compiled form beside it. */
export type Rule = {
  id: string
  title: string
  kind: FindingKind
  /** Equipment types; `any` stands for all. */
  equipment: (EquipmentType | 'any')[]
  /** Role → unit in which the rule reads it. */
  roles: Record<string, string>
  optional: Record<string, string>
  params: Record<string, Param>
  severity: Severity
  source: string
  /** SHA-256 of the file's text, set by the loader. */
  sha256: string
  filename: string
  /** The rule text as the catalogue holds it, parsed from YAML; what the engine compiles. */
  body: Record<string, unknown>
}

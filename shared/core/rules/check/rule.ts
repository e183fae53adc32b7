/** A rule as it is loaded. The notation is in LANGUAGE.md. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { CauseWeight, FindingKind, RuleResult, Severity } from '#shared/core/findings/finding.ts'
import type { ImpactKind, Measure } from '#shared/core/impact/kinds.ts'
import type { TypedExpr } from './typed-expr.ts'

export type RuleParam = { default: number; min: number; max: number; unit: string; perRole?: Record<string, number> }

/** A parsed and checked rule: plain data with all that a run needs. The compiler adds its own form. */
export type Rule = {
  id: string
  title: string
  kind: FindingKind
  /** Equipment types; `any` stands for all. */
  equipment: (EquipmentType | 'any')[]
  /** Role → unit in which the rule reads it. */
  roles: Record<string, string>
  optional: Record<string, string>
  params: Record<string, RuleParam>
  severity: Severity
  source: string
  /** SHA-256 of the file's text, set by the loader. */
  sha256: string
  filename: string
  /** The checked rule, plain data in canonical units; what the engine runs. */
  program: Program
}

/** A rule with the whole content of its file. */
export type WrittenRule = Rule & {
  /** The content of the file, parsed from YAML; for display. */
  body: Record<string, unknown>
  tests: TestCase[]
}

/** One test inside a rule file. Rows are in the unit in which the rule reads the role. */
export type TestCase = {
  name: string
  line: number
  timezone: string
  /** The instant of the first row. */
  start: number
  /** [n] instants after `start`, ms, ascending. */
  offsets: number[]
  /** Nominal time between samples, ms. */
  nominalMs: number
  /** Ends the last row's hold; ms after `start`. */
  lengthMs: number
  equipment?: EquipmentType
  rows: TestRows
  parent?: TestRows
  zones: TestRows[]
  /** By role, what each row's visit saw; null where there was no visit. */
  visits: Record<string, (TestVisit | null)[]>
  params: Record<string, number>
  /** Confirmed episodes, ms after `start`; `to` is null while the fault lasts. Undefined: not asked. */
  faults?: { from: number; to: number | null }[]
  status?: RuleResult['status']
  reason?: string
  /** The first of the first day, and all of that day with their weights. */
  cause?: string
  causes?: CauseWeight[]
}
/** By level, in the rule's unit; a level that is not there is empty, NaN could not be read. */
export type TestVisit = { slots: Record<number, number>; fallback: number }
/** By role or macro: a value; NaN where the point answered without one; null where there is no sample. */
export type TestRows = Record<string, (number | null)[]>

/**
 * Groups of roles over which a rule can run. `measured`: roles with a measured value. `sensor`: roles that do not rest.
 * `commandable`: roles whose priority array is visited. `set_point`: set points among these.
 */
export const ROLE_GROUPS = ['any', 'measured', 'sensor', 'commandable', 'set_point'] as const
export type RoleGroup = (typeof ROLE_GROUPS)[number]

/** The executable part of a checked rule: durations in s, checked expressions. */
export type Program = {
  /** The name of the bound role, and the group of roles over which the rule runs. */
  each?: { name: string; which: RoleGroup }
  /** The rule also reads values outside of the plausible range. */
  raw: boolean
  lets: { name: string; typed: TypedExpr }[]
  gate?: TypedExpr
  /** Rows on which this is false are gated too, without settling: outdoor and return air are too close for `oaf`. */
  guard?: TypedExpr
  when: TypedExpr
  expression: string
  terms: ConditionTerm[]
  smooth: TypedExpr
  settle: TypedExpr
  persistence: TypedExpr
  daily_minimum: TypedExpr
  clear: TypedExpr
  /** The longest interval between samples of the rule's own roles at which it can detect its fault; 0 for no limit. */
  sampling: TypedExpr
  /** Findings on several equipment that begin within this time are one outage; 0 where each stands alone. */
  together: TypedExpr
  min_coverage: number
  baselines: BaselineSpec[]
  hindsight?: HindsightSpec
  causes: { component: string; weight: number; when?: TypedExpr }[]
  suppresses: string[]
  relabels: string[]
  explains: (string | SentenceFigure)[]
  /** The waste of the fault, in the unit of `measure`, and as written. `roles`: the roles of the equipment that `waste` reads. */
  impact?: { kind: ImpactKind; measure: Measure; waste: TypedExpr; text?: string; roles: string[]; because?: string }
}
/**
 * When the later days of a baseline show that its first ones were not normal. `above`, `below`: what is broken where the
 * first days lie above or below the later ones; a direction without causes is no fault.
 */
export type HindsightSpec = {
  /** Name of a baseline. */
  of: string
  /** What physics expects, where both directions are faults; of a model, what it expects of the constant. */
  usual?: TypedExpr
  /** The least difference between the first and the later days. */
  limit: TypedExpr
  above: HindsightCause[]
  below: HindsightCause[]
  /** The sentence; `early` and `later` stand for the medians of the first and of the later days. */
  explains: (string | { word: 'early' | 'later' })[]
}
/** Without a `when` the component is there on every equipment of the rule. Heaviest first. */
export type HindsightCause = CauseWeight & { when?: TypedExpr }
/** One comparison or flag of the condition, and its two sides if it is a comparison. */
export type ConditionTerm = { text: string; typed: TypedExpr; sides?: [TypedExpr, TypedExpr]; measures: boolean }
/** A figure in a sentence: a value with its display unit, or one of the words `duration` and `role`. */
export type SentenceFigure = { typed: TypedExpr; unit: string; absolute: boolean } | { word: 'duration' | 'role' }
export type BaselineSpec = {
  name: string
  of: TypedExpr
  /** The unit in which its value is displayed. */
  unit: string
  absolute: boolean
  /** What the value depends on. The baseline then is a model fitted to all values of past days, not a value a day. */
  on: TypedExpr[]
  /** Default: the gate of the rule. */
  when?: TypedExpr
  /** A quantile of the day's values, 0.5 for the median, or their mean. */
  stat: number | 'avg'
  days: number
  min_days: number
  /** Least time of values that a day needs to count, ms. */
  minimum: number
  fallback?: TypedExpr
  tolerance_cold?: TypedExpr
}

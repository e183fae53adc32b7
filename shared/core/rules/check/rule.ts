/** A rule as it is loaded. The notation is in LANGUAGE.md. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { CauseWeight, FindingKind, RuleResult, Severity } from '#shared/core/findings/finding.ts'
import type { ImpactKind, Measure } from '#shared/core/impact/kinds.ts'
import type { TypedExpr } from './typed-expr.ts'

export type RuleParam = { default: number; min: number; max: number; unit: string; perRole?: Record<string, number> }

/** The parsed, checked rule: plain data, as much of it as a run needs. The engine adds its own compiled form beside it. */
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

/** A rule with all that its file says. */
export type WrittenRule = Rule & {
  /** The text as the catalogue holds it, parsed from YAML; for people. */
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

/** `measured` for what a sensor tells, `sensor` for roles that do not rest, `commandable` for those whose priority array is visited, `set_point` for set points among these. */
export const ROLE_GROUPS = ['any', 'measured', 'sensor', 'commandable', 'set_point'] as const
export type RoleGroup = (typeof ROLE_GROUPS)[number]

/** What is worth reading of a checked rule: durations in ms, expressions checked. */
export type Program = {
  /** The name that stands for each role in turn, and which roles. */
  each?: { name: string; which: RoleGroup }
  /** Sees values outside the plausible range too. */
  raw: boolean
  lets: { name: string; typed: TypedExpr }[]
  gate?: TypedExpr
  /** Rows on which this does not hold are gated too, without settling: the airs are too close for `oaf`. */
  guard?: TypedExpr
  when: TypedExpr
  expression: string
  terms: ConditionTerm[]
  smooth: TypedExpr
  settle: TypedExpr
  persistence: TypedExpr
  daily_minimum: TypedExpr
  clear: TypedExpr
  /** The longest nominal interval of the rule's own roles at which it can see its fault; 0 where any will do. */
  sampling: TypedExpr
  /** Within it, findings on several equipment begin together and are one outage; 0 where each stands alone. */
  together: TypedExpr
  min_coverage: number
  baselines: BaselineSpec[]
  causes: { component: string; weight: number; when?: TypedExpr }[]
  suppresses: string[]
  relabels: string[]
  explains: (string | SentenceFigure)[]
  /** What the fault wastes, in the unit of `measure`, and as it is written. `roles`: those of the equipment that `waste` reads. */
  impact?: { kind: ImpactKind; measure: Measure; waste: TypedExpr; text?: string; roles: string[]; because?: string }
}
/** One comparison or flag of the condition, and its two sides when it compares. */
export type ConditionTerm = { text: string; typed: TypedExpr; sides?: [TypedExpr, TypedExpr]; measures: boolean }
/** A figure in a sentence: a value with the unit in which people read it, or one of the words `duration` and `role`. */
export type SentenceFigure = { typed: TypedExpr; unit: string; absolute: boolean } | { word: 'duration' | 'role' }
export type BaselineSpec = {
  name: string
  of: TypedExpr
  /** The unit in which people read what it measures. */
  unit: string
  absolute: boolean
  /** Without it: the rule's own gate. */
  when?: TypedExpr
  /** A quantile of the day's values, 0.5 for the median, or their mean. */
  stat: number | 'avg'
  days: number
  min_days: number
  /** Least time of values that makes a day count, ms. */
  minimum: number
  fallback?: TypedExpr
  tolerance_cold?: TypedExpr
}

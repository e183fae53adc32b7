/** Checked expressions: plain data in which every name has its meaning and every value its dimension. */
import type { ValueType } from '#shared/core/rules/language/dimension.ts'
import type { BASELINE_FUNCTIONS, ZoneAggregate } from '#shared/core/rules/language/functions.ts'

/** A checked expression. Constants are canonical; parameters are converted when their values are known. */
export type TypedExpr =
  | { kind: 'const'; value: number }
  | { kind: 'param'; name: string; absolute: boolean }
  /** `each` is the role to which a rule that runs over roles is bound. */
  | { kind: 'role'; role: string; where: 'own' | 'parent' }
  | { kind: 'zones'; role: string; join: ZoneAggregate }
  | { kind: 'ref'; name: string }
  | { kind: 'baseline'; what: (typeof BASELINE_FUNCTIONS)[number]; name: string; args: TypedExpr[] }
  | { kind: 'op'; op: string; args: TypedExpr[] }

export type CheckedExpr = { typed: TypedExpr; type: ValueType }

export type ExprScope = {
  /** Required and optional roles as the rule writes them, with the unit in which it reads them. */
  roles: Record<string, string>
  /** The name of the bound role in a rule that runs over roles. */
  each?: string
  params: Record<string, { unit: string; max?: number }>
  lets: Map<string, CheckedExpr>
  baselines: Map<string, ValueType>
  /** Set when the expression, or a let that it names, uses the outdoor-air fraction. */
  oaf?: boolean
}

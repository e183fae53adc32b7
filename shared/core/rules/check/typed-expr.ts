/** Checked expressions: plain data in which every name has its meaning and every value its dimension. */
import type { Type } from '#shared/core/rules/language/dimension.ts'
import type { BASELINE_FUNCTIONS, Join } from '#shared/core/rules/language/functions.ts'

/** A checked expression. Constants are canonical; parameters are converted when their values are known. */
export type Typed =
  | { kind: 'const'; value: number }
  | { kind: 'param'; name: string; absolute: boolean }
  /** `each` is the role to which a rule over every role is bound. */
  | { kind: 'role'; role: string; where: 'own' | 'parent' }
  | { kind: 'zones'; role: string; join: Join }
  | { kind: 'ref'; name: string }
  | { kind: 'baseline'; what: (typeof BASELINE_FUNCTIONS)[number]; name: string; args: Typed[] }
  | { kind: 'op'; op: string; args: Typed[] }

export type Checked = { typed: Typed; type: Type }

export type Scope = {
  /** Required and optional roles as the rule writes them, with the unit in which it reads them. */
  roles: Record<string, string>
  /** Name that stands for each role in turn. */
  each?: string
  params: Record<string, { unit: string }>
  lets: Map<string, Checked>
  baselines: Map<string, Type>
  /** Set when the expression, or a let that it names, uses the outdoor-air fraction. */
  oaf?: boolean
}

/** Reads the `impact` of a rule: a word, or a word with the expression of what is wasted. */
import { isScalar } from 'yaml'
import { IMPACT_KINDS, type ImpactKind, impactKindSpec, type Measure } from '#shared/core/impact/kinds.ts'
import { checkExpr } from './check-expr.ts'
import { type ExprScope, type TypedExpr } from './typed-expr.ts'
import { describeType, type ValueType } from '#shared/core/rules/language/dimension.ts'
import { ExprError } from '#shared/core/rules/language/lex.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { Program } from './rule.ts'
import type { YamlFields, YamlText } from '#shared/core/rules/language/yaml-text.ts'

/** Units of the roles that a rule does not declare: an impact may need more roles than the condition. */
const CANONICAL = Object.fromEntries(Object.entries(ROLES).map(([role, { unit }]) => [role, unit]))

/** `impact: fan` or `impact: { kind: heating, waste: excess, because: … }`. */
export function readImpact(root: YamlFields, yaml: YamlText, scope: ExprScope): Program['impact'] {
  if (!root.has('impact')) return undefined
  const scalar = isScalar(root.node('impact'))
  const fields = scalar ? undefined : root.fields('impact')
  const at = scalar ? root.node('impact') : (fields?.node('kind') ?? root.node('impact'))
  const word = scalar ? root.text('impact') : fields?.text('kind')
  const kind = IMPACT_KINDS.find(known => known === word)
  if (!kind) return void yaml.complain(at, `impact is one of ${IMPACT_KINDS.join(', ')}`)
  const waste = fields && readWaste(fields, kind, yaml, scope)
  const because = fields?.text('because')
  fields?.close()
  if (fields?.has('waste')) return waste && { ...waste, kind, ...(because !== undefined && { because }) }
  const { whole, measures } = impactKindSpec(kind)
  if (kind === 'none') return { kind, measure: 'share', waste: { kind: 'const', value: 0 }, roles: [] }
  if (!whole) return void yaml.complain(at, `impact ${kind} needs waste: an expression in ${measures.join(' or ')}`)
  const all: TypedExpr = { kind: 'const', value: 1 }
  return { kind, measure: measures[0]!, waste: all, roles: [], ...(because !== undefined && { because }) }
}

type Read = { measure: Measure; waste: TypedExpr; text: string; roles: string[] }

function readWaste(fields: YamlFields, kind: ImpactKind, yaml: YamlText, scope: ExprScope): Read | undefined {
  const text = fields.text('waste')
  if (text === undefined) return undefined
  try {
    const expr = parseExpr(text)
    const { typed, type } = checkExpr(expr, { ...scope, roles: { ...CANONICAL, ...scope.roles } })
    const measure = measureOf(type)
    const { measures } = impactKindSpec(kind)
    if (!measure || !measures.includes(measure))
      throw new ExprError(
        expr.at,
        `impact ${kind} takes waste in ${measures.join(' or ') || 'nothing'}, this is ${describeType(type)}`,
      )
    return { measure, waste: typed, text, roles: rolesIn(typed, scope) }
  } catch (error) {
    if (!(error instanceof ExprError)) throw error
    return void yaml.complain(fields.node('waste'), error.message, error.at)
  }
}

function measureOf(type: ValueType): Measure | undefined {
  if (type.kind === 'bare') return 'share'
  if (type.kind !== 'quantity') return undefined
  if (type.base === 'temperature') return type.absolute ? undefined : 'kelvin'
  return type.base === '' ? 'share' : type.base === 'power' ? 'kilowatt' : undefined
}

/** The roles of the equipment itself that an expression reads, also through lets. */
function rolesIn(typed: TypedExpr, scope: ExprScope): string[] {
  if (typed.kind === 'role') return typed.where === 'own' ? [typed.role] : []
  if (typed.kind === 'ref') return scope.lets.has(typed.name) ? rolesIn(scope.lets.get(typed.name)!.typed, scope) : []
  if (typed.kind !== 'op' && typed.kind !== 'baseline') return []
  return [...new Set(typed.args.flatMap(arg => rolesIn(arg, scope)))]
}

/** Alternative roles: a rule runs where one of them exists. */
import type { TypedExpr } from './typed-expr.ts'
import type { Program, Rule } from './rule.ts'

/** Functions of a role that do not need its values. */
const WITHOUT_VALUES = new Set(['has', 'rests', 'nominal', 'lowest', 'highest'])

/**
 * @returns the optional roles of which the gate and the condition need at least one, each as `oa_t or wx_oa_t`, in order of
 *   appearance; roles that are needed together are `ra_t with wx_oa_t`
 */
export function roleAlternatives({ roles, program }: Pick<Rule, 'roles' | 'program'>): string[] {
  /** By its text, each choice with the roles that its alternatives need. */
  const choices = new Map<string, string[][]>()
  const needs = (typed: TypedExpr): string[] => {
    switch (typed.kind) {
      case 'role':
        return typed.where === 'parent' ? [`parent ${typed.role}`] : typed.role in roles ? [] : [typed.role]
      case 'ref': {
        const found = program.lets.find(({ name }) => name === typed.name)
        return found ? needs(found.typed) : []
      }
      case 'op':
        if (WITHOUT_VALUES.has(typed.op)) return []
        return typed.op === 'first' ? choice(typed.args.map(needs)) : [...new Set(typed.args.flatMap(needs))]
      default:
        return []
    }
  }
  /** Nothing is needed where one of the alternatives needs nothing. */
  const choice = (alternatives: string[][]): string[] => {
    if (alternatives.some(({ length }) => length === 0)) return []
    const words = [...new Set(alternatives.map(needed => needed.join(' with ')))].join(' or ')
    choices.set(words, alternatives)
    return [words]
  }
  const all = [...new Set([program.gate, program.when].flatMap(typed => (typed ? needs(typed) : [])))]
  const isGiven = (words: string) =>
    choices.get(words)!.some(alternative => alternative.every(needed => needed !== words && all.includes(needed)))
  return all.filter(words => choices.has(words) && !isGiven(words))
}

/**
 * @param isThere whether a role of the equipment, or of the weather station, has samples
 * @returns roles that the rule reads only while other roles, which exist, have no value; faults of these substitutes do not
 *   explain its findings
 */
export function substituteRoles(
  { lets, gate, when, baselines, causes }: Program,
  isThere: (role: string) => boolean,
): Set<string> {
  const read = new Set<string>()
  const spare = new Set<string>()
  const visit = (typed: TypedExpr | undefined, into: Set<string>): void => {
    if (typed?.kind === 'role') into.add(typed.role)
    if (typed?.kind === 'ref') visit(lets.find(({ name }) => name === typed.name)?.typed, into)
    if (typed?.kind !== 'op' && typed?.kind !== 'baseline') return
    const found = typed.kind === 'op' && typed.op === 'first' ? typed.args.findIndex(isWhole) : -1
    typed.args.forEach((arg, i) => visit(arg, found >= 0 && i > found ? spare : into))
  }
  const isWhole = (typed: TypedExpr): boolean => {
    const needed = new Set<string>()
    visit(typed, needed)
    return [...needed].every(isThere)
  }
  for (const typed of [
    gate,
    when,
    ...baselines.flatMap(each => [each.of, ...each.on, each.when]),
    ...causes.map(each => each.when),
  ]) {
    visit(typed, read)
  }
  return new Set([...spare].filter(role => !read.has(role)))
}

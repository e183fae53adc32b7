/** A condition that is an `if` as a whole, in its parts: nested in brackets it is hard to read. */
import { ExprError } from './lex.ts'
import { parseExpr } from './parse-expr.ts'

/** Each as it is written: `first` counts while `when` holds, `otherwise` at other times. */
type Branches = { when: string; first: string; otherwise: string }

/** @returns undefined for every other condition, and for a text that is none */
export function branchesOf(text: string): Branches | undefined {
  try {
    const tree = parseExpr(text)
    if (tree.kind !== 'call' || tree.name !== 'if' || tree.args.length !== 3) return undefined
    const [when, first, otherwise] = tree.args.map(({ at, end }) => text.slice(at, end))
    return { when: when!, first: first!, otherwise: otherwise! }
  } catch (error) {
    if (error instanceof ExprError) return undefined
    throw error
  }
}

/**
 * Parses an expression by the grammar of LANGUAGE.md into a tree with places. This is the entry of the phase; names are not
 * resolved here.
 */
import { ExprError, type Token, tokenize } from './lex.ts'

type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!='
type Arithmetic = '+' | '-' | '*' | '/' | '^'
export type Expr = { at: number; end: number } & (
  | { kind: 'number'; value: number; unit?: string }
  | { kind: 'name'; name: string }
  | { kind: 'call'; name: string; args: Expr[] }
  | { kind: 'unary'; op: '-' | 'not'; of: Expr }
  | { kind: 'binary'; op: 'or' | 'and' | Comparison | Arithmetic; left: Expr; right: Expr }
)

/** Deepest nesting; deeper text is a mistake, or an attack that would overflow the stack. */
const DEPTH_MAX = 50
const COMPARISONS = ['<', '<=', '>', '>=', '==', '!=']

/** @throws ExprError with the place where parsing stopped */
export function parseExpr(text: string): Expr {
  const reader = readerOf(text)
  const tree = readOr(reader, 0)
  const rest = reader.peek()
  if (rest) throw new ExprError(rest.at, `"${text.slice(rest.at, rest.end)}" is not expected here`)
  return tree
}

type Reader = ReturnType<typeof readerOf>
function readerOf(text: string) {
  const tokens = tokenize(text)
  let next = 0
  return {
    peek: (): Token | undefined => tokens[next],
    is: (...words: string[]): boolean => {
      const token = tokens[next]
      return token !== undefined && token.kind !== 'number' && words.includes(token.text)
    },
    take: (): Token => {
      const token = tokens[next++]
      if (!token) throw new ExprError(text.trimEnd().length, 'the expression ends too early')
      return token
    },
    expect(sign: string): Token {
      const token = this.take()
      if (token.kind !== 'sign' || token.text !== sign) throw new ExprError(token.at, `"${sign}" is expected here`)
      return token
    },
  }
}

const word = (reader: Reader): string => (reader.take() as { text: string }).text

/** Parses one level of left-associative operators. */
const level =
  (ops: string[], below: (reader: Reader, depth: number) => Expr) =>
  (reader: Reader, depth: number): Expr => {
    let left = below(reader, depth)
    for (let length = 0; reader.is(...ops); length++) {
      if (length > DEPTH_MAX) throw new ExprError(reader.peek()!.at, `more than ${DEPTH_MAX} of ${ops.join(' ')} in one row`)
      const op = word(reader) as Arithmetic
      const right = below(reader, depth)
      left = { kind: 'binary', op, left, right, at: left.at, end: right.end }
    }
    return left
  }

const readProduct = level(['*', '/'], readUnary)
const readSum = level(['+', '-'], readProduct)
const readAnd = level(['and'], readNot)
const readOr = level(['or'], readAnd)

function readNot(reader: Reader, depth: number): Expr {
  if (!reader.is('not')) return readComparison(reader, depth)
  const { at } = deeper(reader, depth)
  reader.take()
  const of = readNot(reader, depth + 1)
  return { kind: 'unary', op: 'not', of, at, end: of.end }
}

function readComparison(reader: Reader, depth: number): Expr {
  const left = readSum(reader, depth)
  if (!reader.is(...COMPARISONS)) return left
  const op = word(reader) as Comparison
  const right = readSum(reader, depth)
  if (reader.is(...COMPARISONS)) throw new ExprError(reader.peek()!.at, 'comparisons do not chain: join two with "and"')
  return { kind: 'binary', op, left, right, at: left.at, end: right.end }
}

function readUnary(reader: Reader, depth: number): Expr {
  if (!reader.is('-')) return readPower(reader, depth)
  const { at } = deeper(reader, depth)
  reader.take()
  const of = readUnary(reader, depth + 1)
  return { kind: 'unary', op: '-', of, at, end: of.end }
}

function readPower(reader: Reader, depth: number): Expr {
  const left = readPrimary(reader, depth)
  if (!reader.is('^')) return left
  reader.take()
  const right = readPrimary(reader, depth)
  return { kind: 'binary', op: '^', left, right, at: left.at, end: right.end }
}

function readPrimary(reader: Reader, depth: number): Expr {
  deeper(reader, depth)
  const token = reader.take()
  if (token.kind === 'number') return token
  const { kind, text, at, end: nameEnd } = token
  if (kind === 'name' && !['and', 'or', 'not'].includes(text)) {
    return reader.is('(') ? readCall(text, at, reader, depth) : { kind, name: text, at, end: nameEnd }
  }
  if (text !== '(') throw new ExprError(at, `"${text}" is not expected here`)
  const inner = readOr(reader, depth + 1)
  const { end } = reader.expect(')')
  return { ...inner, at, end }
}

function readCall(name: string, at: number, reader: Reader, depth: number): Expr {
  reader.expect('(')
  const args: Expr[] = []
  while (!reader.is(')')) {
    if (args.length > 0) reader.expect(',')
    args.push(readOr(reader, depth + 1))
  }
  const { end } = reader.expect(')')
  return { kind: 'call', name, args, at, end }
}

function deeper(reader: Reader, depth: number): { at: number } {
  const at = reader.peek()?.at ?? 0
  if (depth > DEPTH_MAX) throw new ExprError(at, `nested deeper than ${DEPTH_MAX}`)
  return { at }
}

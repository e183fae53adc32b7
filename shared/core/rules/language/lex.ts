/** Splits an expression into tokens, each with its place in the text. */
import { UNITS } from '#shared/core/model/unit.ts'

export type Token =
  | { kind: 'number'; value: number; unit?: string; at: number; end: number }
  | { kind: 'name' | 'sign'; text: string; at: number; end: number }

/** An error in an expression; `at` is the offset of the character. */
export class ExprError extends Error {
  override name = 'ExprError'
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Longest expression, characters: ten times the longest of the catalogue. */
const EXPRESSION_LENGTH_MAX = 4000

const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const SIGN = /<=|>=|==|!=|[-+*/^()<>,]/y
const BLANK = /\s*/y

/** Units that can follow a number: codes and aliases of `UNITS` that begin like a unit, and `m` for minutes. Longest first. */
const SUFFIXES: [string, string][] = [
  ...Object.entries(UNITS).flatMap(([code, { aliases }]) => [code, ...aliases].map((name): [string, string] => [name, code])),
  ['m', 'min'] as [string, string],
]
  .filter(([name]) => /^[A-Za-z°%]/.test(name) && !['state', 'none'].includes(name))
  .toSorted(([a], [b]) => b.length - a.length)

/** @throws ExprError at the first character that begins no token */
export function tokenize(text: string): Token[] {
  if (text.length > EXPRESSION_LENGTH_MAX)
    throw new ExprError(EXPRESSION_LENGTH_MAX, `longer than ${EXPRESSION_LENGTH_MAX} characters`)
  const tokens: Token[] = []
  let at = skip(text, 0)
  while (at < text.length) {
    const token = numberAt(text, at) ?? wordAt(text, at)
    tokens.push(token)
    at = skip(text, token.end)
  }
  return tokens
}

function wordAt(text: string, at: number): Token {
  for (const [kind, pattern] of [
    ['name', NAME],
    ['sign', SIGN],
  ] as const) {
    const word = match(pattern, text, at)
    if (word) return { kind, text: word, at, end: at + word.length }
  }
  throw new ExprError(at, `"${text[at]}" means nothing here`)
}

function numberAt(text: string, at: number): Token | undefined {
  const digits = match(NUMBER, text, at)
  if (!digits) return undefined
  const end = at + digits.length
  if (!Number.isFinite(Number(digits))) throw new ExprError(at, 'the number is too large')
  const token = { kind: 'number' as const, value: Number(digits), at, end }
  const start = skip(text, end)
  const suffix = SUFFIXES.find(([name]) => text.startsWith(name, start) && !/[A-Za-z0-9_]/.test(text[start + name.length] ?? ' '))
  return suffix ? { ...token, unit: suffix[1], end: start + suffix[0].length } : token
}

const skip = (text: string, at: number): number => at + match(BLANK, text, at)!.length

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

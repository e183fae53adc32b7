/** Small mistakes that somebody could make in a line of product code. */
import { maskSource } from './mask.ts'

export type Alteration = {
  file: string
  /** From 1. */
  line: number
  /** The line as it is, without its indent. */
  before: string
  /** The same line with the mistake. */
  after: string
}
/** `[at, end)` of the line becomes `text`. */
type Edit = { at: number; end: number; text: string }

/** Biome sets blanks around binary operators, so `<` with blanks is no generic and `=>` is not matched. */
const TURNED: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '+=': '-=',
  '-=': '+=',
}
const OPERATOR = /(?<= )(===|!==|<=?|>=?|&&|\|\||\?\?|\+=?|-=?|\*|\/|%|<<|>>>?|&|\|)(?= |$)/g
const STEP = /\+\+|--/g
const NEGATION = /!(?=[\w$(])/g
const FLAG = /\b(?:true|false)\b/g
const NUMBER = /(?<![\w$.]|\de-)(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?)(?![\w$.])/g
/** Results of a comparison for sorting, of which only the sign counts. */
const ORDER = /\? -1 : 1\b/
const AWAIT = /\bawait (?!using)/g
const RETURN = /\breturn\b ?/g
const CONDITION = /\bif \(/g
const IMPORT = /^(?:import\b|export (?:\*|\{|type\b)|\} from\b)/
const STATEMENT = /^(?:await |void )?[A-Za-z_$][\w$.?!'[\]]*(?:\(.*\)|\+\+|--| [-+*/|&?]*= .*)$/
/** A line with such an end continues in the next. */
const GOES_ON = /(?:(?<!\+)\+|(?<!-)-|[*/%=<>&|?:,([.!]|\b(?:return|else|await|throw))$/
/** A line that begins so belongs to the one before. */
const CONTINUES = /^[-+*/%=<>&|?:,)\].]/
/** Up to here a figure moves by one, beyond it doubles. */
const SMALL = 16

/** @returns every alteration of the file, in order of place; several of one line follow each other */
export function alterationsOf(file: string, source: string): Alteration[] {
  const written = source.split('\n')
  const code = maskSource(source).split('\n')
  return code.flatMap((line, index) => {
    if (IMPORT.test(line)) return []
    const before = written[index]!
    const withEdit = ({ at, end, text }: Edit) => before.slice(0, at) + text + before.slice(end)
    return editsOf(code, index, before).map(edit => ({
      file,
      line: index + 1,
      before: before.trim(),
      after: withEdit(edit).trim(),
    }))
  })
}

/** @returns the source with the mistake in it; undefined when its line is not there any more */
export function alter(source: string, { line, before, after }: Alteration): string | undefined {
  const lines = source.split('\n')
  const distance = (index: number) => Math.abs(index + 1 - line)
  const places = [...lines.keys()].filter(index => lines[index]!.trim() === before)
  const place = places.toSorted((a, b) => distance(a) - distance(b))[0]
  if (place === undefined) return undefined
  lines[place] = lines[place]!.replace(before, () => after)
  return lines.join('\n')
}

function editsOf(code: string[], index: number, written: string): Edit[] {
  const line = code[index]!
  const each = (pattern: RegExp, text: (word: string) => string): Edit[] =>
    [...line.matchAll(pattern)].map(({ 0: word, index: at }) => ({ at, end: at + word.length, text: text(word) }))
  return [
    ...each(OPERATOR, word => TURNED[word]!),
    ...each(STEP, word => (word === '++' ? '--' : '++')),
    ...each(NEGATION, () => ''),
    ...each(FLAG, word => String(word !== 'true')),
    ...(ORDER.test(line) ? [] : each(NUMBER, otherFigure)),
    ...each(AWAIT, () => ''),
    ...each(RETURN, () => ''),
    ...negated(line, written),
    ...dropped(code, index),
  ]
}

/** @returns a figure as it could be by mistake: one more when it is small, twice as much otherwise */
function otherFigure(word: string): string {
  const value = Number(word.replaceAll('_', ''))
  const isWhole = Number.isInteger(value)
  return String(value <= SMALL && isWhole ? value + 1 : value * 2)
}

/** `if (x)` becomes `if (!(x))`. */
function negated(line: string, written: string): Edit[] {
  return [...line.matchAll(CONDITION)].flatMap(match => {
    const at = match.index + match[0].length - 1
    const end = closing(line, at) + 1
    return end > 0 ? [{ at, end, text: `(!${written.slice(at, end)})` }] : []
  })
}

/** @returns where the bracket closes, -1 when that is in another line */
function closing(line: string, open: number): number {
  for (let depth = 0, at = open; at < line.length; at++) {
    if (line[at] === '(') depth++
    if (line[at] === ')' && --depth === 0) return at
  }
  return -1
}

/** A line that is one statement does nothing. */
function dropped(code: string[], index: number): Edit[] {
  const line = code[index]!.trimEnd()
  const text = line.trim()
  const isAlone =
    STATEMENT.test(text) &&
    isBalanced(text) &&
    !GOES_ON.test(text) &&
    !GOES_ON.test(previousLine(code, index)) &&
    !CONTINUES.test((code[index + 1] ?? '').trim())
  return isAlone ? [{ at: line.length - text.length, end: line.length, text: 'void 0' }] : []
}

const previousLine = (lines: string[], index: number): string =>
  lines
    .slice(0, index)
    .findLast(line => line.trim() !== '')
    ?.trimEnd() ?? ''

function isBalanced(text: string): boolean {
  let depth = 0
  for (const char of text) {
    if ('([{'.includes(char)) depth++
    if (')]}'.includes(char) && --depth < 0) return false
  }
  return depth === 0
}

/**
 * Finds the messages in a template of markup. A message is a stretch of text between tags that begin something new, such as `<p>`
 * or `<td>`, or on one line: its values are `{0}`, `{1}` …, and tags within a sentence are `<1>…</1>`. Attributes that people read are messages too.
 */

/** A piece of a template: markup as it stands, the place of a value, or a message. */
export type Piece = string | number | Message
type Message = { message: string; values: number[]; tags: InlineTag[] }
/** Both ends of a tag within a message; values may stand in its attributes. */
type InlineTag = { open: Piece[]; close: string }

const INLINE = new Set(
  'a abbr b bdi cite code em i kbd mark output q s samp small span strong sub sup time tspan u var'.split(' '),
)
/** Their contents are no text. */
const OPAQUE = new Set(['script', 'style'])
const READ_ATTRIBUTE =
  /(\s(?:alt|aria-description|aria-label|aria-roledescription|aria-valuetext|data-label|data-say-[a-z-]+|label|placeholder|title)=")([^"]*)"/
/** A template that holds attributes and nothing else, such as ` class="wide"` or ` disabled`. */
const ATTRIBUTES =
  /^\s+(?:[a-z][a-z:-]*="[^"]*"\s*|(?:autofocus|checked|disabled|hidden|multiple|open|readonly|required|selected|data-[a-z-]+)\s*)+$/
/** Private characters stand for values while a template is read. */
const FIRST = 0xe000
const VALUE = /[\uE000-\uF8FF]/
const VALUES = /[\uE000-\uF8FF]/g
const TAG = /<!--[\s\S]*?-->|<![^>]*>|<\/?[a-zA-Z][^\s>/]*(?:"[^"]*"|[^">])*>/g
const WORD = /\p{L}{2}/u
const CODE = /<code[^>]*>[\s\S]*?<\/code>|&[a-z]+;/g

/** Reads a template once; the pieces in order are the template. */
export function parseTemplate(strings: readonly string[]): Piece[] {
  const text = strings.reduce((joined, part, i) => joined + String.fromCharCode(FIRST + i - 1) + part)
  if (ATTRIBUTES.test(text)) return merge(attributePieces(text))
  const pieces: Piece[] = []
  let run: Token[] = []
  let opaque: string | undefined
  const endRun = () => {
    pieces.push(...runPieces(run))
    run = []
  }
  for (const token of tokensOf(text)) {
    if (opaque !== undefined) {
      pieces.push(...plainPieces(token.text))
      if (token.closes === opaque) opaque = undefined
    } else if (token.name === undefined || INLINE.has(token.name)) {
      run.push(token)
    } else {
      endRun()
      pieces.push(...attributePieces(token.text))
      if (OPAQUE.has(token.name) && token.closes === undefined) opaque = token.name
    }
  }
  endRun()
  return merge(pieces)
}

/** Text has no name. */
type Token = { text: string; name?: string; closes?: string }

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let last = 0
  for (const match of text.matchAll(TAG)) {
    tokens.push(...linesOf(text.slice(last, match.index)))
    const [tag] = match
    const name = /^<\/?([a-zA-Z][^\s>/]*)/.exec(tag)?.[1]?.toLowerCase() ?? '!'
    tokens.push({ text: tag, name, ...(tag.startsWith('</') && { closes: name }) })
    last = match.index + tag.length
  }
  return [...tokens, ...linesOf(text.slice(last))]
}

/** The end of a line ends a message like a tag does. */
const linesOf = (text: string): Token[] =>
  text
    .split(/(\s*\n\s*)/)
    .flatMap((part, i) => (part === '' ? [] : [i % 2 === 1 ? { text: part, name: 'line' } : { text: part }]))

/** Splits a run at tags without their other end, takes what surrounds a message away from it, and makes messages. */
function runPieces(run: Token[]): Piece[] {
  const ends = pairsOf(run)
  const lone = run.findIndex((token, i) => token.name !== undefined && !ends.has(i))
  if (lone !== -1) {
    return [...runPieces(run.slice(0, lone)), ...attributePieces(run[lone]!.text), ...runPieces(run.slice(lone + 1))]
  }
  if (!WORD.test(wordsIn(run)))
    return run.flatMap(token => (token.name === undefined ? plainPieces(token.text) : attributePieces(token.text)))
  const first = run[0]!
  const last = run.length - 1
  // Space and tags that surround everything are no part of the message.
  if (first.name === undefined && first.text.trim() === '') return [first.text, ...runPieces(run.slice(1))]
  if (run[last]!.name === undefined && run[last]!.text.trim() === '') return [...runPieces(run.slice(0, last)), run[last]!.text]
  if (first.name !== undefined && ends.get(0) === last) {
    return [...attributePieces(first.text), ...runPieces(run.slice(1, last)), run[last]!.text]
  }
  return messagePieces(run, ends)
}

const wordsIn = (run: Token[]) =>
  run
    .map(({ text, name }) => (name === undefined || name === 'code' ? text : ''))
    .join('')
    .replace(CODE, '')

/** @returns place of the closing tag by that of the opening one, and the other way round */
function pairsOf(run: Token[]): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (const [i, { name, closes }] of run.entries()) {
    if (name === undefined) continue
    if (closes === undefined) open.push(i)
    else if (open.length > 0 && run[open.at(-1)!]!.name === closes) {
      const start = open.pop()!
      pairs.set(start, i).set(i, start)
    }
  }
  return pairs
}

function messagePieces(run: Token[], ends: Map<number, number>): Piece[] {
  const values: number[] = []
  const tags: InlineTag[] = []
  const numbers = new Map<number, number>()
  const text = run.map((token, i) => {
    if (token.name === undefined) return withPlaces(token.text, values)
    const end = ends.get(i)!
    if (end < i) return `</${numbers.get(end)}>`
    tags.push({ open: merge(attributePieces(token.text)), close: run[end]!.text })
    numbers.set(i, tags.length)
    return `<${tags.length}>`
  })
  const [, before = '', message = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text.join(''))!
  return [before, { message: message.replaceAll(/\s+/g, ' '), values, tags }, after]
}

function withPlaces(text: string, values: number[]): string {
  return text.replace(VALUES, char => `{${values.push(char.charCodeAt(0) - FIRST) - 1}}`)
}

function attributePieces(tag: string): Piece[] {
  const match = READ_ATTRIBUTE.exec(tag)
  if (!match) return plainPieces(tag)
  const [all, before = '', content = ''] = match
  const rest = attributePieces(tag.slice(match.index + all.length))
  const start = plainPieces(tag.slice(0, match.index) + before)
  if (!WORD.test(content)) return [...start, ...plainPieces(content), '"', ...rest]
  const values: number[] = []
  return [...start, { message: withPlaces(content, values), values, tags: [] }, '"', ...rest]
}

function plainPieces(text: string): Piece[] {
  const pieces: Piece[] = []
  let rest = text
  for (let match = VALUE.exec(rest); match; match = VALUE.exec(rest)) {
    pieces.push(rest.slice(0, match.index), match[0].charCodeAt(0) - FIRST)
    rest = rest.slice(match.index + 1)
  }
  return [...pieces, rest]
}

/** Joins neighbouring texts and leaves out empty ones. */
function merge(pieces: Piece[]): Piece[] {
  const merged: Piece[] = []
  for (const piece of pieces) {
    if (piece === '') continue
    const last = merged.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece
    else merged.push(piece)
  }
  return merged
}

const MARK = /\{(\d+)\}|<(\d+)>|<\/(\d+)>/g

/** Replaces the messages of a template by their translation. @returns markup and places of values, in order */
export function translatePieces(pieces: Piece[], translate: (message: string) => string | undefined): (string | number)[] {
  const out = pieces.flatMap((piece): (string | number)[] => {
    if (typeof piece !== 'object') return [piece]
    const { message, values, tags } = piece
    const text = translate(message) ?? message
    const own: (string | number)[] = []
    let last = 0
    for (const match of text.matchAll(MARK)) {
      const [all, place, open, close] = match
      own.push(text.slice(last, match.index))
      if (place !== undefined) own.push(values[Number(place)]!)
      else if (open !== undefined) own.push(...translatePieces(tags[Number(open) - 1]!.open, translate))
      else own.push(tags[Number(close) - 1]!.close)
      last = match.index + all.length
    }
    return [...own, text.slice(last)]
  })
  return merge(out) as (string | number)[]
}

/** @returns every message of a template, those in attributes of tags within others too */
export function messagesIn(pieces: Piece[]): string[] {
  return pieces.flatMap(piece =>
    typeof piece === 'object' ? [piece.message, ...piece.tags.flatMap(({ open }) => messagesIn(open))] : [],
  )
}

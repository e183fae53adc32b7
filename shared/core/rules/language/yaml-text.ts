/** Reads YAML with places: every error has its line and column. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar, type YAMLMap } from 'yaml'
import { errorText } from '#shared/core/error-text.ts'
import { parseDuration } from '#shared/core/time.ts'

/** Lines and columns count from 1. */
export type YamlError = { line: number; column: number; message: string }

/** Longest rule file, characters. */
const TEXT_MAX = 200_000

/** A YAML map that is read key by key; `close` reports unknown keys. Errors are added to `errors`. */
export interface YamlFields {
  map: YAMLMap
  node(key: string): unknown
  has(key: string): boolean
  keys(): string[]
  keyNode(key: string): unknown
  text(key: string): string | undefined
  need(key: string): string
  number(key: string): number | undefined
  flag(key: string): boolean
  list(key: string): { text: string; node: unknown }[]
  fields(key: string): YamlFields | undefined
  /** Maps in a list. */
  items(key: string): YamlFields[]
  /** ms */
  duration(key: string): number | undefined
  /** Reports every key that was not read. */
  close(): void
}
export type YamlText = {
  text: string
  errors: YamlError[]
  complain: (node: unknown, message: string, offset?: number) => void
  lineOf: (node: unknown) => number
}

/** @returns the top map, or undefined when there is none; problems are in `errors` */
export function parseYaml(text: string): { root?: YamlFields; yaml: YamlText; body: Record<string, unknown> } {
  const errors: YamlError[] = []
  const lines = new LineCounter()
  const complainAt = (offset: number, message: string) => {
    const { line, col } = lines.linePos(offset)
    errors.push({ line: Math.max(line, 1), column: Math.max(col, 1), message })
  }
  const yaml: YamlText = {
    text,
    errors,
    lineOf: node => lines.linePos(startOf(node)).line,
    complain: (node, message, offset) =>
      complainAt(startOf(node) + (offset === undefined ? 0 : sourceOffset(text, node, offset)), message),
  }
  if (text.length > TEXT_MAX) {
    errors.push({ line: 1, column: 1, message: `longer than ${TEXT_MAX} characters` })
    return { yaml, body: {} }
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  for (const { pos, code } of document.errors) complainAt(pos[0], notYaml(code))
  if (errors.length > 0) return { yaml, body: {} }
  if (!isMap(document.contents)) {
    complainAt(0, 'a rule is a map of keys, such as id and when')
    return { yaml, body: {} }
  }
  return { root: fieldsOf(document.contents, yaml), yaml, body: bodyOf(document, yaml) }
}

/** The places where people stumble; of others the line says enough. */
function notYaml(code: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'the key is there twice'
    case 'BAD_INDENT':
      return 'the line is indented differently from those around it'
    case 'TAB_AS_INDENT':
      return 'lines are indented with blanks, not with tabs'
    case 'MISSING_CHAR':
      return 'a quote, a bracket or a comma is missing'
    case 'MULTILINE_IMPLICIT_KEY':
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a key and its text stand in one line, with a blank behind the colon'
    case 'MULTIPLE_DOCS':
      return 'a file holds one rule'
    default:
      return 'this is no YAML'
  }
}

function bodyOf(document: ReturnType<typeof parseDocument>, yaml: YamlText): Record<string, unknown> {
  try {
    return document.toJS({ maxAliasCount: 20 }) as Record<string, unknown>
  } catch (error) {
    yaml.complain(undefined, errorText(error))
    return {}
  }
}

/** The readers of a map, one short method for each kind of value; they share its nodes, so the function is longer than 60 lines. */
export function fieldsOf(map: YAMLMap, yaml: YamlText): YamlFields {
  const nodes = new Map<string, { key: unknown; value: unknown }>()
  for (const { key, value } of map.items) nodes.set(isScalar(key) ? String(key.value) : '', { key, value })
  const known = new Set<string>()
  const node = (key: string): unknown => {
    known.add(key)
    return nodes.get(key)?.value ?? undefined
  }
  const complain = yaml.complain
  return {
    map,
    node,
    has: (key: string): boolean => nodes.has(key),
    keys: (): string[] => [...nodes.keys()],
    keyNode: (key: string): unknown => nodes.get(key)?.key,
    text(key: string): string | undefined {
      const value = node(key)
      if (value === undefined) return undefined
      if (isScalar(value) && (typeof value.value === 'string' || typeof value.value === 'number')) return scalarText(value)
      return void complain(value, `${key} is a text`)
    },
    need(key: string): string {
      const value = this.text(key)
      if (!value && !nodes.has(key)) complain(map, `${key} is missing`)
      return value ?? ''
    },
    number(key: string): number | undefined {
      const value = node(key)
      if (value === undefined) return undefined
      if (isScalar(value) && typeof value.value === 'number' && Number.isFinite(value.value)) return value.value
      return void complain(value, `${key} is a number`)
    },
    flag(key: string): boolean {
      const value = node(key)
      if (value === undefined) return false
      if (isScalar(value) && typeof value.value === 'boolean') return value.value
      complain(value, `${key} is true or false`)
      return false
    },
    list(key: string): { text: string; node: unknown }[] {
      const value = node(key)
      if (value === undefined) return []
      const items = isSeq(value) ? value.items : [value]
      return items.flatMap(item => {
        if (isScalar(item)) return [{ text: String(item.value), node: item }]
        complain(item, `${key} is a list of names`)
        return []
      })
    },
    fields(key: string): YamlFields | undefined {
      const value = node(key)
      if (value === undefined) return undefined
      if (isMap(value)) return fieldsOf(value, yaml)
      return void complain(value, `${key} is a map`)
    },
    items(key: string): YamlFields[] {
      const value = node(key)
      if (value === undefined) return []
      if (isSeq(value) && value.items.every(isMap)) return (value.items as YAMLMap[]).map(item => fieldsOf(item, yaml))
      complain(value, `${key} is a list of maps`)
      return []
    },
    duration(key: string): number | undefined {
      const value = this.text(key)
      if (value === undefined) return undefined
      const ms = value === '0' ? 0 : parseDuration(value)
      if (ms === undefined) complain(node(key), `${key} is a duration such as 30m`)
      return ms
    },
    close(): void {
      for (const key of nodes.keys()) if (!known.has(key)) complain(nodes.get(key)!.key, `unknown key ${key}`)
    },
  }
}

/** The text as written, also of a number: `1.0` stays `1.0`. */
const scalarText = (scalar: Scalar): string =>
  typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value))

const startOf = (node: unknown): number => (isNode(node) ? ((node as Node).range?.[0] ?? 0) : 0)

/** The place in the source of character `offset` of a scalar: after the same number of non-blank characters. */
function sourceOffset(text: string, node: unknown, offset: number): number {
  if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return 0
  const [start, end] = node.range
  let at = start
  if (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') at = text.indexOf('\n', start) + 1
  else if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') at++
  let left = node.value.slice(0, offset).replace(/\s/g, '').length
  for (; at < end && (left > 0 || /\s/.test(text[at]!)); at++) if (!/\s/.test(text[at]!)) left--
  return at - start
}

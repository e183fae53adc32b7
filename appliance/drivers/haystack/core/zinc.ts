/**
 * Writes Zinc with the few kinds of values that requests contain. The writer of haystack-core breaks characters beyond U+FFFF.
 *
 * @source project-haystack.org/doc/docHaystack/Zinc
 */
import { nameTable } from '#shared/core/name-table.ts'
import assert from 'node:assert/strict'
import { type Dict, cellKind, numberOf, refOf } from './grid.ts'

/** @param grid rows of texts, numbers, references, markers and nulls */
export function writeZinc({ meta, cols, rows }: { meta: Dict; cols: readonly string[]; rows: readonly Dict[] }): string {
  const { ver, ...tags } = meta
  const head = Object.entries(tags).map(([name, cell]) =>
    cellKind(cell) === 'marker' ? ` ${name}` : ` ${name}:${writeCell(cell)}`,
  )
  const lines = rows.map(row => cols.map(name => writeCell(row[name])).join(','))
  return [`ver:${writeCell(ver)}${head.join('')}`, cols.join(','), ...lines, ''].join('\n')
}

function writeCell(cell: unknown): string {
  switch (cellKind(cell)) {
    case 'null':
      return 'N'
    case 'str':
      return quote(cell as string)
    case 'ref':
      return `@${refOf(cell)}`
    case 'number': {
      const { value, unit = '' } = numberOf(cell)!
      return `${value}${unit}`
    }
    default:
      assert.fail(`requests contain no ${cellKind(cell)}`)
  }
}

const ESCAPES = nameTable<string>({ '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\', $: '\\$' })

const quote = (text: string): string =>
  `"${text.replace(/["\\$\p{Cc}]/gu, one => ESCAPES[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`

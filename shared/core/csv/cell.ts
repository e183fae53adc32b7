/** Reads one cell of a table. */

/** Texts that exports write for a missing value. */
const NO_VALUE = new Set(['nan', 'null', 'nil', 'none', 'n/a', 'na', '#n/a', '#value!', '-', '--', '---', '?', 'inf', '-inf'])
const DECIMAL_COMMA = /^[+-]?\d+,\d+(e[+-]?\d+)?$/i
/** Digits in groups of three: `1 250`, `1'250.5`, `1,250.5`; with decimal commas `1.250,5`. `1,250` alone may be either. */
const GROUPED = /^[+-]?\d{1,3}(?:(?:['\s]\d{3})+(?:\.\d+)?|(?:,\d{3})+\.\d+)$/
const GROUPED_COMMA = /^[+-]?\d{1,3}(?:(?:['\s]\d{3})+(?:,\d+)?|(?:\.\d{3})+,\d+)$/
const NOT_DECIMAL = /^[+-]?(0[xob]|infinity)/i

/** A number; NaN for a text that means *no value*; undefined for a blank cell (no sample); otherwise the text. */
export type CellValue = number | string | undefined

export function readCell(cell: string, decimalComma: boolean): CellValue {
  const text = cell.trim()
  if (text === '') return undefined
  const written = decimalComma ? withPoint(text) : GROUPED.test(text) ? text.replace(/[,'\s]/g, '') : text
  const value = Number(written)
  // 1e400 is a number in text but cannot be stored.
  if (Number.isFinite(value) && !NOT_DECIMAL.test(written)) return value
  return NO_VALUE.has(text.toLowerCase()) ? Number.NaN : text
}

function withPoint(text: string): string {
  const plain = GROUPED_COMMA.test(text) ? text.replace(/[.'\s]/g, '') : text
  return DECIMAL_COMMA.test(plain) ? plain.replace(',', '.') : plain
}

/** Pairs of state texts whose order is known: the first is 0, the second 1. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['off', 'on'],
  ['false', 'true'],
  ['no', 'yes'],
  ['inactive', 'active'],
  ['unoccupied', 'occupied'],
  ['unocc', 'occ'],
  ['not running', 'running'],
  ['closed', 'open'],
  ['stop', 'start'],
  ['stopped', 'running'],
  ['disabled', 'enabled'],
  ['disable', 'enable'],
  ['normal', 'alarm'],
  ['low', 'high'],
]

/** Maximum number of state texts in a column; more are free text, which history does not store. */
export const STATES_MAX = 32

/**
 * The state texts of a column; the index is the stored number. Known texts retain their number, and texts that differ only in
 * case are one. The texts of a known pair are 0 and 1 even when only one of them occurs.
 *
 * @param texts distinct texts as written
 * @param kept the present states of the point
 * @returns `known`: the order has a meaning; otherwise it is alphabetical
 */
export function statesOf(texts: readonly string[], kept: readonly string[] = []): { states: string[]; known: boolean } {
  const taken = new Set(kept.map(text => text.toLowerCase()))
  const fresh = new Map(texts.toSorted().map(text => [text.toLowerCase(), text]))
  for (const text of taken) fresh.delete(text)
  if (kept.length) return { states: [...kept, ...fresh.values()], known: fresh.size === 0 }
  const pair = PAIRS.find(words => [...fresh.keys()].every(text => words.includes(text)))
  return pair ? { states: pair.map(word => fresh.get(word) ?? word), known: true } : { states: [...fresh.values()], known: false }
}

/** @returns the number of a state, or NaN for any other text */
export function stateNumber(states: readonly string[], text: string): number {
  const wanted = text.toLowerCase()
  const at = states.findIndex(state => state.toLowerCase() === wanted)
  return at < 0 ? Number.NaN : at
}

/** What stands in one cell of a table. */

/** Texts by which exports say that a point answered without a value. */
const NO_VALUE = new Set(['nan', 'null', 'nil', 'none', 'n/a', 'na', '#n/a', '#value!', '-', '--', '---', '?', 'inf', '-inf'])
const DECIMAL_COMMA = /^[+-]?\d+,\d+(e[+-]?\d+)?$/i
const NOT_DECIMAL = /^[+-]?(0[xob]|infinity)/i

/**
 * Reads one cell.
 *
 * @returns a number; NaN for a text that says *no value*; undefined when the cell is blank (no sample); else the text
 */
export function readCell(cell: string, decimalComma: boolean): number | string | undefined {
  const text = cell.trim()
  if (text === '') return undefined
  const written = decimalComma && DECIMAL_COMMA.test(text) ? text.replace(',', '.') : text
  const value = Number(written)
  // 1e400 is written as a number and is none that can be kept.
  if (Number.isFinite(value) && !NOT_DECIMAL.test(written)) return value
  return NO_VALUE.has(text.toLowerCase()) ? Number.NaN : text
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

/** Most state texts of one column; more are free text, of which history keeps nothing. */
export const STATES_MAX = 32

/**
 * The state texts of a column, index = stored number. Texts that are kept already keep their number; texts that differ
 * in case only are one. A known pair is 0 and 1 even when only one of the two was seen.
 *
 * @param texts distinct texts as written
 * @param kept states that the point has so far
 * @returns `known` tells whether the order means something; else it is that of the alphabet
 */
export function statesOf(texts: readonly string[], kept: readonly string[] = []): { states: string[]; known: boolean } {
  const taken = new Set(kept.map(text => text.toLowerCase()))
  const fresh = new Map(texts.toSorted().map(text => [text.toLowerCase(), text]))
  for (const text of taken) fresh.delete(text)
  if (kept.length) return { states: [...kept, ...fresh.values()], known: fresh.size === 0 }
  const pair = PAIRS.find(words => [...fresh.keys()].every(text => words.includes(text)))
  return pair ? { states: pair.map(word => fresh.get(word) ?? word), known: true } : { states: [...fresh.values()], known: false }
}

/** @returns the number of a state, or NaN for a text that is none */
export function stateNumber(states: readonly string[], text: string): number {
  const wanted = text.toLowerCase()
  const at = states.findIndex(state => state.toLowerCase() === wanted)
  return at < 0 ? Number.NaN : at
}

/** The orders in which devices send the bytes of one value. */
import { nameTable } from '#shared/core/name-table.ts'

/**
 * The order of the bytes A to D, A the most significant: ABCD unchanged, CDAB with swapped words, BADC with swapped bytes in
 * each word, DCBA with both. 64-bit values follow the same rule; of 16-bit values only the bytes are swapped.
 */
export const WORD_ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA'] as const
export type WordOrder = (typeof WORD_ORDERS)[number]

/**
 * The orders of 64-bit values. Some devices swap the words within each half, or only the halves. The first four are the orders
 * that the four letters stand for.
 */
export const LONG_ORDERS = [
  'ABCDEFGH',
  'GHEFCDAB',
  'BADCFEHG',
  'HGFEDCBA',
  'EFGHABCD',
  'CDABGHEF',
  'FEHGBADC',
  'DCBAHGFE',
] as const
type LongOrder = (typeof LONG_ORDERS)[number]
export type ByteOrder = WordOrder | LongOrder

/** Orders of values of one register. */
const SHORT: Record<WordOrder, string> = { ABCD: 'AB', CDAB: 'AB', BADC: 'BA', DCBA: 'BA' }
/** The same orders, written with one letter for each byte. */
export const SHORT_ORDERS = nameTable<WordOrder>({ AB: 'ABCD', BA: 'BADC' })

/** @returns the order of a value of `registers`, one letter for each byte */
export function spellOrder(order: ByteOrder, registers: 1 | 2 | 4): string {
  if (order.length === 8) return order
  if (registers === 1) return SHORT[order as WordOrder]
  return registers === 2 ? order : LONG_ORDERS[WORD_ORDERS.indexOf(order as WordOrder)]!
}

const POSITIONS = {
  1: placesOf(1),
  2: placesOf(2),
  4: placesOf(4),
}

function placesOf(registers: 1 | 2 | 4): Record<string, readonly number[]> {
  const orders: readonly ByteOrder[] = registers === 4 ? [...WORD_ORDERS, ...LONG_ORDERS] : WORD_ORDERS
  return Object.fromEntries(
    orders.map(order => {
      const spelling = spellOrder(order, registers)
      return [order, Array.from(spelling, (_, i) => spelling.indexOf('ABCDEFGH'[i]!))]
    }),
  )
}

/** @returns for each byte of the value, most significant first, its position in the received bytes */
export const positionsOf = (order: ByteOrder, registers: 1 | 2 | 4): readonly number[] => POSITIONS[registers][order]!

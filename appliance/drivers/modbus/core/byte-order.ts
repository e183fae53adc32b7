/** The orders in which devices send the bytes of one value. */

/**
 * The bytes of 1-2-3-4, A the most significant: ABCD as they are, CDAB with the words turned round, BADC with the bytes
 * of each word turned round, DCBA with both. 64-bit values go by the same rule, 16-bit ones by their bytes.
 */
export const WORD_ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA'] as const
export type WordOrder = (typeof WORD_ORDERS)[number]

/**
 * 64-bit values have twice as many orders, because some devices turn the words within each half or the halves alone.
 * The first four are what the four letters mean for them.
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

/** What the four letters mean for values of one register. */
const SHORT: Record<WordOrder, string> = { ABCD: 'AB', CDAB: 'AB', BADC: 'BA', DCBA: 'BA' }
/** The same written with a letter for each byte. */
export const SHORT_ORDERS: Readonly<Record<string, WordOrder>> = { AB: 'ABCD', BA: 'BADC' }

/** The order of four letters as it is for a value of `registers`, one letter for each byte. */
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

/** @returns for each byte of the value, most significant first, its place among the bytes as they came */
export const positionsOf = (order: ByteOrder, registers: 1 | 2 | 4): readonly number[] => POSITIONS[registers][order]!

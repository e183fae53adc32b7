import { MINUTE } from '../time.ts'
import { instantsOf } from '#shared/core/time-zone.ts'

/** Zones change their clocks at quarter hours: within one the offset from UTC is constant. */
const BLOCK_MS = 15 * MINUTE
/** Maximum number of cached quarter hours: one year, in any order. */
const BLOCKS_MAX = 40_000

/** The instants of a wall clock in a zone: one, none (`skipped` in spring) or two (`twice` in autumn). */
export type Meaning = number | 'skipped' | 'twice'

/**
 * Converts wall clocks of a zone to instants, fast for consecutive rows.
 *
 * @returns a function of the wall clock, written as if it were UTC, ms
 * @throws RangeError from the function when the zone is unknown
 */
export function localClock(timezone: string): (wallMs: number) => Meaning {
  const blocks = new Map<number, number | 'skipped' | 'twice'>()
  return wallMs => {
    const block = Math.floor(wallMs / BLOCK_MS) * BLOCK_MS
    let shift = blocks.get(block)
    if (shift === undefined) {
      const instants = instantsOf(block, timezone)
      shift = instants.length === 1 ? block - instants[0]! : instants.length ? 'twice' : 'skipped'
      if (blocks.size >= BLOCKS_MAX) blocks.clear()
      blocks.set(block, shift)
    }
    return typeof shift === 'number' ? wallMs - shift : shift
  }
}

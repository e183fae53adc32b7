import { MINUTE } from '../time.ts'
import { instantsOf } from '#shared/core/time-zone.ts'

/** Zones change their clocks on quarters of an hour: within one, a wall clock is as far from UTC throughout. */
const BLOCK_MS = 15 * MINUTE
/** Blocks remembered: a year of quarter hours in whatever order they come. */
const BLOCKS_MAX = 40_000

/** What a wall clock means in a zone: one instant, none (`skipped` in spring) or two (`twice` in autumn). */
export type Meaning = number | 'skipped' | 'twice'

/**
 * Turns the wall clocks of a zone into instants, quickly for rows that follow each other.
 *
 * @returns a function of the wall clock written as if it were UTC, ms
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

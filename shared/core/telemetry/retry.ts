/** When a session that was lost is tried again. */
import { MINUTE, SECOND } from '../time.ts'

export type Retry = {
  /** Attempts in a row that came to no session. */
  failed: number
  /** Sessions in a row that ended soon, with no failed attempt between them. */
  ended: number
}
export const NO_RETRY: Retry = { failed: 0, ended: 0 }

/** A session that lasted this long was a good one. */
const SETTLED_MS = 5 * MINUTE
const FIRST_MS = SECOND / 2
const LONGEST_MS = { failed: 30 * SECOND, ended: MINUTE }

/** @param lastedMs how long the session was up; undefined when it never was */
export function afterLoss({ failed, ended }: Retry, lastedMs: number | undefined): Retry {
  if (lastedMs === undefined) return { failed: failed + 1, ended: 0 }
  return { failed: 0, ended: lastedMs < SETTLED_MS ? ended + 1 : 1 }
}

/**
 * The wait doubles from attempt to attempt; up to half of it is left to chance, so that a thousand edges do not come at
 * once. Where sessions begin and end at once the wait grows faster and further: a broker gives a client id to the newest that asks
 * for it, so two processes under one id would else throw each other out several times a second.
 *
 * @param chance in [0, 1)
 * @returns ms until the next attempt
 */
export function retryMs({ failed, ended }: Retry, chance: number): number {
  const full =
    failed > 0
      ? Math.min(FIRST_MS * 2 ** (failed - 1), LONGEST_MS.failed)
      : Math.min(FIRST_MS * 4 ** Math.max(0, ended - 1), LONGEST_MS.ended)
  return full * (0.5 + chance / 2)
}

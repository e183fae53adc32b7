/** Which messages of a stream are in flight. Positions count from 1; only an acknowledgement of the hub moves `acked`. */

export type SendWindow = {
  /** Last position that the hub has stored. */
  acked: number
  /** Last position that has been sent since the last reset. */
  sent: number
  /**
   * No acknowledgement has arrived since connecting, or since a silence. Only one message is sent, to learn the position of
   * the hub.
   */
  probing: boolean
  /** How long the hub may be silent before the next reset, ms. */
  patienceMs: number
}

/** Most messages in flight (reliability §1.6). */
export const WINDOW_MAX = 50
const PATIENCE_MS = { first: 1_500, longest: 10_000 }

export const newWindow = (acked: number): SendWindow => ({ acked, sent: acked, probing: true, patienceMs: PATIENCE_MS.first })

/** @returns how many messages may be sent now */
export const windowRoom = ({ acked, sent, probing }: SendWindow): number =>
  Math.max(0, (probing ? 1 : WINDOW_MAX) - (sent - acked))

/** Resets to the first unacknowledged message after a new connection. */
export const reconnect = (window: SendWindow): SendWindow => newWindow(window.acked)

/** Resets to the first unacknowledged message after a silence, and doubles the time until the next reset. */
export const stepBack = (window: SendWindow): SendWindow => ({
  ...newWindow(window.acked),
  patienceMs: Math.min(window.patienceMs * 2, PATIENCE_MS.longest),
})

/**
 * Applies an acknowledgement.
 *
 * A hub whose position is behind the one known has lost its newest state. The edge acts on it only in answer to a probe;
 * otherwise the acknowledgement is taken for a late message and discarded.
 *
 * @param through last position that the hub has stored
 * @param available first and last position that can be sent
 * @returns the new window; `diverged` when the hub needs messages that were dropped, or has some that were never written
 * here, so the stream cannot be continued
 */
export function applyAck(
  window: SendWindow,
  through: number,
  available: { first: number; last: number },
): SendWindow | 'diverged' {
  const isBehind = through < window.acked
  if (isBehind && !window.probing) return window
  if (through < available.first - 1 || through > available.last) return 'diverged'
  if (!isBehind && through === window.acked && !window.probing) return window
  return {
    acked: through,
    sent: isBehind ? through : Math.max(window.sent, through),
    probing: false,
    patienceMs: PATIENCE_MS.first,
  }
}

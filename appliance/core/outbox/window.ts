/** Which messages of a stream are on the way. Places count from 1; the hub's acknowledgement alone moves `acked`. */

export type Window = {
  /** Last place that the hub has stored. */
  acked: number
  /** Last place that was sent since the last step back. */
  sent: number
  /** Nothing has come back since connecting or since a silence: one message asks where the hub stands. */
  probing: boolean
  /** How long the hub may be silent before the next step back, ms. */
  patienceMs: number
}

/** Most messages on the way (reliability §1.6). */
export const WINDOW_MAX = 50
const PATIENCE_MS = { first: 1_500, longest: 10_000 }

export const openWindow = (acked: number): Window => ({ acked, sent: acked, probing: true, patienceMs: PATIENCE_MS.first })

/** @returns how many messages may be sent now */
export const room = ({ acked, sent, probing }: Window): number => Math.max(0, (probing ? 1 : WINDOW_MAX) - (sent - acked))

/** Steps back to the first message that is not acknowledged: after a new connection. */
export const reconnect = (window: Window): Window => openWindow(window.acked)

/** Steps back after a silence, and waits longer for the next one. */
export const stepBack = (window: Window): Window => ({
  ...openWindow(window.acked),
  patienceMs: Math.min(window.patienceMs * 2, PATIENCE_MS.longest),
})

/**
 * Takes an acknowledgement.
 *
 * A hub that stands further back than it did has lost its latest state: it is believed when it answers a probe, and
 * otherwise taken for a message that comes late.
 *
 * @param through last place that the hub has stored
 * @param held first and last place that can be sent
 * @returns the window, or `parted` when the hub asks for what is not there any more, or has what was never written here:
 * then the stream cannot go on
 */
export function acknowledge(window: Window, through: number, held: { first: number; last: number }): Window | 'parted' {
  const behind = through < window.acked
  if (behind && !window.probing) return window
  if (through < held.first - 1 || through > held.last) return 'parted'
  if (!behind && through === window.acked && !window.probing) return window
  return {
    acked: through,
    sent: behind ? through : Math.max(window.sent, through),
    probing: false,
    patienceMs: PATIENCE_MS.first,
  }
}

import { setImmediate } from 'node:timers/promises'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'

/**
 * Lets one caller continue in each round of the event loop. Otherwise all requests that wait for one result would continue
 * in the same round, and everything else would wait for all of their replies.
 *
 * @returns a function whose promise resolves at the turn of the caller
 */
export function openTurns(): () => Promise<void> {
  const inTurn = createSerialQueue()
  return () => inTurn(() => setImmediate())
}

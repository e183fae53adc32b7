import { setImmediate } from 'node:timers/promises'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'

/**
 * Lets one caller go on in each round of the event loop. Requests that wait for one result would otherwise all go on in
 * the same round, and everything else would wait until the last of them has written its answer.
 *
 * @returns a function whose promise resolves when it is the caller's turn
 */
export function openTurns(): () => Promise<void> {
  const inTurn = createSerialQueue()
  return () => inTurn(() => setImmediate())
}

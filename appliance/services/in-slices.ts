import { setImmediate as breathe } from 'node:timers/promises'

/**
 * Carries out work that yields now and then, so that everything else on the box, polls above all, has its turn in between.
 *
 * @returns what comes of it
 */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await breathe()
  }
}

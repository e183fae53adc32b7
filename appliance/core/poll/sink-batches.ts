/** Chooses the batches that are written to a sink, and separates readings that it refuses from a sink that is down. */
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { readingQueue } from './reading-queue.ts'

/** `refused`: the write failed, perhaps because of a reading in it. `down`: the sink cannot take any reading now. */
export type WriteOutcome = 'taken' | 'refused' | 'down'

type BatchResult = {
  /** The sink is down: wait before the next batch. */
  isDown: boolean
  /** Oldest readings that were dropped, because more wait than may. */
  dropped: number
  /** A reading that the sink refuses while it takes others. It is not written again. */
  refused: Reading | undefined
}

/** Suspects in a row until the sink is taken to be down: 2 at first, then twice as many each time, up to this. */
const SUSPECTS_MAX = 128

/**
 * The readings that wait for one sink, oldest first.
 *
 * A batch that is refused is written again in halves, down to single readings. A single reading that is refused becomes a
 * suspect. When the sink takes a reading behind the suspects, it works, and each suspect gets one more attempt: if that fails
 * too, the reading is dropped. When nothing is accepted, the sink is down, and the suspects wait with all others.
 *
 * A batch for which the sink is down waits whole: no reading in it is to blame.
 */
export class SinkBatches {
  readonly #batchMax: number
  readonly #queue
  #limit: number
  #inFlight: Reading[] = []
  #suspects: Reading[] = []
  #suspectsMax = 2
  /** The batch in flight is the last attempt for the first suspect. */
  #isLastAttempt = false
  /** The sink has taken a batch since it was last down. */
  #works = false

  /** @param waitingMax readings that may wait. @param batchMax readings in one batch */
  constructor(waitingMax: number, batchMax: number) {
    this.#queue = readingQueue(waitingMax)
    this.#batchMax = batchMax
    this.#limit = batchMax
  }

  /** @returns how many of the oldest readings were dropped for these */
  push(readings: readonly Reading[]): number {
    return this.#queue.push(readings)
  }

  /** Readings that the sink does not have, with those in flight. */
  size(): number {
    return this.#queue.size() + this.#suspects.length + (this.#isLastAttempt ? 0 : this.#inFlight.length)
  }

  /** Takes the next batch to write; `report` must follow before the next call. @returns undefined when nothing waits */
  next(): Reading[] | undefined {
    const [suspect] = this.#suspects
    this.#isLastAttempt = this.#works && suspect !== undefined
    this.#inFlight = this.#isLastAttempt ? [suspect!] : this.#queue.take(this.#limit)
    return this.#inFlight.length > 0 ? this.#inFlight : undefined
  }

  /** Applies the outcome of the batch that `next` gave. */
  report(outcome: WriteOutcome): BatchResult {
    const batch = this.#inFlight
    this.#inFlight = []
    if (this.#isLastAttempt) return this.#reportLastAttempt(outcome)
    if (outcome === 'taken') {
      this.#works = true
      this.#limit = Math.min(this.#batchMax, 2 * this.#limit)
      return CONTINUE
    }
    if (outcome === 'down') {
      const dropped = this.#queue.putBack(batch)
      return this.#waitWithSuspects(dropped)
    }
    this.#limit = Math.max(1, Math.floor(batch.length / 2))
    if (batch.length > 1) return { ...CONTINUE, dropped: this.#queue.putBack(batch), isDown: !this.#works }
    this.#suspects.push(...batch)
    const isTriedFurther = this.#suspects.length < this.#suspectsMax && this.#queue.size() > 0
    this.#works = false
    return isTriedFurther ? CONTINUE : this.#waitWithSuspects(0)
  }

  /** Drops everything. @returns how many readings there were */
  clear(): number {
    const cleared = this.#suspects.length
    this.#suspects = []
    return cleared + this.#queue.clear()
  }

  #reportLastAttempt(outcome: WriteOutcome): BatchResult {
    this.#isLastAttempt = false
    if (outcome === 'down') return this.#waitWithSuspects(0)
    const suspect = this.#suspects.shift()
    if (this.#suspects.length === 0) this.#suspectsMax = 2
    return outcome === 'taken' ? CONTINUE : { ...CONTINUE, refused: suspect }
  }

  #waitWithSuspects(dropped: number): BatchResult {
    const suspects = this.#suspects
    this.#suspects = []
    this.#suspectsMax = Math.min(2 * this.#suspectsMax, SUSPECTS_MAX)
    this.#works = false
    return { isDown: true, dropped: dropped + this.#queue.putBack(suspects), refused: undefined }
  }
}

const CONTINUE: BatchResult = { isDown: false, dropped: 0, refused: undefined }

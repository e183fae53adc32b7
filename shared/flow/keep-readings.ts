/** Hands readings to one sink: nothing waits for it, and what it cannot take now it gets when it can again. */
import { readingQueue } from '#shared/core/poll/reading-queue.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/reading.ts'
import { SECOND } from '#shared/core/time.ts'

/** Each when it begins and when it is over, not each time. */
export type SinkEvent =
  | { kind: 'sink_failed'; reason: string }
  /** As many wait as may: the oldest go. */
  | { kind: 'sink_full'; waiting: number }
  | { kind: 'sink_back'; lost: number }
  /** It did not come back before the end. */
  | { kind: 'sink_left'; lost: number }

export type Keeper = {
  push(readings: readonly Reading[]): void
  /** Resolves when the sink has all, or when a last attempt has failed. */
  close(): Promise<void>
}

/** Readings that wait for a sink: a disk that is full for ten minutes loses nothing of a site of 5,000 points a minute. */
export const WAITING_MAX = 50_000
/** In one write, so that the first after a long wait is no larger than a sink takes in its stride. */
const WRITE_MAX = 5_000
/** Between attempts while a sink fails. */
const RETRY_MS = 5 * SECOND

/** Writes one batch at a time: what comes while a batch is written goes with the next, in one fsync. */
export function keepReadings(sink: Sink, clock: Clock, notify: (event: SinkEvent) => void): Keeper {
  const queue = readingQueue(WAITING_MAX)
  const closing = new AbortController()
  let writing: Promise<void> | undefined
  let isFailing = false
  /** Dropped since the trouble began; null while there is none. */
  let lost: number | null = null

  function drop(count: number): void {
    if (count === 0) return
    if (lost === null) notify({ kind: 'sink_full', waiting: WAITING_MAX })
    lost = (lost ?? 0) + count
  }

  /** @returns whether the sink took it */
  async function write(batch: Reading[]): Promise<boolean> {
    try {
      await sink.write(batch)
      return true
    } catch (error) {
      drop(queue.putBack(batch))
      if (!isFailing) notify({ kind: 'sink_failed', reason: (error as Error).message })
      isFailing = true
      return false
    }
  }

  async function drain(): Promise<void> {
    while (queue.size() > 0) {
      const isLast = closing.signal.aborted
      if (await write(queue.take(WRITE_MAX))) continue
      if (isLast) return leave()
      await clock.sleep(RETRY_MS, closing.signal)
    }
    writing = undefined
    if (isFailing || lost !== null) notify({ kind: 'sink_back', lost: lost ?? 0 })
    isFailing = false
    lost = null
  }

  function leave(): void {
    notify({ kind: 'sink_left', lost: (lost ?? 0) + queue.clear() })
    writing = undefined
  }
  return {
    push(readings) {
      drop(queue.push(readings))
      if (queue.size() > 0) writing ??= drain()
    },
    async close() {
      closing.abort()
      await writing
    },
  }
}

/** Hands readings to one sink: nothing waits for it, and what it cannot take now it gets when it can again. */
import { readingQueue } from '../core/poll/reading-queue.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { Storing, StoringTrouble } from '#shared/core/storage-status.ts'
import { SECOND } from '#shared/core/time.ts'

/** Each when it begins and when it is over, not each time. */
export type SinkEvent =
  | { kind: 'sink_failed'; reason: string }
  /** As many wait as may: the oldest go. */
  | { kind: 'sink_full'; waiting: number }
  | { kind: 'sink_back'; lost: number }
  /** It takes others, but never this one, which is lost; the first of its kind until all is well again. */
  | { kind: 'reading_refused'; point_id: string; reason: string }
  /** It did not come back before the end. */
  | { kind: 'sink_left'; lost: number }

export type Keeper = {
  push(readings: readonly Reading[]): void
  /** Resolves when the sink has all, or when a last attempt has failed. */
  close(): Promise<void>
  storing(): Storing
}

/** Readings that wait for a sink: a disk that is full for ten minutes loses nothing of a site of 5,000 points a minute. */
export const WAITING_MAX = 50_000
/** In one write, so that the first after a long wait is no larger than a sink takes in its stride. */
const WRITE_MAX = 5_000
/** Between attempts while a sink fails. */
const RETRY_MS = 5 * SECOND

/**
 * Codes of what the machine refuses, whatever it is given: no room, a disk that fails, a file that somebody else holds.
 * @source errno(3), https://sqlite.org/rescode.html
 */
const MACHINE_CODES = /^(E[A-Z0-9]+|SQLITE_(BUSY|CANTOPEN|FULL|IOERR|LOCKED|NOMEM|READONLY).*)$/

/** Readings in a row that are tried one by one before the sink is taken for down; from 2, twice as many each time. */
const ASIDE_MAX = 128

/**
 * Writes one batch at a time: what comes while a batch is written goes with the next, in one fsync.
 *
 * A batch that the machine refuses waits, whole: of a full disk's last room a small one may get what a large one did not.
 * A batch that fails otherwise is tried again in halves, down to single readings. Those that fail are put aside; when one
 * behind them is taken, the sink works and they are what it cannot take. When none is taken, they wait again, and so does
 * the keeper.
 */
export function keepReadings(sink: Sink, clock: Clock, notify: (event: SinkEvent) => void): Keeper {
  const queue = readingQueue(WAITING_MAX)
  const closing = new AbortController()
  let writing: Promise<void> | undefined
  let limit = WRITE_MAX
  /** It has taken something since it was last waited for. */
  let isAlive = false
  let aside: Reading[] = []
  let asideMax = 2
  let reason = ''
  /** Since the trouble began: readings lost, and what was said of it. */
  let lost = 0
  let trouble: StoringTrouble | undefined
  /** In the write that is under way. */
  let inFlight = 0
  const said = new Set<SinkEvent['kind']>()

  function sayOnce(event: SinkEvent): void {
    if (!said.has(event.kind)) notify(event)
    said.add(event.kind)
  }

  function drop(count: number): void {
    if (count > 0) sayOnce({ kind: 'sink_full', waiting: WAITING_MAX })
    lost += count
  }

  /** @returns whether the sink took it; `down`: it can take nothing now */
  async function write(batch: Reading[]): Promise<'taken' | 'refused' | 'down'> {
    inFlight = batch.length
    try {
      await sink.write(batch)
      return 'taken'
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown }
      reason = message
      return typeof code === 'string' && MACHINE_CODES.test(code) ? 'down' : 'refused'
    } finally {
      inFlight = 0
    }
  }

  /** The sink works: what was put aside gets its last chance. @returns whether the sink still works */
  async function giveUpAside(): Promise<boolean> {
    for (let single = aside[0]; single; single = aside[0]) {
      const outcome = await write([single])
      if (outcome === 'down') return false
      aside.shift()
      if (outcome === 'taken') continue
      sayOnce({ kind: 'reading_refused', point_id: single.id, reason })
      lost++
    }
    asideMax = 2
    return true
  }

  function putAsideBack(): void {
    drop(queue.putBack(aside))
    aside = []
    asideMax = Math.min(2 * asideMax, ASIDE_MAX)
    isAlive = false
  }

  /** @returns whether to go on at once */
  async function writeSome(): Promise<boolean> {
    const batch = queue.take(limit)
    const outcome = await write(batch)
    if (outcome === 'down') {
      drop(queue.putBack(batch))
      putAsideBack()
      return false
    }
    if (outcome === 'taken') {
      isAlive = true
      limit = Math.min(WRITE_MAX, 2 * limit)
      if (await giveUpAside()) return true
      putAsideBack()
      return false
    }
    limit = Math.max(1, Math.floor(batch.length / 2))
    if (batch.length > 1) {
      drop(queue.putBack(batch))
      return isAlive
    }
    aside.push(...batch)
    if (aside.length < asideMax && queue.size() > 0) return true
    putAsideBack()
    return false
  }

  async function drain(): Promise<void> {
    while (queue.size() > 0) {
      const isLast = closing.signal.aborted
      if (await writeSome()) continue
      sayOnce({ kind: 'sink_failed', reason })
      trouble = { reason, since: trouble?.since ?? clock.now() }
      if (isLast) return leave()
      await clock.sleep(RETRY_MS, closing.signal)
    }
    writing = undefined
    trouble = undefined
    if (said.size > 0) notify({ kind: 'sink_back', lost })
    said.clear()
    lost = 0
  }

  function leave(): void {
    notify({ kind: 'sink_left', lost: lost + queue.clear() })
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
    storing: () => ({
      waiting: queue.size() + aside.length + inFlight,
      waiting_max: WAITING_MAX,
      ...(trouble && { trouble }),
    }),
  }
}

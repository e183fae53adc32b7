/**
 * Writes readings to one sink through a bounded queue. Polling never waits for the sink. Readings of several devices are gathered
 * into one write, because each write costs the disk a commit.
 */
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { Storing, StoringTrouble } from '#shared/core/storage-status.ts'
import { SECOND } from '#shared/core/time.ts'
import { SinkBatches, type WriteOutcome } from '../core/poll/sink-batches.ts'

/** Each is notified once between two times that all is well, however often it happens. */
export type SinkEvent =
  | { kind: 'sink_failed'; reason: string }
  /** The queue is full: the oldest readings are dropped. */
  | { kind: 'sink_full'; waiting: number }
  | { kind: 'sink_back'; lost: number }
  /** The sink takes other readings and never this one, which is lost. */
  | { kind: 'reading_refused'; point_id: string; reason: string }
  /** The sink was still down when the process stopped. */
  | { kind: 'sink_left'; lost: number }

/** Most readings that wait for a sink: enough for a site of 5,000 points a minute while its disk is full for ten minutes. */
export const WAITING_MAX = 50_000
/** Most readings in one write, so that the first write after a long wait is not larger than a sink can take at once. */
const WRITE_MAX = 5_000
/**
 * Where their readings may wait so long, writes come at whole half minutes: history keeps readings by minute, so the pages of a minute
 * are written twice, and not a third time by a write that lies across its end.
 */
const GRID_MS = 30 * SECOND
/** Between attempts while a sink is down. */
const RETRY_MS = 5 * SECOND

/**
 * Error codes of the operating system and of SQLite that do not depend on the readings: no space, a failing disk, a file that
 * another process holds.
 * @source errno(3), https://sqlite.org/rescode.html
 */
const SYSTEM_CODES = /^(E[A-Z0-9]+|SQLITE_(BUSY|CANTOPEN|FULL|IOERR|LOCKED|NOMEM|READONLY).*)$/

/**
 * Writes one batch at a time; readings that arrive meanwhile go with the next one, in one fsync. While the sink is down,
 * readings wait. `SinkBatches` decides what is written next and which readings are dropped.
 */
export class SinkWriter {
  readonly #sink: Sink
  readonly #clock: Clock
  readonly #notify: (event: SinkEvent) => void
  readonly #batches = new SinkBatches(WAITING_MAX, WRITE_MAX)
  readonly #closing = new AbortController()
  readonly #notified = new Set<SinkEvent['kind']>()
  #writing: Promise<void> | undefined
  #trouble: StoringTrouble | undefined
  /** Counts the gatherings: what has been gathered is written once, by the first of its readings that may not wait any longer. */
  #gathering = 0
  /** Readings lost since the trouble began. */
  #lost = 0
  /** Why the last failed write failed. */
  #reason = ''

  constructor(sink: Sink, clock: Clock, notify: (event: SinkEvent) => void) {
    this.#sink = sink
    this.#clock = clock
    this.#notify = notify
  }

  /** @param mayWaitMs how long these readings may wait for others that are written with them */
  push(readings: readonly Reading[], mayWaitMs = 0): void {
    this.#countDropped(this.#batches.push(readings))
    const waiting = this.#batches.size()
    if (waiting === 0 || this.#writing) return
    if (mayWaitMs === 0 || waiting >= WRITE_MAX) return this.#begin()
    const gathering = this.#gathering
    const now = this.#clock.now()
    const latest = now + mayWaitMs
    const onGrid = Math.floor(latest / GRID_MS) * GRID_MS
    void this.#clock.sleep((onGrid > now ? onGrid : latest) - now, this.#closing.signal).then(() => {
      if (this.#gathering === gathering) this.#begin()
    })
  }

  /** Resolves when the sink has all readings, or when a last attempt has failed. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#batches.size() > 0) this.#begin()
    await this.#writing
  }

  storing(): Storing {
    return { waiting: this.#batches.size(), waiting_max: WAITING_MAX, ...(this.#trouble && { trouble: this.#trouble }) }
  }

  #begin(): void {
    this.#gathering++
    this.#writing ??= this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#batches.next(); batch; batch = this.#batches.next()) {
      const isLast = this.#closing.signal.aborted
      const { isDown, dropped, refused } = this.#batches.report(await this.#write(batch))
      this.#countDropped(dropped)
      if (refused) {
        this.#notifyOnce({ kind: 'reading_refused', point_id: refused.id, reason: this.#reason })
        this.#lost++
      }
      if (!isDown) continue
      this.#notifyOnce({ kind: 'sink_failed', reason: this.#reason })
      this.#trouble = { reason: this.#reason, since: this.#trouble?.since ?? this.#clock.now() }
      if (isLast) return this.#giveUp()
      await this.#clock.sleep(RETRY_MS, this.#closing.signal)
    }
    this.#writing = undefined
    this.#trouble = undefined
    if (this.#notified.size > 0) this.#notify({ kind: 'sink_back', lost: this.#lost })
    this.#notified.clear()
    this.#lost = 0
  }

  async #write(batch: Reading[]): Promise<WriteOutcome> {
    try {
      await this.#sink.write(batch)
      return 'taken'
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown }
      this.#reason = message
      return typeof code === 'string' && SYSTEM_CODES.test(code) ? 'down' : 'refused'
    }
  }

  #giveUp(): void {
    this.#notify({ kind: 'sink_left', lost: this.#lost + this.#batches.clear() })
    this.#writing = undefined
  }

  #countDropped(count: number): void {
    if (count > 0) this.#notifyOnce({ kind: 'sink_full', waiting: WAITING_MAX })
    this.#lost += count
  }

  #notifyOnce(event: SinkEvent): void {
    if (!this.#notified.has(event.kind)) this.#notify(event)
    this.#notified.add(event.kind)
  }
}

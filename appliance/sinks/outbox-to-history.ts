/** Replays the outbox into history, so that after any end of the process a reading is in both or in neither. */
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { type FailureLog, failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'
import type { OutgoingMessage, OutboxReader } from './outbox-reader.ts'

/** Messages in one transaction of history: many at the start, one or two while polling. */
const BATCH = 20

type HistoryReplay = {
  /** Both sinks get every reading. The first writes to the outbox and replays it; the second writes while the outbox fails. */
  sinks: [outboxFirst: Sink, whileOutboxFails: Sink]
  service: Service
  /** Why history is behind the outbox, and since when; undefined while it is not. */
  trouble(): StoringTrouble | undefined
}

/**
 * Writes readings to the outbox first and replays them into history. The position of the reader moves when history has the
 * readings. After a power cut the few readings before that position are written again, which changes nothing. While the
 * outbox fails, readings go to history directly.
 *
 * @param outbox makes readings durable first
 * @param reader the outbox reader of destination `history`
 */
export function replayIntoHistory(
  outbox: Sink,
  reader: OutboxReader,
  history: Sink,
  log: Logger,
  clock: Pick<Clock, 'now'>,
): HistoryReplay {
  const replay = new Replay(reader, history, log, clock)
  let isOutboxFailing = false
  const write = async (readings: Reading[]) => {
    try {
      await outbox.write(readings)
      isOutboxFailing = false
    } catch (error) {
      isOutboxFailing = true
      await history.write(readings)
      throw error
    }
    await replay.catchUp()
    if (replay.failed === 'outbox') await history.write(readings)
  }
  // Findings are skipped here too, otherwise the outbox would retain them for history.
  reader.onWritten(() => void replay.catchUp())
  return {
    trouble: () => replay.trouble,
    sinks: [{ write }, { write: async readings => void (isOutboxFailing && (await history.write(readings))) }],
    service: {
      name: 'history from outbox',
      async start() {
        const { last, acked } = reader.span()
        if (last > acked) log.info({ messages: last - acked }, 'replaying outbox into history')
        await replay.catchUp()
      },
      stop: () => replay.catchUp(),
    },
  }
}

class Replay {
  /** The side that failed last. `history` is tried again with the next message; an `outbox` that cannot be read is not. */
  failed: 'history' | 'outbox' | undefined
  trouble: StoringTrouble | undefined
  readonly #reader: OutboxReader
  readonly #history: Sink
  readonly #failures: FailureLog
  readonly #clock: Pick<Clock, 'now'>
  #running: Promise<void> | undefined

  constructor(reader: OutboxReader, history: Sink, log: Logger, clock: Pick<Clock, 'now'>) {
    this.#reader = reader
    this.#history = history
    this.#clock = clock
    this.#failures = failureLog(log, 'outbox not replayed into history', 'outbox replayed into history again')
  }

  /** Resolves when history has everything that was in the outbox at the call, or when it fails. Never rejects. */
  async catchUp(): Promise<void> {
    const { last } = this.#reader.span()
    do {
      this.#running ??= this.#drain().finally(() => {
        this.#running = undefined
      })
      await this.#running
    } while (!this.failed && this.#reader.span().acked < last)
  }

  async #drain(): Promise<void> {
    if (this.failed === 'history') this.failed = undefined
    for (let batch = this.#nextBatch(); batch.length > 0; batch = this.#nextBatch()) {
      const { stream, seq } = batch.at(-1)!
      try {
        await this.#history.write(batch.flatMap(({ message }) => ('readings' in message ? message.readings : [])))
      } catch (error) {
        this.#fail('history', error)
        return
      }
      this.#reader.settle({ stream, through_seq: seq })
    }
    if (this.failed) return
    this.trouble = undefined
    this.#failures.worked()
  }

  #nextBatch(): OutgoingMessage[] {
    try {
      return this.#reader.next(this.#reader.span().acked, BATCH)
    } catch (error) {
      this.#fail('outbox', error)
      return []
    }
  }

  #fail(side: 'history' | 'outbox', error: unknown): void {
    this.#failures.failed(error)
    this.failed = side
    this.trouble ??= { reason: errorText(error), since: this.#clock.now() }
  }
}

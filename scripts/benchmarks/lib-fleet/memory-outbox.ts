/** An outbox in memory with one reader: what an edge of the benchmark has written and the hub has not stored. */
import { randomUUID } from 'node:crypto'
import type { OutboxMessage } from '#appliance/core/outbox/outbox-messages.ts'
import type { OutboxReader } from '#appliance/sinks/outbox-reader.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'

export class MemoryOutbox implements OutboxReader {
  readonly note = undefined
  readonly #stream = randomUUID()
  readonly #onStored: (writtenAt: number) => void
  #waiting: OutboxMessage[] = []
  #acked = 0
  #listener = () => undefined as void

  /** @param onStored called for each message that the hub has stored, with the time when it was written, ms */
  constructor(onStored: (writtenAt: number) => void) {
    this.#onStored = onStored
  }

  write(readings: Reading[], at: number): void {
    this.#waiting.push({ at, message_id: randomUUID(), protocol: 'bacnet', readings })
    this.#listener()
  }

  waiting(): number {
    return this.#waiting.length
  }

  next(after: number, limit: number) {
    const from = Math.max(0, after - this.#acked)
    return this.#waiting.slice(from, from + limit).map((message, i) => {
      return { stream: this.#stream, seq: this.#acked + from + i + 1, message }
    })
  }

  span() {
    const acked = this.#acked
    return { stream: this.#stream, first: acked + 1, last: acked + this.#waiting.length, acked }
  }

  /** @throws Error for a message that the hub refused: the figures would be wrong */
  settle({ through_seq, rejected = [] }: Parameters<OutboxReader['settle']>[0]): void {
    if (rejected[0]) throw new Error(`message ${rejected[0].seq} was refused: ${rejected[0].reason}`)
    const stored = this.#waiting.splice(0, Math.max(0, through_seq - this.#acked))
    this.#acked += stored.length
    for (const { at } of stored) this.#onStored(at)
  }

  async beginStream(): Promise<void> {
    throw new Error('the hub has lost what it acknowledged')
  }

  dropped = () => 0
  thinned = () => 0
  onWritten(listener: () => void): void {
    this.#listener = listener
  }
}

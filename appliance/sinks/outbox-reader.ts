/** The readers of an outbox: each destination reads the same log and has its own position in it. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Ack } from '#shared/core/telemetry/status.ts'
import type { OutboxMessage, ThinnedMessages } from '../core/outbox/outbox-messages.ts'
import type { OutboxFiles, OutboxStream } from './outbox-files.ts'

/**
 * Destinations of the messages; each reads the log at its own pace: the hub over MQTT, central on the same machine over HTTP,
 * and the history of this process.
 */
export type Destination = 'hub' | 'central' | 'history'

/** One message with its position in the stream. */
export type OutgoingMessage = { stream: string; seq: number; message: OutboxMessage }

/** The view of one destination on the outbox. Positions count from 1 within its stream. */
export type OutboxReader = {
  /** Reads messages behind position `after`, oldest first. @throws Error when the log is damaged */
  next(after: number, limit: number): OutgoingMessage[]
  /**
   * The stream and the positions that can be sent; `last` is `first - 1` when there are none. The destination has everything
   * up to `acked`.
   */
  span(): { stream: string; first: number; last: number; acked: number }
  /** Drops what the destination has stored. Messages that it rejected are set aside in files. */
  settle(ack: Ack): void
  /**
   * Starts a new stream with the oldest message that is left. When another destination started a stream later than this one,
   * that stream is taken over instead.
   */
  beginStream(): Promise<void>
  /** Messages evicted from a full outbox before the destination had them, since the start. */
  dropped(): number
  /** Messages downsampled in a full outbox before the destination had them, since the start. */
  thinned(): number
  /** Why the stream is not the one of the last run; undefined when it is. */
  note: string | undefined
  /** Registers a listener that is called after each write. */
  onWritten(listener: () => void): void
}

/** Positions are saved after this many acknowledged messages. A power cut makes at most so many be sent again. */
const SAVE_EVERY = 500

/** `acked`: the last record that the destination has, or that was evicted. */
type Progress = { stream: OutboxStream; acked: number; dropped: number; thinned: number }

/**
 * Opens a reader for each destination.
 *
 * @throws Error when the positions cannot be saved. A full disk is no error: they are saved when there is room, because only
 * sending messages makes room
 */
export async function openReaders(
  files: OutboxFiles<OutboxMessage>,
  to: readonly Destination[],
  logger: Logger,
): Promise<OutboxReaders> {
  const readers = new OutboxReaders(files, to, logger)
  await readers.saveAtStart()
  return readers
}

export class OutboxReaders {
  readonly #files: OutboxFiles<OutboxMessage>
  readonly #logger: Logger
  readonly #progress: ReadonlyMap<Destination, Progress>
  readonly #listeners: (() => void)[] = []
  /** Acknowledged messages since the positions were saved. */
  #unsaved = 0

  constructor(files: OutboxFiles<OutboxMessage>, to: readonly Destination[], logger: Logger) {
    this.#files = files
    this.#logger = logger
    const { first } = files.log.state()
    const newest = [...files.streams.values()].toSorted((a, b) => b.born - a.born)[0]
    const added: OutboxStream = newest ? { ...newest, acked: 0 } : { id: randomUUID(), base: first - 1, acked: 0, born: 1 }
    this.#progress = new Map(
      to.map(name => {
        const stream = files.streams.get(name) ?? added
        return [name, { stream, acked: Math.max(first - 1, stream.base + stream.acked), dropped: 0, thinned: 0 }]
      }),
    )
  }

  /** @throws RangeError for a destination that the outbox was not opened with */
  reader(name: Destination): OutboxReader {
    const progress = this.#progress.get(name)
    if (!progress) throw new RangeError(`the outbox has no reader for ${name}`)
    const { log, note } = this.#files
    return {
      next: (after, limit) => {
        const { id, base } = progress.stream
        return log.read(base + after + 1, limit).map(({ seq, record }) => ({ stream: id, seq: seq - base, message: record }))
      },
      span: () => {
        const { first, last } = log.state()
        const { id, base } = progress.stream
        return { stream: id, first: Math.max(first - base, 1), last: last - base, acked: progress.acked - base }
      },
      settle: ack => this.#settle(progress, ack),
      beginStream: () => this.#beginStream(progress),
      dropped: () => progress.dropped,
      thinned: () => progress.thinned,
      note,
      onWritten: listener => void this.#listeners.push(listener),
    }
  }

  /** The first record that some destination does not have. */
  firstNeeded(): number {
    return Math.min(...Array.from(this.#progress.values(), ({ acked }) => acked)) + 1
  }

  /**
   * Counts the records up to `last`, which have been evicted.
   *
   * @param rest names the records of which nothing is left and those that were downsampled; what is left of them stands at
   * the end of the log. Undefined when nothing is left of any
   */
  evicted(last: number, rest: Pick<ThinnedMessages, 'dropped' | 'thinned'> | undefined, reason: string): void {
    for (const [name, progress] of this.#progress) {
      const missed = (seqs: ReadonlySet<number>) => [...seqs].filter(seq => seq > progress.acked).length
      const dropped = rest ? missed(rest.dropped) : Math.max(0, last - progress.acked)
      const thinned = rest ? missed(rest.thinned) : 0
      progress.acked = Math.max(progress.acked, last)
      progress.dropped += dropped
      progress.thinned += thinned
      const counts = { to: name, dropped, thinned }
      if (dropped + thinned > 0) this.#logger.warn(counts, `outbox full: oldest messages downsampled or dropped: ${reason}`)
    }
  }

  notifyWritten(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Saves the positions. A failure costs only that some messages are sent again. */
  async save(): Promise<void> {
    await this.#save().catch(error =>
      this.#logger.debug({ err: error }, 'outbox positions not saved: some messages may be sent again'),
    )
  }

  async saveAtStart(): Promise<void> {
    await this.#save().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error
      this.#unsaved = SAVE_EVERY
      this.#logger.warn('disk full: outbox positions not saved yet, some messages may be sent again')
    })
  }

  #save(): Promise<void> {
    this.#unsaved = 0
    const streams = Array.from(this.#progress, ([name, { stream, acked }]): [string, OutboxStream] => [
      name,
      { ...stream, acked: Math.max(0, acked - stream.base) },
    ])
    return this.#files.saveStreams(new Map(streams))
  }

  #settle(progress: Progress, { through_seq, rejected = [] }: Ack): void {
    const { log, keepRejected } = this.#files
    const { base } = progress.stream
    for (const { seq, reason } of rejected) {
      keepRejected(progress.stream, seq, reason, log.read(base + seq, 1)[0]?.record)
    }
    const before = progress.acked
    progress.acked = Math.max(before, base + through_seq)
    log.dropThrough(this.firstNeeded() - 1)
    this.#unsaved += progress.acked - before
    if (this.#unsaved >= SAVE_EVERY) void this.save()
  }

  async #beginStream(progress: Progress): Promise<void> {
    const { first } = this.#files.log.state()
    const latest = Array.from(this.#progress.values(), ({ stream }) => stream).reduce((a, b) => (b.born > a.born ? b : a))
    const isTakenOver = latest.born > progress.stream.born
    const next = isTakenOver ? latest : { id: randomUUID(), base: first - 1, born: latest.born + 1 }
    const { stream, acked } = progress
    progress.stream = { ...next, acked: 0 }
    progress.acked = Math.max(first - 1, next.base)
    await this.#save().catch((error: unknown) => {
      Object.assign(progress, { stream, acked })
      throw error
    })
  }
}

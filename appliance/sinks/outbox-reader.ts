/** The destinations of an outbox: each reads the same log and has its own place in it. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Ack } from '#shared/core/telemetry/status.ts'
import type { Kept, Rest } from './outbox-messages.ts'
import type { Destination } from './outbox.ts'
import type { OutboxFiles, Stream } from './outbox-files.ts'

/** One message with its place in the stream. */
export type Outgoing = { stream: string; seq: number; kept: Kept }

/** What one destination reads, and how far it has come. */
export type OutboxWay = {
  /** Messages behind place `after`, oldest first. @throws Error when the log is damaged */
  next(after: number, limit: number): Outgoing[]
  /**
   * The stream and its places that can be sent; `last` is `first - 1` when there are none. The destination has up to
   * `acked`.
   */
  span(): { stream: string; first: number; last: number; acked: number }
  /** Forgets what the destination has, and keeps aside what it refused. */
  settle(ack: Ack): void
  /** Goes on in a new stream that begins with the oldest message that is left; in that of another way, if it began later. */
  beginStream(): Promise<void>
  /** Messages that were dropped before the destination had them, because there was no room, since start. */
  dropped(): number
  /** Messages of which one value for each point and quarter of an hour is left, because there was no room, since start. */
  thinned(): number
  /** Why its stream is not the one of before the start. */
  note: string | undefined
  /** Calls back after each message that has been written. */
  onWritten(listener: () => void): void
}

/** Places are saved when this many messages more are acknowledged: so many are sent again, at most, after a power cut. */
const SAVE_EVERY = 500

export type Ways = Awaited<ReturnType<typeof openWays>>

/** @throws Error when the streams cannot be saved, unless it is for want of room: then they are as soon as there is some */
export async function openWays(files: OutboxFiles<Kept>, to: readonly Destination[], logger: Logger) {
  const { log, note } = files
  const first = log.state().first
  const born = Math.max(0, ...Array.from(files.streams.values(), stream => stream.born)) + 1
  const newest = [...files.streams.values()].toSorted((a, b) => b.born - a.born)[0]
  const fresh: Stream = newest ? { ...newest, acked: 0 } : { id: randomUUID(), base: first - 1, acked: 0, born }
  const streams = new Map(to.map(name => [name, files.streams.get(name) ?? fresh]))
  /** Last record that the destination has, or that was dropped. */
  const acked = new Map(to.map(name => [name, Math.max(first - 1, streams.get(name)!.base + streams.get(name)!.acked)]))
  const dropped = new Map(to.map(name => [name, 0]))
  const thinned = new Map(to.map(name => [name, 0]))
  const listeners: (() => void)[] = []
  let unsaved = 0

  const save = () => {
    unsaved = 0
    return files.saveStreams(
      new Map([...streams].map(([name, stream]) => [name, { ...stream, acked: Math.max(0, acked.get(name)! - stream.base) }])),
    )
  }
  const saveLater = () =>
    void save().catch(error => logger.debug({ err: error }, 'places are not saved; some messages may be sent again'))
  await save().catch((error: NodeJS.ErrnoException) => {
    // What the outbox holds must be able to leave, and only that makes room. A stream that is not saved costs sending again.
    if (error.code !== 'ENOSPC') throw error
    unsaved = SAVE_EVERY
    logger.warn('the disk is full: the places of the outbox are not saved yet; some messages may be sent again')
  })

  const way = (name: Destination): OutboxWay => {
    if (!streams.has(name)) throw new RangeError(`the outbox has no way to ${name}`)
    const stream = () => streams.get(name)!
    return {
      next: (after, limit) =>
        log.read(stream().base + after + 1, limit).map(({ seq, record }) => ({
          stream: stream().id,
          seq: seq - stream().base,
          kept: record,
        })),
      span: () => {
        const { first: oldest, last } = log.state()
        const place = (record: number) => record - stream().base
        return { stream: stream().id, first: Math.max(place(oldest), 1), last: place(last), acked: place(acked.get(name)!) }
      },
      settle: ({ through_seq, rejected = [] }) => {
        const { base } = stream()
        for (const { seq, reason } of rejected) {
          files.keepRejected(stream(), seq, reason, log.read(base + seq, 1)[0]?.record)
        }
        const before = acked.get(name)!
        acked.set(name, Math.max(before, base + through_seq))
        log.dropThrough(Math.min(...acked.values()))
        unsaved += acked.get(name)! - before
        if (unsaved >= SAVE_EVERY) saveLater()
      },
      beginStream: async () => {
        const latest = [...streams.values()].reduce((a, b) => (b.born > a.born ? b : a))
        const next =
          latest.born > stream().born ? latest : { id: randomUUID(), base: log.state().first - 1, born: latest.born + 1 }
        const held = streams.get(name)!
        streams.set(name, { ...next, acked: 0 })
        const position = acked.get(name)!
        acked.set(name, Math.max(log.state().first - 1, next.base))
        await save().catch((error: unknown) => {
          streams.set(name, held)
          acked.set(name, position)
          throw error
        })
      },
      dropped: () => dropped.get(name)!,
      thinned: () => thinned.get(name)!,
      note,
      onWritten: listener => void listeners.push(listener),
    }
  }

  return {
    way,
    /** The first record that some destination does not have. */
    needed: () => Math.min(...acked.values()) + 1,
    /**
     * Everything up to record `last` is gone from its place in the log.
     *
     * @param rest of which records nothing is left, and of which only a part; what is left stands at the end of the log. Undefined:
     * nothing is left of any
     */
    shed(last: number, rest: Pick<Rest, 'dropped' | 'thinned'> | undefined, reason: string) {
      for (const [name, position] of acked) {
        const missed = (seqs: ReadonlySet<number>) => [...seqs].filter(seq => seq > position).length
        const gone = rest ? missed(rest.dropped) : Math.max(0, last - position)
        const less = rest ? missed(rest.thinned) : 0
        acked.set(name, Math.max(position, last))
        dropped.set(name, dropped.get(name)! + gone)
        thinned.set(name, thinned.get(name)! + less)
        const sum = { to: name, dropped: gone, thinned: less }
        if (gone + less > 0) logger.warn(sum, `the outbox gave up some of its oldest messages: ${reason}`)
      }
    },
    written() {
      for (const listener of listeners) listener()
    },
    save: () => save().catch(error => logger.debug({ err: error }, 'some messages will be sent again')),
  }
}

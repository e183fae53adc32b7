/** The outbox: what leaves for the hub, kept on disk until the hub says that it is stored. */
import { randomUUID } from 'node:crypto'
import { statfsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/finding.ts'
import type { Protocol } from '#shared/core/model.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/reading.ts'
import { FINDINGS_MAX } from '#shared/core/telemetry/findings.ts'
import type { Ack } from '#shared/core/telemetry/status.ts'
import { POINTS_MAX } from '#shared/core/telemetry/telemetry.ts'
import { TELEMETRY_PROTOCOLS, type TelemetryProtocol } from '#shared/core/topic/topics.ts'
import type { FileLog } from '#shared/node/segmented-log.ts'
import { openOutboxFiles } from './outbox-files.ts'

/** One message as the log keeps it. `at`: when it was written, ms since 1970 UTC. */
export type Kept = { at: number; message_id: string } & (
  | { protocol: TelemetryProtocol; readings: Reading[] }
  | { findings: Finding[] }
)
/** One message with its place in the stream. */
export type Outgoing = { stream: string; seq: number; kept: Kept }

/** What leaves for the hub. Both ways in resolve when it is safe on disk. */
export type Outbox = Sink & {
  putFindings(findings: Finding[]): Promise<void>
  /** Messages behind place `after`, oldest first. @throws Error when the log is damaged */
  next(after: number, limit: number): Outgoing[]
  /** The stream and its places that can be sent; `last` is `first - 1` when there are none. The hub has up to `acked`. */
  span(): { stream: string; first: number; last: number; acked: number }
  /** Forgets what the hub has, and keeps aside what it refused. */
  settle(ack: Ack): void
  /** Begins a new stream with the oldest message that is left. */
  beginStream(): Promise<void>
  /** Messages that were dropped because there was no room, since start. */
  dropped(): number
  /** Room on the disk that holds the outbox. */
  freeBytes(): number
  /** Calls back after each message that has been written. */
  onWritten(listener: () => void): void
  close(): Promise<void>
}

export type OutboxOptions = {
  dir: string
  /** SERVICE_OUTBOX_MAX_MB × 2^20 */
  maxBytes: number
  protocolOf: (point_id: string) => Protocol
  clock: Clock
  log: Logger
}

/** JSON characters of one message's readings or findings: stays under the 256 KiB of the wire with its head. */
const CHARACTERS_MAX = 200 * 1024

/**
 * Opens the outbox in a folder. A damaged log is put aside whole and a new stream begun, because what is measured from
 * now on is worth more than what could not be read; the log says so.
 *
 * @throws Error when the folder cannot be read or written
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const files = await openOutboxFiles<Kept>(options)
  const { clock, protocolOf, maxBytes } = options
  const { log } = files
  let { stream } = files
  /** Last record that the hub has, or that was dropped. */
  let acked = Math.max(log.state().first - 1, stream.base + stream.acked)
  let dropped = 0
  const listeners: (() => void)[] = []

  const dropOldest = (reason: string): boolean => {
    const segments = log.segments()
    if (segments.length < 2) return false
    const { last } = segments[0]!
    const lost = Math.max(0, last - acked)
    log.dropThrough(last)
    acked = Math.max(acked, last)
    dropped += lost
    if (lost > 0) options.log.warn({ lost, dropped }, `the outbox dropped its oldest messages: ${reason}`)
    return true
  }

  const append = async (bodies: Body[]) => {
    if (bodies.length === 0) return
    const kept = bodies.map(body => ({ at: clock.now(), message_id: randomUUID(), ...body }))
    while (log.state().bytes > maxBytes && dropOldest('its quota is full'));
    await appendWithRoom(log, kept, dropOldest)
    for (const listener of listeners) listener()
  }

  return {
    write: async readings => append(telemetryOf(readings, protocolOf)),
    putFindings: async findings => append(chunks(findings, FINDINGS_MAX).map(part => ({ findings: part }))),
    next: (after, limit) =>
      log.read(stream.base + after + 1, limit).map(({ seq, record }) => ({
        stream: stream.id,
        seq: seq - stream.base,
        kept: record,
      })),
    span: () => {
      const { first, last } = log.state()
      const place = (record: number) => record - stream.base
      return { stream: stream.id, first: Math.max(place(first), 1), last: place(last), acked: place(acked) }
    },
    settle: ({ through_seq, rejected = [] }) => {
      for (const { seq, reason } of rejected) files.keepRejected(stream, seq, reason, log.read(stream.base + seq, 1)[0]?.record)
      acked = Math.max(acked, stream.base + through_seq)
      log.dropThrough(stream.base + through_seq)
    },
    beginStream: async () => {
      stream = await files.saveStream({ id: randomUUID(), base: log.state().first - 1, acked: 0 })
      acked = stream.base
    },
    dropped: () => dropped,
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(options.dir)
      return bavail * bsize
    },
    onWritten: listener => void listeners.push(listener),
    close: async () => {
      await log.close()
      await files
        .saveStream({ ...stream, acked: acked - stream.base })
        .catch(error => options.log.debug({ err: error }, 'some messages will be sent again'))
    },
  }
}

type Body = { protocol: TelemetryProtocol; readings: Reading[] } | { findings: Finding[] }

/** Appends; on a full disk, drops the oldest and tries again while there is an oldest to drop. */
export async function appendWithRoom(
  log: Pick<FileLog<Kept>, 'append'>,
  kept: Kept[],
  dropOldest: (reason: string) => boolean,
): Promise<void> {
  for (;;) {
    try {
      await log.append(kept)
      return
    } catch (error) {
      const full = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      if (!full || !dropOldest('the disk is full')) throw error
    }
  }
}

function telemetryOf(readings: Reading[], protocolOf: (point_id: string) => Protocol): Body[] {
  const byProtocol = Map.groupBy(readings, ({ id }) => protocolOf(id))
  return [...byProtocol].flatMap(([protocol, some]) => {
    if (!TELEMETRY_PROTOCOLS.includes(protocol as TelemetryProtocol)) throw new RangeError(`${protocol} is not polled`)
    return chunks(some, POINTS_MAX).map(part => ({ protocol: protocol as TelemetryProtocol, readings: part }))
  })
}

/** Cuts a list into parts that fit a message. */
function chunks<T>(list: T[], countMax: number): T[][] {
  const parts: T[][] = []
  let room = 0
  for (const element of list) {
    const size = JSON.stringify(element).length
    if (parts.length === 0 || parts.at(-1)!.length === countMax || size > room) {
      parts.push([])
      room = CHARACTERS_MAX
    }
    parts.at(-1)!.push(element)
    room -= size
  }
  return parts
}

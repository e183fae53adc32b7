/** The outbox: what leaves the process, kept on disk until each of its destinations says that it is stored. */
import { randomUUID } from 'node:crypto'
import { statfsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/finding.ts'
import type { Protocol } from '#shared/core/model.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/reading.ts'
import { FINDINGS_MAX } from '#shared/core/telemetry/findings.ts'
import { POINTS_MAX } from '#shared/core/telemetry/telemetry.ts'
import { TELEMETRY_PROTOCOLS, type TelemetryProtocol } from '#shared/core/topic/topics.ts'
import { makeFolder } from '#shared/node/files.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import type { FileLog } from '#shared/node/segmented-log.ts'
import { openOutboxFiles } from './outbox-files.ts'
import { openWays, type OutboxWay } from './outbox-way.ts'

/** One message as the log keeps it. `at`: when it was written, ms since 1970 UTC. */
export type Kept = { at: number; message_id: string } & (
  | { protocol: TelemetryProtocol; readings: Reading[] }
  | { findings: Finding[]; withdrawn?: string[] }
)

/**
 * Where messages go, each at its own pace over the same log: to the hub by MQTT, to the central on this box by HTTP,
 * and into the history of this process.
 */
export type Destination = 'hub' | 'central' | 'history'

/** What leaves the process. Both ways in resolve when it is safe on disk. */
export type Outbox = Sink & {
  /** @param withdrawn ids of findings that are none any more */
  putFindings(findings: Finding[], withdrawn?: string[]): Promise<void>
  /** @throws RangeError for a destination that the outbox was not opened with */
  way(to: Destination): OutboxWay
  /** Room on the disk that holds the outbox. */
  freeBytes(): number
  close(): Promise<void>
}

export type OutboxOptions = {
  dir: string
  /** SERVICE_OUTBOX_MAX_MB × 2^20 */
  maxBytes: number
  /** At least one; a message is kept until all of them have it. */
  to: readonly Destination[]
  protocolOf: (point_id: string) => Protocol
  clock: Clock
  log: Logger
}

/** JSON characters of one message's readings or findings: stays under the 256 KiB of the wire with its head. */
const CHARACTERS_MAX = 200 * 1024

/**
 * Opens the outbox in a folder, for this process alone. A damaged log is put aside whole and a new stream begun, because what is measured from
 * now on is worth more than what could not be read; the log and the ways say so.
 *
 * @throws Error when the folder cannot be read or written, or when another process has it
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  await makeFolder(options.dir, 0o700)
  const unlock = lockFolder('the outbox', options.dir)
  try {
    return await openLocked(options, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

async function openLocked(options: OutboxOptions, unlock: () => void): Promise<Outbox> {
  const files = await openOutboxFiles<Kept>(options)
  const { clock, protocolOf, maxBytes } = options
  const { log } = files
  const ways = await openWays(files, options.to, options.log)

  const dropOldest = (reason: string): boolean => {
    const segments = log.segments()
    if (segments.length < 2) return false
    const { last } = segments[0]!
    log.dropThrough(last)
    ways.lose(last, reason)
    return true
  }

  const append = async (bodies: Body[]) => {
    if (bodies.length === 0) return
    const kept = bodies.map(body => ({ at: clock.now(), message_id: randomUUID(), ...body }))
    while (log.state().bytes > maxBytes && dropOldest('its quota is full'));
    await appendWithRoom(log, kept, dropOldest)
    ways.written()
  }

  return {
    write: async readings => append(telemetryOf(readings, protocolOf)),
    putFindings: async (findings, withdrawn = []) =>
      append([
        ...chunks(withdrawn, FINDINGS_MAX).map(part => ({ findings: [], withdrawn: part })),
        ...chunks(findings, FINDINGS_MAX).map(part => ({ findings: part })),
      ]),
    way: ways.way,
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(options.dir)
      return bavail * bsize
    },
    close: async () => {
      await log.close()
      await ways.save()
      unlock()
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

/** The outbox: what leaves the process, kept on disk until each of its destinations says that it is stored. */
import { randomUUID } from 'node:crypto'
import { statfsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Protocol } from '#shared/core/model/model.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import { makeFolder } from '#shared/node/files.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import type { FileLog } from '../store/log/segmented-log.ts'
import { type Body, findingsOf, type FindingsNow, type Kept, telemetryOf } from './outbox-messages.ts'
import { openOutboxFiles } from './outbox-files.ts'
import { isFull, roomMaker } from './outbox-eviction.ts'
import { openWays, type OutboxWay } from './outbox-reader.ts'

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
  /** How findings stand now; where it is left out, findings that there is no room for are dropped. */
  findingsNow?: FindingsNow | undefined
  clock: Clock
  log: Logger
}

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
  const { clock, protocolOf, maxBytes, findingsNow } = options
  const { log } = files
  const ways = await openWays(files, options.to, options.log)
  const keptOf = <T extends Body & { at?: number }>(body: T): Kept => ({ at: clock.now(), ...body, message_id: randomUUID() })
  const makeRoom = roomMaker({ log, ways, keptOf, findingsNow, logger: options.log })

  const append = async (bodies: Body[]) => {
    if (bodies.length === 0) return
    const kept = bodies.map(keptOf)
    while (log.state().bytes > maxBytes && (await makeRoom('its quota is full', maxBytes)));
    await appendWithRoom(log, kept, makeRoom)
    ways.written()
  }

  return {
    write: async readings => append(telemetryOf(readings, protocolOf)),
    putFindings: async (findings, withdrawn = []) => append(findingsOf(findings, withdrawn)),
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

/** Appends; on a full disk, makes room and tries again while there is something to make it of. */
export async function appendWithRoom(
  log: Pick<FileLog<Kept>, 'append'>,
  kept: Kept[],
  makeRoom: (reason: string) => Promise<boolean>,
): Promise<void> {
  for (;;) {
    try {
      await log.append(kept)
      return
    } catch (error) {
      if (!isFull(error) || !(await makeRoom('the disk is full'))) throw error
    }
  }
}

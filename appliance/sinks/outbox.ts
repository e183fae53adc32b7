/** The outbox: messages that leave the process, stored on disk until every destination has acknowledged them. */
import { randomUUID } from 'node:crypto'
import { statfsSync } from 'node:fs'
import type { DiskSpace } from '#shared/core/disk-use.ts'
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Protocol } from '#shared/core/model/model.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import { makeFolder } from '#shared/node/files.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import {
  findingsBodies,
  type LookUpFindings,
  type MessageBody,
  type OutboxMessage,
  telemetryBodies,
} from '../core/outbox/outbox-messages.ts'
import type { FileLog } from '../store/log/segmented-log.ts'
import { type EvictOldest, isDiskFull, outboxEviction } from './outbox-eviction.ts'
import { openOutboxFiles } from './outbox-files.ts'
import { type Destination, openReaders, type OutboxReader } from './outbox-reader.ts'

/** `write` and `putFindings` resolve when the messages are durable. */
export type Outbox = Sink & {
  /** @param withdrawn ids that are no findings any more */
  putFindings(findings: Finding[], withdrawn?: string[]): Promise<void>
  /** @throws RangeError for a destination that the outbox was not opened with */
  reader(to: Destination): OutboxReader
  /** Free bytes on the disk of the outbox. */
  disk(): DiskSpace
  close(): Promise<void>
}

type OutboxOptions = {
  dir: string
  /** SERVICE_OUTBOX_MAX_MB × 2^20 */
  maxBytes: number
  /** At least one; a message is retained until all of them have it. */
  to: readonly Destination[]
  protocolOf: (point_id: string) => Protocol
  /** When the running version was made, ms since 1970 UTC; undefined where that says nothing about the clock. */
  notBefore?: (() => number | undefined) | undefined
  /** Gives the current state of findings. Without it, findings in a full outbox are dropped. */
  lookUpFindings?: LookUpFindings | undefined
  clock: Clock
  log: Logger
}

/**
 * Opens the outbox in a folder, for this process alone. A damaged log is set aside whole, reported, and replaced by an empty
 * one with a new stream, because new readings matter more than those that cannot be read.
 *
 * @throws Error when the folder cannot be read or written, or another process has it open
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
  const files = await openOutboxFiles<OutboxMessage>(options)
  const { clock, protocolOf, notBefore = () => undefined, maxBytes, lookUpFindings } = options
  const { log } = files
  const readers = await openReaders(files, options.to, options.log)
  const messageOf = <T extends MessageBody & { at?: number }>(body: T): OutboxMessage => ({
    at: clock.now(),
    ...body,
    message_id: randomUUID(),
  })
  const evictOldest = outboxEviction({ log, readers, messageOf, lookUpFindings, logger: options.log })

  const append = async (bodies: MessageBody[]) => {
    if (bodies.length === 0) return
    const messages = bodies.map(messageOf)
    while (log.state().bytes > maxBytes && (await evictOldest('its quota is full', maxBytes)));
    await appendEvicting(log, messages, evictOldest)
    readers.notifyWritten()
  }

  return {
    write: async readings => append(telemetryBodies(readings, protocolOf, notBefore())),
    putFindings: async (findings, withdrawn = []) => append(findingsBodies(findings, withdrawn)),
    reader: to => readers.reader(to),
    disk: () => {
      const { bavail, blocks, bsize } = statfsSync(options.dir)
      return { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
    },
    close: async () => {
      await log.close()
      await readers.save()
      unlock()
    },
  }
}

/** Appends messages. While the disk is full, evicts the oldest segment and tries again, until there is none to evict. */
export async function appendEvicting(
  log: Pick<FileLog<OutboxMessage>, 'append'>,
  messages: OutboxMessage[],
  evictOldest: EvictOldest,
): Promise<void> {
  for (;;) {
    try {
      await log.append(messages)
      return
    } catch (error) {
      if (!isDiskFull(error) || !(await evictOldest('the disk is full'))) throw error
    }
  }
}

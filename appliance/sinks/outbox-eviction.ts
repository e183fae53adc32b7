/** Makes room in a full outbox: the oldest segment is dropped, and its downsampled messages are appended again. */
import type { Logger } from 'pino'
import {
  findingsBodies,
  type LookUpFindings,
  type MessageBody,
  type OutboxMessage,
  thinOldest,
  type ThinnedMessages,
} from '../core/outbox/outbox-messages.ts'
import { errorText } from '#shared/core/error-text.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { FileLog, SegmentInfo } from '../store/log/segmented-log.ts'
import type { OutboxReaders } from './outbox-reader.ts'

type EvictionDeps = {
  log: FileLog<OutboxMessage>
  readers: OutboxReaders
  messageOf: (body: MessageBody & { at?: number }) => OutboxMessage
  lookUpFindings: LookUpFindings | undefined
  logger: Logger
}

/**
 * Share of the segment's bytes that may be appended again. Readings of every 10 min are two thirds of their size when they are
 * downsampled to 15 min, so they fit. The last quarter bounds the writing: each byte is written at most four times on average.
 */
const SHARE = 0.75

/**
 * Evicts the oldest segment.
 *
 * @param reason for the log
 * @param maxBytes of the log: nothing is evicted while it is not larger; 0 on a full disk
 * @returns whether there was a segment to evict
 * @throws Error of the disk, other than that it is full
 */
export type EvictOldest = (reason: string, maxBytes?: number) => Promise<boolean>

/**
 * A segment cannot be changed in place, because each line carries the checksum of the line before. So what is left of it is
 * appended first and the segment unlinked afterwards: a power cut between the two leaves some messages twice and loses none.
 * On a full disk the segment is unlinked first, because nothing can be appended before.
 */
export function outboxEviction({ log, readers, messageOf, lookUpFindings, logger }: EvictionDeps): EvictOldest {
  const oneAtATime = createSerialQueue()

  const thin = (segment: SegmentInfo): ThinnedMessages | undefined => {
    const from = Math.max(segment.first, readers.firstNeeded())
    try {
      return thinOldest(log.read(from, segment.last - from + 1), segment.bytes * SHARE, lookUpFindings !== undefined)
    } catch (error) {
      logger.error({ err: error }, `outbox messages unreadable: dropping them: ${errorText(error)}`)
      return undefined
    }
  }

  const evict = async (reason: string): Promise<boolean> => {
    const [oldest, ...others] = log.segments()
    if (!oldest || others.length === 0) return false
    const rest = thin(oldest)
    const isAppended = await append(rest)
    log.dropThrough(oldest.last)
    const isKept = isAppended || (await append(rest).catch(() => false))
    readers.evicted(oldest.last, isKept ? rest : undefined, reason)
    return true
  }

  const currentFindings: LookUpFindings = finding_ids => {
    try {
      if (lookUpFindings && finding_ids.length > 0) return lookUpFindings(finding_ids)
    } catch (error) {
      logger.error({ err: error }, `outbox findings cannot be looked up: dropping them: ${errorText(error)}`)
    }
    return { findings: [], withdrawn: [] }
  }

  /** @returns false on a full disk */
  const append = async (rest: ThinnedMessages | undefined): Promise<boolean> => {
    if (!rest) return true
    // Findings change while they wait. Their current state is read and appended without a pause in between, so an older
    // state never follows a newer one.
    const { findings, withdrawn } = currentFindings(rest.finding_ids)
    const bodies = [...rest.keep, ...findingsBodies(findings, withdrawn)]
    if (bodies.length === 0) return true
    try {
      await log.append(bodies.map(messageOf))
      return true
    } catch (error) {
      if (isDiskFull(error)) return false
      throw error
    }
  }

  return (reason, maxBytes = 0) => oneAtATime(async () => log.state().bytes <= maxBytes || evict(reason))
}

export const isDiskFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOSPC'

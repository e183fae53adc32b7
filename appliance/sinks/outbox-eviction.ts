/** Room in a full outbox: the oldest segment goes, and what is left of it when it is thinned is written anew at the end. */
import type { Logger } from 'pino'
import type { FileLog } from '../store/log/segmented-log.ts'
import { type Body, findingsOf, type FindingsNow, type Kept, type Rest, thinOldest } from './outbox-messages.ts'
import type { Ways } from './outbox-reader.ts'

type RoomParts = {
  log: FileLog<Kept>
  ways: Ways
  keptOf: (body: Body & { at?: number }) => Kept
  findingsNow: FindingsNow | undefined
  logger: Logger
}

/** What is written anew may have half of what goes: so room is made, and each message is written twice at the most in the mean. */
const SHARE = 0.5

/**
 * Segments cannot be written in place: each line vouches for the one before. What is left is appended first and the segment unlinked
 * afterwards, so a power cut leaves it twice and never not at all; only on a full disk it must be the other way round.
 *
 * @returns what makes room, one segment at a time: given the reason in words and, for a quota, the bytes above which the log is full. It
 * says whether there was anything to make room of, and throws what the disk refuses for another reason than being full.
 */
export function roomMaker({ log, ways, keptOf, findingsNow, logger }: RoomParts) {
  let last: Promise<unknown> = Promise.resolve()

  const restOf = (segment: { first: number; last: number; bytes: number }): Rest | undefined => {
    const from = Math.max(segment.first, ways.needed())
    try {
      return thinOldest(log.read(from, segment.last - from + 1), segment.bytes * SHARE, findingsNow !== undefined)
    } catch (error) {
      logger.error({ err: error }, `messages of the outbox cannot be read, and are dropped: ${(error as Error).message}`)
      return undefined
    }
  }

  const shed = async (reason: string): Promise<boolean> => {
    const [oldest, ...others] = log.segments()
    if (!oldest || others.length === 0) return false
    const rest = restOf(oldest)
    const isWritten = await write(rest)
    log.dropThrough(oldest.last)
    const isKept = isWritten || (await write(rest).catch(() => false))
    ways.shed(oldest.last, isKept ? rest : undefined, reason)
    return true
  }

  const now: FindingsNow = finding_ids => {
    try {
      if (findingsNow && finding_ids.length > 0) return findingsNow(finding_ids)
    } catch (error) {
      logger.error({ err: error }, `findings of the outbox are dropped: ${(error as Error).message}`)
    }
    return { findings: [], withdrawn: [] }
  }

  /** @returns false on a full disk */
  const write = async (rest: Rest | undefined): Promise<boolean> => {
    if (!rest) return true
    // Findings change while they wait: what they are now is written in the same breath as it is read, so nothing older follows newer.
    const { findings, withdrawn } = now(rest.finding_ids)
    const bodies = [...rest.keep, ...findingsOf(findings, withdrawn)]
    if (bodies.length === 0) return true
    try {
      await log.append(bodies.map(keptOf))
      return true
    } catch (error) {
      if (isFull(error)) return false
      throw error
    }
  }

  return (reason: string, maxBytes = 0): Promise<boolean> => {
    const turn = last.then(() => log.state().bytes <= maxBytes || shed(reason))
    last = turn.catch(() => undefined)
    return turn
  }
}

export const isFull = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOSPC'

/** Brings into history what the outbox holds, so that no reading is on one side only, whatever ends the process. */
import type { Logger } from 'pino'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'
import type { Outgoing, OutboxWay } from './outbox-reader.ts'

/** Messages in one transaction of history: many at a start, one or two while polling. */
const BATCH = 20

export type HistoryWay = {
  /** Both get every reading. The first writes to the outbox and lets history follow; the second while the outbox fails. */
  sinks: [outboxFirst: Sink, meanwhile: Sink]
  service: Service
  /** Why history does not follow the outbox now, and since when. */
  trouble(): StoringTrouble | undefined
}

/**
 * Outbox first, history from it: a place of the way moves when history has the readings, and after a power cut the few
 * before it are written again, which changes nothing. While the outbox fails, history goes on without it.
 *
 * @param outbox where readings are safe first
 * @param way the outbox's way to `history`
 */
export function historyWay(outbox: Sink, way: OutboxWay, history: Sink, log: Logger, clock: Pick<Clock, 'now'>): HistoryWay {
  let running: Promise<void> | undefined
  let isOutboxFailing = false
  /** What keeps history from following: it comes again at the next attempt, or the outbox cannot be read any more. */
  let trouble: 'history' | 'outbox' | undefined
  let since: StoringTrouble | undefined
  const following = failureLog(log, 'history does not follow the outbox', 'history follows the outbox again')

  const fail = (where: 'history' | 'outbox', error: unknown) => {
    following.failed(error)
    trouble = where
    since ??= { reason: (error as Error).message, since: clock.now() }
  }
  const nextBatch = (): Outgoing[] => {
    try {
      return way.next(way.span().acked, BATCH)
    } catch (error) {
      fail('outbox', error)
      return []
    }
  }
  const drain = async () => {
    trouble = trouble === 'outbox' ? trouble : undefined
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      const { stream, seq } = batch.at(-1)!
      try {
        await history.write(batch.flatMap(({ kept }) => ('readings' in kept ? kept.readings : [])))
      } catch (error) {
        return fail('history', error)
      }
      way.settle({ stream, through_seq: seq })
    }
    if (trouble) return
    since = undefined
    following.worked()
  }
  /** Resolves when history has everything that was in the outbox at the call, or cannot follow now: it never rejects. */
  const catchUp = async () => {
    const { last } = way.span()
    do {
      running ??= drain().finally(() => {
        running = undefined
      })
      await running
    } while (!trouble && way.span().acked < last)
  }
  // Findings, too, must be passed by: what one reader has not passed is kept for it.
  way.onWritten(() => void catchUp())
  const writeFirst = async (readings: Reading[]) => {
    try {
      await outbox.write(readings)
      isOutboxFailing = false
    } catch (error) {
      isOutboxFailing = true
      await history.write(readings)
      throw error
    }
    await catchUp()
    if (trouble === 'outbox') await history.write(readings)
  }
  return {
    trouble: () => since,
    sinks: [{ write: writeFirst }, { write: async readings => void (isOutboxFailing && (await history.write(readings))) }],
    service: {
      name: 'history from outbox',
      async start() {
        const { last, acked } = way.span()
        if (last > acked) log.info({ messages: last - acked }, 'history takes up what the outbox holds')
        await catchUp()
      },
      stop: catchUp,
    },
  }
}

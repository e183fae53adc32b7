/** Sends the messages of one outbox reader: at most a window of them in flight, again after a silence, until acknowledged. */
import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { clockOffsetMeter } from '../core/outbox/clock-offset.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import type { Ack } from '#shared/core/telemetry/status.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { acknowledge, newWindow, reconnect, windowRoom, stepBack } from '../core/outbox/send-window.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import { timeSynced } from '../store/time-sync.ts'
import type { Outgoing, OutboxReader } from '../sinks/outbox-reader.ts'

export type SenderParts = {
  reader: OutboxReader
  edge: { site_id: string; edge_id: string }
  /** The building that the edge measures and looks at. */
  building: () => string
  clock: Clock
  /** May reject: what was not stored is sent again anyway. */
  publish: (topic: Topic, body: object, outgoing: Outgoing) => Promise<void>
  log: Logger
}
export type Sender = ReturnType<typeof sender>

export function sender({ reader, edge, building, clock, publish, log }: SenderParts) {
  const offset = clockOffsetMeter()
  let window = newWindow(reader.span().acked)
  let isUp = false
  let silence: NodeJS.Timeout | undefined
  let parting = false
  let damage: string | undefined
  let rejected = 0
  let lastAckAt: number | null = null

  const arm = () => {
    clearTimeout(silence)
    if (!isUp || window.sent <= window.acked) return
    silence = setTimeout(() => {
      window = stepBack(window)
      pump()
    }, window.patienceMs)
  }

  const pump = () => {
    if (!isUp || parting || damage) return
    const free = windowRoom(window)
    const begun = window.sent > window.acked
    try {
      for (const outgoing of free > 0 ? reader.next(window.sent, free) : []) {
        const now = clock.now()
        const { topic, body } = encode(outgoing, edge, { sent_at: now, building_id: building() })
        offset.sent(outgoing.seq, now)
        publish(topic, body, outgoing).catch((error: Error) => log.debug({ seq: outgoing.seq }, `not sent: ${error.message}`))
        window = { ...window, sent: outgoing.seq }
      }
    } catch (error) {
      damage = `the outbox cannot be read: ${(error as Error).message}`
      log.error(damage)
    }
    if (!begun) arm()
  }

  const part = async (why: string) => {
    parting = true
    log.warn(`${why}; a new stream begins with the oldest message that is left`)
    try {
      await reader.beginStream()
      window = newWindow(reader.span().acked)
    } catch (error) {
      log.error({ err: error }, 'no new stream could be begun; it is tried again at the next answer')
    } finally {
      parting = false
    }
    pump()
  }

  /** Whether the message that the destination has at its mark is the one that lies there here. */
  const isOurs = ({ through_seq, through_id }: Ack): boolean => {
    const { first, last } = reader.span()
    if (through_id === undefined || through_seq < first || through_seq > last) return true
    return reader.next(through_seq - 1, 1)[0]?.message.message_id === through_id
  }

  reader.onWritten(pump)
  return {
    up() {
      isUp = true
      window = reconnect(window)
      pump()
    },
    down() {
      isUp = false
      clearTimeout(silence)
    },
    async acknowledged(ack: Ack): Promise<void> {
      const span = reader.span()
      if (ack.stream !== span.stream || parting) return
      lastAckAt = clock.now()
      if (ack.at !== undefined) offset.answered(ack.through_seq, ack.at, lastAckAt)
      const next = acknowledge(window, ack.through_seq, span)
      if (next === 'diverged') return part('this stream is not known as far as it goes')
      if (!isOurs(ack)) return part(`place ${ack.through_seq} holds another message there: this outbox is an older copy`)
      const unknown = (ack.rejected ?? []).filter(({ seq }) => seq > window.acked && seq >= span.first)
      rejected += unknown.length
      const progress = next !== window
      window = next
      reader.settle({ ...ack, rejected: unknown })
      pump()
      if (progress) arm()
    },
    state() {
      const { first, last } = reader.span()
      const acked = Math.max(window.acked, first - 1)
      const oldest_at = damage ? null : oldestAt(reader, acked)
      return {
        backlog: last - acked,
        oldest_at,
        dropped: reader.dropped(),
        thinned: reader.thinned(),
        rejected,
        lastAckAt,
        clockOffset: offset.offset(),
        damage,
        note: reader.note,
      }
    },
  }
}

const oldestAt = (reader: OutboxReader, acked: number): number | null => reader.next(acked, 1)[0]?.message.at ?? null

function encode(
  { stream, seq, message }: Outgoing,
  edge: SenderParts['edge'],
  head: { sent_at: number; building_id: string },
): { topic: Topic; body: object } {
  const envelope = { message_id: message.message_id, stream, seq, ...head, ...edge }
  if ('findings' in message) {
    const { findings, withdrawn } = message
    const body = writeFindings({ ...envelope, findings, ...(withdrawn && { withdrawn }) })
    return { topic: { ...edge, kind: 'findings' }, body }
  }
  const { protocol, readings } = message
  return {
    topic: { ...edge, kind: 'telemetry', protocol },
    body: writeTelemetry({ ...envelope, protocol, time_synced: timeSynced(), readings }),
  }
}

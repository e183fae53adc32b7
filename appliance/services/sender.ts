/** Keeps the outbox moving over one link: sends within the window, steps back after a silence, settles what is stored. */
import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import type { Ack } from '#shared/core/telemetry/status.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { acknowledge, openWindow, reconnect, room, stepBack } from '#shared/core/telemetry/window.ts'
import { topicOf } from '#shared/core/topic/topics.ts'
import type { Outbox, Outgoing } from '../sinks/outbox.ts'

export type SenderParts = {
  outbox: Outbox
  edge: { site_id: string; edge_id: string }
  clock: Clock
  /** May reject: what was not stored is sent again anyway. */
  publish: (topic: string, payload: Buffer) => Promise<void>
  log: Logger
}
export type Sender = ReturnType<typeof sender>

export function sender({ outbox, edge, clock, publish, log }: SenderParts) {
  let window = openWindow(outbox.span().acked)
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
    const free = room(window)
    const begun = window.sent > window.acked
    try {
      for (const outgoing of free > 0 ? outbox.next(window.sent, free) : []) {
        const { topic, body } = encode(outgoing, edge, clock.now())
        publish(topic, packBody(body)).catch((error: Error) => log.debug({ seq: outgoing.seq }, `not sent: ${error.message}`))
        window = { ...window, sent: outgoing.seq }
      }
    } catch (error) {
      damage = `the outbox cannot be read: ${(error as Error).message}`
      log.error(damage)
    }
    if (!begun) arm()
  }

  const part = async () => {
    parting = true
    log.warn('the hub does not know this stream as far as it goes; a new stream begins with the oldest message that is left')
    try {
      await outbox.beginStream()
      window = openWindow(0)
    } catch (error) {
      log.error({ err: error }, 'no new stream could be begun; it is tried again when the hub asks again')
    } finally {
      parting = false
    }
    pump()
  }

  outbox.onWritten(pump)
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
      const span = outbox.span()
      if (ack.stream !== span.stream || parting) return
      lastAckAt = clock.now()
      const next = acknowledge(window, ack.through_seq, span)
      if (next === 'parted') return part()
      const unknown = (ack.rejected ?? []).filter(({ seq }) => seq > window.acked && seq >= span.first)
      rejected += unknown.length
      const progress = next !== window
      window = next
      outbox.settle({ ...ack, rejected: unknown })
      pump()
      if (progress) arm()
    },
    state() {
      const { first, last } = outbox.span()
      const acked = Math.max(window.acked, first - 1)
      return { backlog: last - acked, oldest_at: damage ? null : oldestAt(outbox, acked), rejected, lastAckAt, damage }
    },
  }
}

const oldestAt = (outbox: Outbox, acked: number): number | null => outbox.next(acked, 1)[0]?.kept.at ?? null

function encode({ stream, seq, kept }: Outgoing, edge: { site_id: string; edge_id: string }, now: number) {
  const envelope = { message_id: kept.message_id, stream, seq, sent_at: now, ...edge }
  if ('findings' in kept) {
    return { topic: topicOf({ ...edge, kind: 'findings' }), body: writeFindings({ ...envelope, findings: kept.findings }) }
  }
  const { protocol, readings } = kept
  return {
    topic: topicOf({ ...edge, kind: 'telemetry', protocol }),
    body: writeTelemetry({ ...envelope, protocol, time_synced: null, readings }),
  }
}

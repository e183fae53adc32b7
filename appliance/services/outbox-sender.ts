import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import type { Clock } from '#shared/core/ports.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import type { Ack } from '#shared/core/telemetry/status.ts'
import { MINUTE } from '#shared/core/time.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import type { ClockOffsetMeter } from '../core/outbox/clock-offset.ts'
import { drainMeter } from '../core/outbox/drain-meter.ts'
import { applyAck, newWindow, reconnect, stepBack, windowRoom } from '../core/outbox/send-window.ts'
import type { OutgoingMessage, OutboxReader } from '../sinks/outbox-reader.ts'
import { timeSynced } from '#shared/node/machine.ts'

export type OutboxSenderOptions = {
  reader: OutboxReader
  edge: { site_id: string; edge_id: string }
  /** The building that the edge measures. */
  building: () => string
  clock: Clock
  /** May reject: a message that is not acknowledged is sent again. */
  publish: (topic: Topic, body: object, outgoing: OutgoingMessage) => Promise<void>
  /** Whether the destination has said that it stores nothing more: one message is tried now and then. */
  isHeldBack: () => boolean
  /** What is measured of the clocks with messages and their acknowledgements. */
  clocks: () => ClockOffsetMeter['messages']
  log: Logger
}

/** How often a message is tried while the destination stores nothing more. It says itself when it stores again. */
const HELD_BACK_MS = 5 * MINUTE

/**
 * Sends the messages of the outbox to one destination: within a window, again after a silence, and until the destination
 * has acknowledged that they are stored.
 */
export class OutboxSender {
  readonly #options: OutboxSenderOptions
  #window
  readonly #drain
  #isConnected = false
  #isBeginningStream = false
  #silence: NodeJS.Timeout | undefined
  /** Why the outbox cannot be read; nothing is sent then. */
  #damage: string | undefined
  #rejected = 0
  #lastAckAt: number | null = null

  constructor(options: OutboxSenderOptions) {
    this.#options = options
    this.#window = newWindow(options.reader.span().acked)
    this.#drain = drainMeter(this.#backlog(), options.clock.now())
    options.reader.onWritten(() => {
      this.#measureDrain()
      this.#sendWaiting()
    })
  }

  connected(): void {
    this.#isConnected = true
    this.#window = reconnect(this.#window)
    this.#restartDrain()
    this.#sendWaiting(true)
  }

  disconnected(): void {
    this.#isConnected = false
    this.#restartDrain()
    clearTimeout(this.#silence)
  }

  /** The destination has begun or ended to hold this edge back. */
  holdChanged(): void {
    if (this.#options.isHeldBack()) return this.#awaitAck()
    this.#window = reconnect(this.#window)
    this.#sendWaiting()
  }

  async acknowledged(ack: Ack): Promise<void> {
    const { reader, clock, clocks } = this.#options
    const span = reader.span()
    if (ack.stream !== span.stream || this.#isBeginningStream) return
    this.#lastAckAt = clock.now()
    if (ack.at !== undefined) clocks().answered(ack.through_seq, ack.at, this.#lastAckAt)
    const next = applyAck(this.#window, ack.through_seq, span)
    if (next === 'diverged') return this.#beginStream('the destination does not know this stream as far as it goes')
    if (!this.#hasSameMessage(ack)) {
      return this.#beginStream(`the destination has another message as number ${ack.through_seq}: this outbox is an older copy`)
    }
    const rejected = (ack.rejected ?? []).filter(({ seq }) => seq > this.#window.acked && seq >= span.first)
    this.#rejected += rejected.length
    const isProgress = next !== this.#window
    this.#window = next
    reader.settle({ ...ack, rejected })
    this.#measureDrain()
    this.#sendWaiting(isProgress)
    if (isProgress) this.#awaitAck()
  }

  state() {
    const { reader, clock } = this.#options
    const backlog = this.#backlog()
    const acked = reader.span().last - backlog
    return {
      backlog,
      oldest_at: this.#damage === undefined ? (reader.next(acked, 1)[0]?.message.at ?? null) : null,
      drain_per_min: this.#drain.perMinute(backlog, clock.now()),
      dropped: reader.dropped(),
      thinned: reader.thinned(),
      rejected: this.#rejected,
      lastAckAt: this.#lastAckAt,
      damage: this.#damage,
      note: reader.note,
    }
  }

  /** Messages that wait to be acknowledged. */
  #backlog(): number {
    const { first, last } = this.#options.reader.span()
    return last - Math.max(this.#window.acked, first - 1)
  }

  /** Messages that were dropped for want of room are no progress. */
  #measureDrain(): void {
    const { reader, clock } = this.#options
    if (reader.span().first - 1 > this.#window.acked) return this.#restartDrain()
    this.#drain.changed(this.#backlog(), clock.now())
  }

  #restartDrain(): void {
    this.#drain.restart(this.#backlog(), this.#options.clock.now())
  }

  /** @param isProbe sends also while the destination holds this edge back */
  #sendWaiting(isProbe = false): void {
    if (!this.#isConnected || this.#isBeginningStream || this.#damage !== undefined) return
    if (!isProbe && this.#options.isHeldBack()) return
    const { reader, log } = this.#options
    const free = windowRoom(this.#window)
    const isAwaitingAck = this.#window.sent > this.#window.acked
    try {
      for (const outgoing of free > 0 ? reader.next(this.#window.sent, free) : []) this.#send(outgoing)
    } catch (error) {
      this.#damage = `the outbox cannot be read: ${errorText(error)}`
      log.error(this.#damage)
    }
    if (!isAwaitingAck) this.#awaitAck()
  }

  #send(outgoing: OutgoingMessage): void {
    const { edge, building, clock, clocks, publish, log } = this.#options
    const { seq } = outgoing
    const sent_at = clock.now()
    const { topic, body } = encode(outgoing, edge, { sent_at, building_id: building() })
    clocks().sent(seq, sent_at)
    publish(topic, body, outgoing).catch((error: Error) => log.debug({ seq }, `message not sent: ${error.message}`))
    this.#window = { ...this.#window, sent: seq }
  }

  /** Sends again from the first message that is not acknowledged when the destination stays silent for too long. */
  #awaitAck(): void {
    clearTimeout(this.#silence)
    const isHeldBack = this.#options.isHeldBack()
    if (!this.#isConnected || (!isHeldBack && this.#window.sent <= this.#window.acked)) return
    this.#silence = setTimeout(
      () => {
        this.#window = stepBack(this.#window)
        this.#sendWaiting(true)
      },
      isHeldBack ? HELD_BACK_MS : this.#window.patienceMs,
    )
  }

  async #beginStream(reason: string): Promise<void> {
    const { reader, log } = this.#options
    this.#isBeginningStream = true
    log.warn(`${reason}: beginning a new stream with the oldest message that is left`)
    try {
      await reader.beginStream()
      this.#window = newWindow(reader.span().acked)
    } catch (error) {
      log.error({ err: error }, 'new stream not begun: trying again at the next acknowledgement')
    } finally {
      this.#isBeginningStream = false
    }
    this.#sendWaiting()
  }

  /** Whether the last message that the destination has is the one with this number in the outbox. */
  #hasSameMessage({ through_seq, through_id }: Ack): boolean {
    const { reader } = this.#options
    const { first, last } = reader.span()
    if (through_id === undefined || through_seq < first || through_seq > last) return true
    return reader.next(through_seq - 1, 1)[0]?.message.message_id === through_id
  }
}

function encode(
  { stream, seq, message }: OutgoingMessage,
  edge: OutboxSenderOptions['edge'],
  head: { sent_at: number; building_id: string },
): { topic: Topic; body: object } {
  const envelope = { message_id: message.message_id, stream, seq, ...head, ...edge }
  if ('findings' in message) {
    const { findings, withdrawn } = message
    const body = writeFindings({ ...envelope, findings, ...(withdrawn && { withdrawn }) })
    return { topic: { ...edge, kind: 'findings' }, body }
  }
  const { protocol, readings, not_before } = message
  const made = not_before !== undefined && { not_before }
  return {
    topic: { ...edge, kind: 'telemetry', protocol },
    body: writeTelemetry({ ...envelope, protocol, time_synced: timeSynced(), ...made, readings }),
  }
}

/** The way to the hub: one MQTTS session with the kit's certificate. Polling never waits for it. */
import { X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import { commonName } from '#shared/core/auth/identity.ts'
import type { Clock } from '#shared/core/ports.ts'
import { packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readNotices } from '#shared/core/telemetry/notice.ts'
import { readAck, writeLastWill } from '#shared/core/telemetry/status.ts'
import { topicOf } from '#shared/core/topic/topics.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { type Link, mqttLink } from '#shared/node/mqtt.ts'
import type { Outbox } from '../sinks/outbox.ts'
import { type EdgeSelf, statusBody } from './edge-self.ts'
import { conflictOf, type Forwarding, stateOf, warned } from './forward-state.ts'
import { type NoticeBoard, noticeBoard } from './notice-board.ts'
import { sender } from './sender.ts'

export type ForwardOptions = {
  outbox: Outbox
  kit: Kit
  self: EdgeSelf
  /** Answers what the hub asks over the broker; where it is left out nothing can be asked. */
  answer?: ((payload: Uint8Array) => object | undefined) | undefined
  clock: Clock
  log: Logger
}

/** How often status goes out while connected, ms. */
const STATUS_MS = 60_000

export function forwardService(options: ForwardOptions): Forwarding {
  const { outbox, kit, self, answer, clock, log } = options
  const { site_id, edge_id } = kit.edge
  const topic = { site_id, edge_id }
  const requests = topicOf({ ...topic, kind: 'requests' })
  const cert_not_after = Date.parse(new X509Certificate(kit.cert_pem).validTo)
  let reason: string | undefined
  let conflict: string | undefined
  let ticking: NodeJS.Timeout | undefined
  const settling = failureLog(log, 'an acknowledgement could not be carried out', 'acknowledgements are carried out again')
  const board = noticeBoard(clock, log)

  const link = mqttLink({
    ...kit,
    host: kit.edge.broker_host,
    port: kit.edge.broker_port,
    clientId: commonName({ kind: 'edge', ...topic }),
    will: { topic: topicOf({ ...topic, kind: 'status' }), payload: packBody(writeLastWill(self.boot_id)) },
    subscribe: [topicOf({ ...topic, kind: 'acks' }), ...(answer ? [requests] : [])],
    onUp: () => void greet(),
    onDown: (why, endedSoon) => {
      reason = reasonOf(why, endedSoon, conflict !== undefined)
      sending.down()
      clearInterval(ticking)
    },
    onMessage: (name, payload) => (name === requests ? respond(payload) : takeAck(payload)),
    log,
  })
  const takeAck = (payload: Buffer) => {
    const body = unpackBody(payload, SMALL_MAX)
    if (body.ok && 'notices' in body.value) {
      const notices = readNotices(body.value)
      return notices.ok ? board.hear(notices.value) : log.warn(`a notice of the hub cannot be read: ${notices.reason}`)
    }
    const ack = body.ok ? readAck(body.value) : body
    if (!ack.ok) return log.warn(`an acknowledgement cannot be read: ${ack.reason}`)
    conflict = warned(conflict, conflictOf(self, ack.value.boot_ids), log)
    sending.acknowledged(ack.value).then(settling.worked, settling.failed)
  }
  const respond = (payload: Buffer) => {
    const response = answer?.(payload)
    if (!response) return
    const sent = link.publish(topicOf({ ...topic, kind: 'responses' }), packBody(response))
    sent.catch((error: Error) => log.debug(`a response was not sent: ${error.message}`))
  }
  const sending = sender({
    reader: outbox.reader('hub'),
    edge: topic,
    building: () => self.model().building.building_id,
    clock,
    log,
    publish: (to, body) => link.publish(topicOf(to), packBody(body)),
  })
  const hello = greeter(options, link, board, online => statusBody(self, { online, outbox, sending, cert_not_after }))

  /** The hub must know the edge before it can place what the edge measured. */
  const greet = async () => {
    reason = undefined
    hello.forget()
    await hello.say()
    if (!link.isUp()) return
    sending.up()
    clearInterval(ticking)
    ticking = setInterval(() => void hello.say(), STATUS_MS)
  }

  return {
    name: 'forward',
    start: async () => link.start(),
    async stop() {
      clearInterval(ticking)
      sending.down()
      await hello.goodbye()
      await link.stop()
    },
    announce: () => {
      if (link.isUp()) void hello.say()
    },
    forwardState: () => stateOf(sending, { isUp: link.isUp(), reason, conflict, notices: board.current(), cert_not_after }),
  }
}

/** Sessions that are ended this often, each soon after it began, are not ended by chance. */
const ENDED_SOON = 3

/** A broker of MQTT 3.1.1 cannot say why it ends a session; that it does so again and again says it. */
function reasonOf(why: string, endedSoon: number, isShared: boolean): string {
  if (isShared && endedSoon > 0) return 'The other process took the session over; both now take turns, a minute at most'
  if (endedSoon < ENDED_SOON) return why
  return `${why}; the broker has ended ${endedSoon} sessions in a row, as it does when another process connects as this edge`
}

/** Publishes metadata when it has changed, and status. What the broker does not get is said again at the next chance. */
function greeter({ kit, self, log }: ForwardOptions, link: Link, board: NoticeBoard, status: (online: boolean) => object) {
  const { site_id, edge_id } = kit.edge
  const publish = (kind: 'metadata' | 'status', body: object) =>
    link.publish(topicOf({ site_id, edge_id, kind }), packBody(body), { retain: true })
  let said: number | undefined
  const tell = async (online: boolean) => {
    const metadata = writeMetadata(site_id, edge_id, self.model())
    try {
      if (online && (metadata.revision !== said || board.isRefused())) await publish('metadata', metadata)
      said = metadata.revision
      await publish('status', status(online))
    } catch (error) {
      log.debug(`status was not sent: ${(error as Error).message}`)
    }
  }
  return {
    say: () => tell(true),
    /** Without it the broker would publish the last will only when the connection is found dead. */
    goodbye: async () => {
      if (link.isUp()) await tell(false)
    },
    forget: () => void (said = undefined),
  }
}

/** The hub's MQTT session: passes what edges publish to ingest and publishes the acknowledgements. */
import { X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import type { IngestService } from '#shared/central/ingest-service.ts'
import { commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeNotices } from '#shared/core/telemetry/notice.ts'
import { type Ack, REJECTED_MAX, writeAck } from '#shared/core/telemetry/status.ts'
import { topicsOf } from '#shared/core/topic/rule.ts'
import { parseTopic, type Topic, topicBase, topicOf } from '#shared/core/topic/topics.ts'
import { type AckReply, processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { mqttLink } from '#shared/node/mqtt.ts'
import type { Pair } from '#shared/node/pki/pki.ts'
import type { Service } from '#shared/node/service.ts'
import type { MqttMonitor } from '../monitor/mqtt-monitor.ts'
import { MessageQueue } from './message-queue.ts'

type SubscriberOptions = Pair & {
  broker: { host: string; port: number }
  ca_pem: string
  /** Stores what the edges of the hub's own sites publish. */
  ingestService: IngestService
  /** Stores what the edges of tenants publish; without it their messages are discarded. */
  tenants?: TenantIngest | undefined
  /** Remembers the messages of the hub's own sites, and the state of the connection. */
  monitor: Pick<MqttMonitor, 'record' | 'setConnected'>
  log: Logger
}

/** The ingest services by tenant. @returns undefined for a tenant that this hub does not have */
type TenantIngest = { of(tenant_id: string): IngestService | undefined; all(): IngestService[] }

type MqttSubscriber = Service & {
  isConnected(): boolean
  /** Resolves when the broker has acknowledged it; rejects when the broker is not connected. */
  publish(topic: Topic, body: object): Promise<void>
  /** Sets the listener for messages of edges under `responses`; without one these messages are discarded. */
  onResponse(listener: ResponseListener): void
}

type ResponseListener = (topic: Topic, payload: Uint8Array) => void

/** An edge that sends no status for this long after the hub has reconnected counts as disconnected, ms. */
const STATUS_WAIT_MS = 60_000
/** Topics of tenants, also those that cannot be parsed, are not shown to the people of the hub's own sites. */
const TENANTS_PREFIX = 'tenants/'

/**
 * Subscribes with the certificate of `central:{site_id or *}` and ingests what its sites send. It reconnects and subscribes again
 * by itself; a message that arrives twice is counted and stored once.
 *
 * @throws Error when the certificate is not one of central
 */
export function createMqttSubscriber(options: SubscriberOptions): MqttSubscriber {
  const { broker, ingestService, tenants, monitor, log } = options
  const identity = centralIdentity(options.cert_pem)
  const services = () => [ingestService, ...(tenants?.all() ?? [])]
  const disconnectSilentEdges = () => {
    const written = services().map(({ ingest, tryWrite }) => tryWrite(() => ingest.registry.disconnectSilentEdges()))
    if (written.every(Boolean)) return
    statusTimer = setTimeout(disconnectSilentEdges, STATUS_WAIT_MS)
  }
  let statusTimer: NodeJS.Timeout | undefined
  let listener: ResponseListener = () => undefined
  const reply = ({ tenant_id, site_id, edge_id }: EdgeAddress, body: object) => {
    publish({ tenant_id, site_id, edge_id, kind: 'acks' }, body).catch((error: Error) =>
      log.debug(`acknowledgement not sent: ${error.message}`),
    )
  }
  const publish = (topic: Topic, body: object): Promise<void> => {
    const [name, payload] = [topicOf(topic), packBody(body)]
    if (topic.tenant_id === undefined) monitor.record('sent', name, payload)
    return link.publish(name, payload)
  }
  const acks = ackBatch(ack => reply(ack, writeAck(ack.ack)))
  const queue = new MessageQueue(({ topic, payload }) => {
    if (topic.kind === 'responses') return listener(topic, payload)
    const { tenant_id } = topic
    const service = tenant_id === undefined ? ingestService : tenants?.of(tenant_id)
    // Edges of a tenant that this hub does not have keep their messages, because nothing acknowledges them.
    const answer = service && processPublish(service.ingest, topicOf(topic), payload)
    if (answer?.ack) acks.add({ ...answer, tenant_id })
    else if (answer) reply({ ...answer, tenant_id }, writeNotices(answer.notices))
  })
  const link = mqttLink({
    ...options,
    ...broker,
    clientId: commonName(identity),
    subscribe: topicsOf(identity).subscribe,
    onUp: () => {
      monitor.setConnected(true)
      for (const { ingest } of services()) ingest.registry.expectStatuses()
      clearTimeout(statusTimer)
      statusTimer = setTimeout(disconnectSilentEdges, STATUS_WAIT_MS)
    },
    onDown: () => {
      monitor.setConnected(false)
      clearTimeout(statusTimer)
    },
    onMessage: (name, payload) => {
      if (!name.startsWith(TENANTS_PREFIX)) monitor.record('received', name, payload)
      const topic = parseTopic(name)
      if (topic) queue.add(topic, payload)
      else processPublish(ingestService.ingest, name, payload)
    },
    log,
  })
  return {
    name: 'ingest',
    start: async () => link.start(),
    async stop() {
      clearTimeout(statusTimer)
      queue.stop()
      acks.send()
      await link.stop()
    },
    isConnected: () => link.isUp(),
    onResponse: newListener => {
      listener = newListener
    },
    publish,
  }
}

function centralIdentity(cert_pem: string): Identity {
  const { subject } = new X509Certificate(cert_pem)
  const identity = parseIdentity(subject.replace(/^CN=/, ''))
  if (identity?.kind !== 'central') throw new Error(`the certificate of ${subject} is not one of central`)
  return identity
}

/** Collects the acknowledgements of one turn of the event loop: the last one of a stream covers those before it. */
function ackBatch(send: (reply: AckReply & EdgeAddress) => void) {
  let waiting = new Map<string, AckReply & EdgeAddress>()
  const sendAll = () => {
    const replies = waiting
    waiting = new Map()
    for (const reply of replies.values()) send(reply)
  }
  return {
    add(reply: AckReply & EdgeAddress) {
      const key = `${topicBase(reply)}/${reply.ack.stream}`
      const before = waiting.get(key)?.ack
      if (waiting.size === 0) setImmediate(sendAll)
      if ((before?.rejected?.length ?? 0) + (reply.ack.rejected?.length ?? 0) > REJECTED_MAX) sendAll()
      waiting.set(key, { ...reply, ack: merge(waiting.get(key)?.ack, reply.ack) })
    },
    send: sendAll,
  }
}

function merge(before: Ack | undefined, ack: Ack): Ack {
  const rejected = [...(before?.rejected ?? []), ...(ack.rejected ?? [])]
  return { ...ack, ...(rejected.length > 0 && { rejected }) }
}

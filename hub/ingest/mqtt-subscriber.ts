/** The hub's MQTT session: passes what edges publish to ingest and publishes the acknowledgements. */
import type { Logger } from 'pino'
import type { IngestService } from '#shared/central/ingest-service.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import type { EdgeAddress, EdgeKey } from '#shared/core/model/model.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeNotices } from '#shared/core/telemetry/notice.ts'
import { type Ack, REJECTED_MAX, writeAck, writeStatusAnswer } from '#shared/core/telemetry/status.ts'
import { topicsOf } from '#shared/core/topic/rule.ts'
import { parseTopic, type Topic, topicBase, topicOf } from '#shared/core/topic/topics.ts'
import { type AckReply, type IngestReply, processMessages, processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { mqttLink } from '#shared/node/mqtt.ts'
import type { Service } from '#shared/node/service.ts'
import type { Current } from '#shared/node/watched-files.ts'
import { centralIdentity, type TrustingPair } from '../broker/files.ts'
import type { MqttMonitor } from '../monitor/mqtt-monitor.ts'
import { MessageQueue } from './message-queue.ts'

/** Stores the messages of edges and reports recent messages and the connection to the monitor. */
export type SiteIngest = { ingestService: IngestService; monitor: Pick<MqttMonitor, 'record' | 'setConnected'> }

/** The hub's own sites, and those of tenants; without `tenants` messages of tenants are discarded. */
type SubscriberOptions = SiteIngest & {
  broker: { host: string; port: number }
  /** Newer ones are of the same name, and the session begins again with them at once. */
  files: Current<TrustingPair>
  tenants?: TenantIngest | undefined
  /** Resolves when everything that was stored before the call may be acknowledged; by default that is at once. */
  settled?: () => Promise<void>
  log: Logger
}

/** Ingest by tenant. @returns undefined for a tenant that this hub does not have */
type TenantIngest = { of(tenant_id: string): SiteIngest | undefined; all(): SiteIngest[] }

export type MqttSubscriber = Service & {
  isConnected(): boolean
  /** Resolves when the broker has acknowledged it; rejects when the broker is not connected. */
  publish(topic: Topic, body: object): Promise<void>
  /** Sets the listeners for the edges of a tenant or the hub's own. */
  onEdge(listeners: EdgeListeners, tenant_id?: string): void
}

type EdgeListeners = {
  /** Gets messages under `responses`. */
  onResponse: (topic: Topic, payload: Uint8Array) => void
  /** A session of this edge has begun, or its model has changed: it then sends its metadata, after it has subscribed. */
  onSession: (edge: EdgeKey) => void
}

/** An edge sends a status each minute. One that sends none for this long after the hub has reconnected counts as disconnected, ms. */
const STATUS_WAIT_MS = 90_000
/** A topic of a tenant that cannot be parsed is shown to nobody: it does not say whose it is. */
const TENANTS_PREFIX = 'tenants/'

/**
 * Subscribes with the certificate of `central:{site_id or *}` and ingests what its sites send. It reconnects and subscribes again
 * by itself; a message that arrives twice is counted and stored once.
 *
 * @throws Error when the certificate is not one of central
 */
export function createMqttSubscriber(options: SubscriberOptions): MqttSubscriber {
  const { broker, files, ingestService, tenants, monitor, settled = async () => undefined, log } = options
  const identity = centralIdentity(files.current().cert_pem)
  if (tenants && !('tenants' in identity)) {
    throw new Error(
      `SERVICE_MULTI_TENANT needs the certificate that \`provisioning central --tenants\` makes, not ${commonName(identity)}`,
    )
  }
  const own: SiteIngest = { ingestService, monitor }
  const all = () => [own, ...(tenants?.all() ?? [])]
  const of = (tenant_id: string | undefined) => (tenant_id === undefined ? own : tenants?.of(tenant_id))
  const disconnectSilentEdges = () => {
    const written = all().map(({ ingestService: { ingest, tryWrite } }) =>
      tryWrite(() => ingest.registry.disconnectSilentEdges()),
    )
    if (written.every(Boolean)) return
    statusTimer = setTimeout(disconnectSilentEdges, STATUS_WAIT_MS)
  }
  let statusTimer: NodeJS.Timeout | undefined
  const listeners = new Map<string | undefined, EdgeListeners>()
  const reply = ({ tenant_id, site_id, edge_id }: EdgeAddress, body: object) => {
    publish({ tenant_id, site_id, edge_id, kind: 'acks' }, body).catch((error: Error) =>
      log.debug(`acknowledgement not sent: ${error.message}`),
    )
  }
  const publish = (topic: Topic, body: object): Promise<void> => {
    const [name, payload] = [topicOf(topic), packBody(body)]
    of(topic.tenant_id)?.monitor.record('sent', name, payload)
    return link.publish(name, payload)
  }
  const acks = ackBatch(settled, ack => reply(ack, writeAck(ack.ack)))
  const answer = (answered: IngestReply, tenant_id: string | undefined) => {
    if (answered.ack) acks.add({ ...answered, tenant_id })
    else reply({ ...answered, tenant_id }, writeAnswer(answered))
  }
  // Edges of a tenant that this hub does not have retain their messages, because nothing acknowledges them.
  const queue = new MessageQueue({
    one({ topic, payload, isRetained }) {
      const { tenant_id } = topic
      if (topic.kind === 'responses') return listeners.get(tenant_id)?.onResponse(topic, payload)
      const service = of(tenant_id)?.ingestService
      const answered = service && processPublish(service.ingest, topicOf(topic), payload, isRetained)
      if (answered) answer(answered, tenant_id)
    },
    together(messages) {
      for (const [tenant_id, some] of Map.groupBy(messages, ({ topic }) => topic.tenant_id)) {
        const service = of(tenant_id)?.ingestService
        for (const answered of service ? processMessages(service.ingest, some) : []) answer(answered, tenant_id)
      }
    },
  })
  const link = mqttLink({
    endpoint: () => ({ ...broker, ...files.current() }),
    clientId: commonName(identity),
    subscribe: topicsOf(identity).subscribe,
    onUp: () => {
      for (const one of all()) {
        one.monitor.setConnected(true)
        one.ingestService.ingest.registry.expectStatuses()
      }
      clearTimeout(statusTimer)
      statusTimer = setTimeout(disconnectSilentEdges, STATUS_WAIT_MS)
    },
    onDown: () => {
      for (const one of all()) one.monitor.setConnected(false)
      clearTimeout(statusTimer)
    },
    onMessage: (name, payload, isRetained) => {
      const topic = parseTopic(name)
      if (topic) of(topic.tenant_id)?.monitor.record('received', name, payload)
      else if (!name.startsWith(TENANTS_PREFIX)) monitor.record('received', name, payload)
      if (topic?.kind === 'metadata' && !isRetained) listeners.get(topic.tenant_id)?.onSession(topic)
      if (topic) queue.add(topic, payload, isRetained)
      else processPublish(ingestService.ingest, name, payload)
    },
    log,
  })
  files.onChange(() => void link.reconnect())
  return {
    name: 'ingest',
    start: async () => link.start(),
    async stop() {
      clearTimeout(statusTimer)
      queue.stop()
      await acks.send()
      await link.stop()
    },
    isConnected: () => link.isUp(),
    onEdge: (some, tenant_id) => void listeners.set(tenant_id, some),
    publish,
  }
}

/** Collects the acknowledgements of one turn of the event loop: the last one of a stream covers those before it. */
function ackBatch(settled: () => Promise<void>, send: (reply: AckReply & EdgeAddress) => void) {
  let waiting = new Map<string, AckReply & EdgeAddress>()
  const sendAll = async () => {
    const replies = waiting
    waiting = new Map()
    // What cannot be settled is not acknowledged, so the edges send it again.
    const mayGo = await settled().then(
      () => true,
      () => false,
    )
    if (mayGo) for (const reply of replies.values()) send(reply)
  }
  return {
    add(reply: AckReply & EdgeAddress) {
      const key = `${topicBase(reply)}/${reply.ack.stream}`
      const before = waiting.get(key)?.ack
      if (waiting.size === 0) setImmediate(() => void sendAll())
      if ((before?.rejected?.length ?? 0) + (reply.ack.rejected?.length ?? 0) > REJECTED_MAX) void sendAll()
      waiting.set(key, { ...reply, ack: merge(waiting.get(key)?.ack, reply.ack) })
    },
    send: sendAll,
  }
}

const writeAnswer = ({ notices, status }: Exclude<IngestReply, AckReply>): object => ({
  ...(notices && writeNotices(notices)),
  ...(status && writeStatusAnswer(status)),
})

function merge(before: Ack | undefined, ack: Ack): Ack {
  const rejected = [...(before?.rejected ?? []), ...(ack.rejected ?? [])]
  return { ...ack, ...(rejected.length > 0 && { rejected }) }
}

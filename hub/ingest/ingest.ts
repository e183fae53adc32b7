/** The hub's own session with the broker: hands what edges publish to the flow and sends back what is stored. */
import { X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import type { IngestDesk } from '#shared/central/ingest-service.ts'
import { commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeNotices } from '#shared/core/telemetry/notice.ts'
import { type Ack, REJECTED_MAX, writeAck } from '#shared/core/telemetry/status.ts'
import { topicsOf } from '#shared/core/topic/rule.ts'
import { parseTopic, type Topic, topicOf } from '#shared/core/topic/topics.ts'
import type { AckReply } from '#shared/flow/ingest/ingest.ts'
import { mqttLink } from '#shared/node/mqtt.ts'
import type { Pair } from '#shared/node/pki/pki.ts'
import type { Service } from '#shared/node/service.ts'
import { turns } from './turns.ts'

type IngestOptions = Pair & {
  broker: { host: string; port: number }
  ca_pem: string
  desk: IngestDesk
  log: Logger
}

type IngestService = Service & {
  isConnected(): boolean
  /** Resolves when the broker has it; rejects when it is not reached. */
  publish(topic: Topic, body: object): Promise<void>
  /** Sets the listener of what edges publish under `responses`; without one these messages are discarded. */
  onResponse(listener: ResponseListener): void
}

type ResponseListener = (topic: Topic, payload: Uint8Array) => void

/** How long an edge may take to come back after the hub has connected anew, before it counts as gone, ms. */
const DOUBT_MS = 60_000
/**
 * Subscribes with the certificate of `central:{site_id or *}` and takes in what its sites send. It reconnects and
 * subscribes again by itself; what came twice is counted and stored once.
 *
 * @throws Error when the certificate is not a central's
 */
export function ingestService(options: IngestOptions): IngestService {
  const { broker, desk, log } = options
  const { flow, keep } = desk
  const identity = centralOf(options.cert_pem)
  const endDoubt = () => {
    if (!keep(flow.endDoubt)) doubting = setTimeout(endDoubt, DOUBT_MS)
  }
  let doubting: NodeJS.Timeout | undefined
  let listener: ResponseListener = () => undefined
  const say = ({ site_id, edge_id }: EdgeKey, body: object) => {
    link
      .publish(topicOf({ site_id, edge_id, kind: 'acks' }), packBody(body))
      .catch((error: Error) => log.debug(`an acknowledgement was not sent: ${error.message}`))
  }
  const replies = replyBox(reply => say(reply, writeAck(reply.ack)))
  const line = turns(({ topic, payload }) => {
    if (topic.kind === 'responses') return listener(topic, payload)
    const reply = flow.take(topicOf(topic), payload)
    if (reply?.ack) replies.add(reply)
    else if (reply) say(reply, writeNotices(reply.notices))
  })
  const link = mqttLink({
    ...options,
    ...broker,
    clientId: commonName(identity),
    subscribe: topicsOf(identity).subscribe,
    onUp: () => {
      flow.doubtSessions()
      clearTimeout(doubting)
      doubting = setTimeout(endDoubt, DOUBT_MS)
    },
    onDown: () => clearTimeout(doubting),
    onMessage: (name, payload) => {
      const topic = parseTopic(name)
      if (topic) line.offer(topic, payload)
      else flow.take(name, payload)
    },
    log,
  })
  return {
    name: 'ingest',
    start: async () => link.start(),
    async stop() {
      clearTimeout(doubting)
      line.stop()
      replies.send()
      await link.stop()
    },
    isConnected: link.isUp,
    onResponse: given => {
      listener = given
    },
    publish: (topic, body) => link.publish(topicOf(topic), packBody(body)),
  }
}

function centralOf(cert_pem: string): Identity {
  const { subject } = new X509Certificate(cert_pem)
  const identity = parseIdentity(subject.replace(/^CN=/, ''))
  if (identity?.kind !== 'central') throw new Error(`the certificate of ${subject} is not a central's`)
  return identity
}

/** Gathers acknowledgements of one turn of the event loop: the last one of a stream says all. */
function replyBox(send: (reply: AckReply) => void) {
  let waiting = new Map<string, AckReply>()
  const sendAll = () => {
    const replies = waiting
    waiting = new Map()
    for (const reply of replies.values()) send(reply)
  }
  return {
    add(reply: AckReply) {
      const key = `${reply.site_id}/${reply.edge_id}/${reply.ack.stream}`
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

/** The hooks of aedes: permissions of a session, and limits of all sessions together. */
import type { Readable } from 'node:stream'
import type { Aedes, AedesOptions, AuthenticateError, Client, PublishPacket } from 'aedes'
import { type Budget, createBudget } from '#shared/core/budget.ts'
import { mayPublish, maySubscribe, type TopicRule, topicsOf } from '#shared/core/topic/rule.ts'
import { parseTopic, RETAINED_KINDS } from '#shared/core/topic/topics.ts'
import { authenticate, type AuthenticatedClient, sessionEndReason } from './client-auth.ts'
import { GuardedStream } from './guarded-stream.ts'
import { BODY_MAX, RETAINED_MAX, SUBSCRIPTIONS_MAX, UNDER_WAY_MAX, UNDER_WAY_PER_NAME } from './limits.ts'

/** MQTT return codes of CONNACK. */
const REFUSED = { identifier: 2, notAuthorised: 5 } as const

type PolicyParts = {
  sessions: Map<Client, AuthenticatedClient>
  revoked: () => ReadonlySet<string>
  warn: (text: string) => void
}

/** The hooks, and `apply`, which has a broker with them count what is under way and look for retained messages where some can be. */
export function brokerPolicy({ sessions, revoked, warn }: PolicyParts): { hooks: AedesOptions; apply(broker: Aedes): void } {
  /** Outlives the session, because a last will is published after it. */
  const rules = new WeakMap<Client, TopicRule>()
  const ruleOf = (client: Client | null) => (client ? rules.get(client) : undefined)
  const underWay = createBudget(UNDER_WAY_PER_NAME, UNDER_WAY_MAX)
  const retained = retainedBytes()
  const filters = new WeakMap<Client, Set<string>>()

  const hooks: AedesOptions = {
    preConnect: (client, packet, done) => {
      // What matters waits in an outbox: a session that outlives its connection would only hold what nobody fetches.
      packet.clean = true
      done(null, client.conn instanceof GuardedStream)
    },
    authenticate: (client, _username, _password, done) => {
      const refuse = (reason: string, returnCode: number) => {
        warn(`refused: ${reason}`)
        done(Object.assign(new Error(reason), { returnCode }) as AuthenticateError, false)
      }
      const admission = authenticate((client.conn as unknown as GuardedStream).socket.getPeerCertificate(), client.id)
      if (!admission.ok) return refuse(admission.reason, REFUSED.identifier)
      const { peer } = admission
      const reason = sessionEndReason(peer, revoked(), Date.now())
      if (reason) return refuse(`${peer.cn}: ${reason}`, REFUSED.notAuthorised)
      rules.set(client, topicsOf(peer.identity))
      sessions.set(client, peer)
      client.conn.once('close', () => sessions.delete(client))
      done(null, true)
    },
    authorizePublish: (client, packet, done) => {
      const rule = ruleOf(client)
      const refusal = rule ? unfit(rule, packet) : `may not publish to ${packet.topic}`
      if (refusal !== undefined) return done(new Error(refusal))
      if (!underWay.hasRoom(client!.id, packet.payload.length)) return done(new Error('sends more than is handed on'))
      if (packet.retain) packet.retain = retained.keep(packet.topic, packet.payload.length)
      done(null)
    },
    authorizeSubscribe: (client, subscription, done) => {
      const rule = ruleOf(client)
      const asked = filters.get(client) ?? new Set()
      const isRoom = asked.has(subscription.topic) || asked.size < SUBSCRIPTIONS_MAX
      if (rule && maySubscribe(rule, subscription.topic) && isRoom) {
        filters.set(client, asked.add(subscription.topic))
        return done(null, subscription)
      }
      warn(`${client.id} may not subscribe ${subscription.topic}`)
      done(null, null)
    },
  }
  const apply = (broker: Aedes) => {
    count(broker, underWay)
    lookWhereRetained(broker)
  }
  return { hooks, apply }
}

/** @returns in words why a message may not be published */
function unfit(rule: TopicRule, { topic, payload, retain }: PublishPacket): string | undefined {
  const read = mayPublish(rule, topic) ? parseTopic(topic) : undefined
  if (!read) return `may not publish to ${topic}`
  if (payload.length > BODY_MAX[read.kind]) return `sent ${payload.length} bytes to ${topic}`
  return retain && !RETAINED_KINDS.includes(read.kind) ? `may not retain what it publishes to ${topic}` : undefined
}

/** Counts bodies from when they are published until every subscriber has them. */
function count(broker: Aedes, underWay: Budget): void {
  const { mq } = broker as unknown as { mq: { emit(packet: PublishPacket & { clientId?: string }, done?: () => void): void } }
  const emit = mq.emit.bind(mq)
  mq.emit = (packet, done) => {
    const { clientId = '', payload } = packet
    underWay.add(clientId, payload.length)
    emit(packet, () => {
      underWay.give(clientId, payload.length)
      done?.()
    })
  }
}

/**
 * Nothing is looked for where a filter is a topic that is never retained. Each edge subscribes to such topics, and aedes would compare
 * them with every retained message: with N edges that come back at once, N × N comparisons.
 */
function lookWhereRetained(broker: Aedes): void {
  const { persistence } = broker as unknown as { persistence: { createRetainedStreamCombi(filters: string[]): Readable } }
  const look = persistence.createRetainedStreamCombi.bind(persistence)
  const mayBeRetained = (filter: string) => {
    const topic = parseTopic(filter)
    return !topic || RETAINED_KINDS.includes(topic.kind)
  }
  persistence.createRetainedStreamCombi = filters => look(filters.filter(mayBeRetained))
}

/** An identity has two retained topics, so it is the sum over all identities that needs a bound. */
function retainedBytes(): { keep(topic: string, bytes: number): boolean } {
  const held = new Map<string, number>()
  let total = 0
  return {
    keep(topic, bytes) {
      const next = total - (held.get(topic) ?? 0) + bytes
      if (next > RETAINED_MAX) return false
      total = next
      if (bytes === 0) held.delete(topic)
      else held.set(topic, bytes)
      return true
    },
  }
}

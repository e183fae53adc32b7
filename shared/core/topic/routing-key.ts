/**
 * What RabbitMQ asks about a client, answered by the rule of topics. RabbitMQ turns `/` and `.` of a topic into the same
 * separator, so an id with a dot cannot be told from two levels, and its topics are denied.
 */
import { parseIdentity } from '../auth/identity.ts'
import { mayPublish, maySubscribe, topicsOf } from './rule.ts'

/** A question of RabbitMQ's HTTP authorisation, with the fields that it sends to the path of that name. */
export type PermissionQuestion = Readonly<Record<string, string | undefined>>

/** The exchange of the MQTT plugin, and the prefix of the queues in which it collects what a client has subscribed. */
const EXCHANGE = 'amq.topic'
const QUEUE = 'mqtt-subscription-'

/** Whether a certificate of this name may open a session. */
export const mayLogIn = ({ username = '' }: PermissionQuestion): boolean => parseIdentity(username) !== undefined

/** Whether the session may begin: its client id must be its name, or it would take over the session of another client. */
export const mayEnter = (question: PermissionQuestion): boolean =>
  mayLogIn(question) && question['client_id'] === question['username']

/** Whether the client may use an exchange, or a queue of its own. Topics are asked for apart. */
export function mayUse(question: PermissionQuestion): boolean {
  const { username = '', resource, name = '', permission } = question
  if (!mayLogIn(question)) return false
  if (resource === 'exchange') return name === EXCHANGE && permission !== 'configure'
  return resource === 'queue' && [0, 1].some(qos => name === `${QUEUE}${username}qos${qos}`)
}

/** Whether the client may publish with a routing key (`write`), or subscribe one with wildcards (`read`). */
export function mayRoute({ username = '', name, permission, routing_key = '' }: PermissionQuestion): boolean {
  const identity = parseIdentity(username)
  if (!identity || name !== EXCHANGE) return false
  const topic = routing_key.replaceAll('.', '/')
  if (permission === 'write') return !topic.includes('*') && mayPublish(topicsOf(identity), topic)
  return permission === 'read' && maySubscribe(topicsOf(identity), topic.replaceAll('*', '+'))
}

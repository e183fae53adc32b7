/** Which topics a certificate opens. The embedded broker and RabbitMQ ask this; mosquitto gets it printed as an ACL. */
import { commonName, type Identity } from '../auth/identity.ts'
import { TELEMETRY_PROTOCOLS, topicBase } from './topics.ts'

/** MQTT topic filters. */
export type TopicRule = { publish: string[]; subscribe: string[] }

/** The filters that an identity may publish to and subscribe. */
export function topicsOf(identity: Identity): TopicRule {
  const others = ['findings', 'metadata', 'status', 'responses']
  const fromHub = ['acks', 'requests']
  if (identity.kind === 'edge') {
    const base = topicBase(identity)
    const telemetry = TELEMETRY_PROTOCOLS.map(protocol => `telemetry/${protocol}`)
    return { publish: under(base, [...telemetry, ...others]), subscribe: under(base, fromHub) }
  }
  const sites = topicBase({ site_id: identity.site_id === '*' ? '+' : identity.site_id, edge_id: '+' })
  const bases = identity.tenants ? [sites, topicBase({ tenant_id: '+', site_id: '+', edge_id: '+' })] : [sites]
  return {
    publish: bases.flatMap(base => under(base, fromHub)),
    subscribe: bases.flatMap(base => under(base, ['telemetry/+', ...others])),
  }
}

const under = (base: string, ends: string[]): string[] => ends.map(end => `${base}/${end}`)

/** Whether a message may go to `topic`, which holds no wildcard. */
export function mayPublish(rule: TopicRule, topic: string): boolean {
  return !/[+#]/.test(topic) && rule.publish.some(filter => covers(filter, topic))
}

/** Whether everything that `filter` stands for is allowed. */
export function maySubscribe(rule: TopicRule, filter: string): boolean {
  return rule.subscribe.some(allowed => covers(allowed, filter))
}

/** Whether every topic of `filter` is one of `allowed`, which holds no `#`. */
function covers(allowed: string, filter: string): boolean {
  const [wide, narrow] = [allowed.split('/'), filter.split('/')]
  return wide.length === narrow.length && wide.every((level, i) => level === narrow[i] || (level === '+' && isName(narrow[i]!)))
}

/** `+` covers itself and every name, but not `#`, and not the empty level. */
const isName = (level: string): boolean => level !== '' && !level.includes('#')

/**
 * The rule as a block of a mosquitto ACL file, for a listener with `use_identity_as_username` and
 * `use_username_as_clientid`.
 */
export function toMosquittoAcl(identity: Identity): string {
  const { publish, subscribe } = topicsOf(identity)
  const lines = [...publish.map(filter => `topic write ${filter}`), ...subscribe.map(filter => `topic read ${filter}`)]
  return `user ${commonName(identity)}\n${lines.join('\n')}\n`
}

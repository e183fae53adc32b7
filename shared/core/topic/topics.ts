/** The topics of the wire, to names and back. TOPICS.md beside this file lists them. */
import { isId, type Protocol } from '#shared/core/model/model.ts'

export const TOPIC_KINDS = ['telemetry', 'findings', 'metadata', 'status', 'acks', 'requests', 'responses'] as const
export type TopicKind = (typeof TOPIC_KINDS)[number]
export const TELEMETRY_PROTOCOLS = ['bacnet', 'modbus', 'haystack'] as const satisfies readonly Protocol[]
export type TelemetryProtocol = (typeof TELEMETRY_PROTOCOLS)[number]

export type Topic = { site_id: string; edge_id: string; kind: TopicKind; protocol?: TelemetryProtocol }

/** @returns `sites/{site_id}/edges/{edge_id}`, what all topics of an edge begin with */
export const topicBase = (site_id: string, edge_id: string): string => `sites/${site_id}/edges/${edge_id}`

/** The topic of a kind; telemetry takes its protocol. */
export function topicOf({ site_id, edge_id, kind, protocol }: Topic): string {
  const topic = `${topicBase(site_id, edge_id)}/${kind}`
  return kind === 'telemetry' ? `${topic}/${protocol}` : topic
}

/** Kinds that a broker keeps the newest message of, for whoever subscribes later. */
export const RETAINED_KINDS: readonly TopicKind[] = ['metadata', 'status']

/** @returns undefined when it is not one of our topics */
export function parseTopic(topic: string): Topic | undefined {
  const [sites, site_id = '', edges, edge_id = '', kind, protocol, ...more] = topic.split('/')
  if (sites !== 'sites' || edges !== 'edges' || more.length > 0 || !isId(site_id) || !isId(edge_id)) return undefined
  if (!TOPIC_KINDS.includes(kind as TopicKind)) return undefined
  const at = { site_id, edge_id, kind: kind as TopicKind }
  if (kind !== 'telemetry') return protocol === undefined ? at : undefined
  return TELEMETRY_PROTOCOLS.includes(protocol as TelemetryProtocol)
    ? { ...at, protocol: protocol as TelemetryProtocol }
    : undefined
}

/** The topics of the wire, to names and back. TOPICS.md beside this file lists them. */
import { type EdgeAddress, isId, type Protocol } from '#shared/core/model/model.ts'
import { isTenantId } from '#shared/core/tenant.ts'

export const TOPIC_KINDS = ['telemetry', 'findings', 'metadata', 'status', 'acks', 'requests', 'responses'] as const
export type TopicKind = (typeof TOPIC_KINDS)[number]
export const TELEMETRY_PROTOCOLS = ['bacnet', 'modbus', 'haystack'] as const satisfies readonly Protocol[]
export type TelemetryProtocol = (typeof TELEMETRY_PROTOCOLS)[number]

export type Topic = EdgeAddress & { kind: TopicKind; protocol?: TelemetryProtocol }

/**
 * The beginning of all topics of an edge. The site of a tenant's edge is its building.
 *
 * @returns `sites/{site_id}/edges/{edge_id}`, or `tenants/{tenant_id}/buildings/{site_id}/edges/{edge_id}`
 */
export const topicBase = ({ tenant_id, site_id, edge_id }: EdgeAddress): string =>
  tenant_id === undefined ? `sites/${site_id}/edges/${edge_id}` : `tenants/${tenant_id}/buildings/${site_id}/edges/${edge_id}`

/** The topic of a kind; telemetry takes its protocol. */
export function topicOf({ kind, protocol, ...edge }: Topic): string {
  const topic = `${topicBase(edge)}/${kind}`
  return kind === 'telemetry' ? `${topic}/${protocol}` : topic
}

/** Kinds whose newest message a broker retains for later subscribers. */
export const RETAINED_KINDS: readonly TopicKind[] = ['metadata', 'status']

/** @returns undefined when it is not one of our topics */
export function parseTopic(topic: string): Topic | undefined {
  const levels = topic.split('/')
  const tenant = levels[0] === 'tenants' && levels[2] === 'buildings' ? { tenant_id: levels[1]! } : undefined
  if (tenant ? !isTenantId(tenant.tenant_id) : levels[0] !== 'sites') return undefined
  const [site_id = '', edges, edge_id = '', kind, protocol, ...more] = levels.slice(tenant ? 3 : 1)
  if (edges !== 'edges' || more.length > 0 || !isId(site_id) || !isId(edge_id)) return undefined
  if (!TOPIC_KINDS.includes(kind as TopicKind)) return undefined
  const at = { ...tenant, site_id, edge_id, kind: kind as TopicKind }
  if (kind !== 'telemetry') return protocol === undefined ? at : undefined
  return TELEMETRY_PROTOCOLS.includes(protocol as TelemetryProtocol)
    ? { ...at, protocol: protocol as TelemetryProtocol }
    : undefined
}

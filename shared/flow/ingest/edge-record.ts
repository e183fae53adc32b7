/** How the stored record of an edge and its points change with its metadata, its status and its data. Pure. */
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { Metadata } from '#shared/core/telemetry/metadata.ts'
import type { PollReport } from '#shared/core/telemetry/poll-report.ts'
import { isFresh } from '#shared/core/telemetry/fresh-data.ts'
import { type EdgeKey, edgeName, type Point } from '#shared/core/model/model.ts'

/**
 * Session state from a status message or a last will; `body` is the whole message. `isRetained`: it is the copy that a broker
 * keeps, so an edge that it calls online may be gone.
 */
export type EdgeSession = { online: boolean; body: Record<string, unknown>; poll?: PollReport; isRetained?: boolean }
/** Observations of an edge since its record was last written. Times are ms since 1970 UTC. */
export type Observation = { session?: EdgeSession; lastSeenAt?: number; lastDataAt?: number }

/**
 * An edge may report about itself and about buildings of its own site.
 *
 * @param buildingSite site that the building is already known to belong to
 * @returns why the metadata is refused; undefined when it is accepted
 */
export function metadataConflict(edge: EdgeKey, metadata: Metadata, buildingSite: string | undefined): string | undefined {
  const { site_id, building } = metadata
  const { building_id } = building
  if (edgeName(metadata) !== edgeName(edge)) return `it names edge ${edgeName(metadata)}, and ${edgeName(edge)} sent it`
  if (building.site_id !== site_id) return `building ${building_id} is assigned to site ${building.site_id}`
  if (buildingSite !== undefined && buildingSite !== site_id) return `building ${building_id} belongs to another site`
  return undefined
}

/** @param now ms since 1970 UTC; an edge that never said a version has it since then */
export function withMetadata(edge: EdgeRecord | undefined, metadata: Metadata, now: number): EdgeRecord {
  const { site_id, edge_id, building, name, version, revision } = metadata
  // Metadata without an address leaves the address that an operator entered.
  const connector_url = metadata.connector_url ?? edge?.connector_url
  const { last_seen_at, status, online, session_changed_at, last_data_at, fresh_since, status_body } = edge ?? NEW_EDGE
  return {
    ...{ edge_id, site_id, building_id: building.building_id, name, version, metadata_revision: revision },
    ...(connector_url === undefined ? {} : { connector_url }),
    ...{ last_seen_at, status, online, session_changed_at, last_data_at, fresh_since, status_body },
    version_since: edge?.version === version ? edge.version_since : now,
  }
}

const NEW_EDGE = {
  last_seen_at: null,
  status: 'pending' as const,
  online: false,
  session_changed_at: null,
  last_data_at: null,
  fresh_since: null,
  status_body: {},
}

export function withObservation(edge: EdgeRecord, { session, lastSeenAt, lastDataAt }: Observation, now: number): EdgeRecord {
  const next = { ...edge, last_seen_at: lastSeenAt ?? edge.last_seen_at }
  // Data with a future timestamp must not make an edge look fresh until that time has passed.
  if (lastDataAt !== undefined) next.last_data_at = Math.min(now, Math.max(lastDataAt, edge.last_data_at ?? -Infinity))
  if (isFresh(next.last_data_at, now) && !isFresh(edge.last_data_at, now)) next.fresh_since = now
  if (!session) return next
  const { online, body } = session
  // A last will only reports that the session ended; the members of the last status still explain why.
  const status_body = online ? body : { ...edge.status_body, ...body }
  const isChanged = online !== edge.online || edge.session_changed_at === null
  const session_changed_at = isChanged ? now : edge.session_changed_at
  return { ...next, online, status: online ? 'operational' : 'disconnected', session_changed_at, status_body }
}

/** A point without a role in the metadata retains the role, equipment and unit that a person assigned at the hub. */
export function withAssignments(points: Point[], stored: Point[]): Point[] {
  const before = new Map(stored.map(point => [point.point_id, point]))
  return points.map(point => {
    const { role, equipment_id, unit } = before.get(point.point_id) ?? {}
    if (point.role !== undefined || role === undefined) return point
    return { ...point, role, ...(equipment_id === undefined ? {} : { equipment_id }), ...(unit === undefined ? {} : { unit }) }
  })
}

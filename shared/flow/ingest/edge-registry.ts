/** What the hub knows of its edges: identity and model from metadata, session from status, freshness from data. */
import type { Clock } from '#shared/core/ports.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import type { EdgeClaims, EdgeRecord, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import type { Metadata } from '#shared/core/telemetry/metadata.ts'
import type { PollReport, Reported } from '#shared/core/telemetry/poll-report.ts'
import { hear, isReplaced, type Shared, sharedBy, type Speakers } from '#shared/core/telemetry/speakers.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type Building, type EdgeKey, edgeName, type Point } from '#shared/core/model/model.ts'
import { pointsThatLeave, withRolesBack } from '#shared/core/model/retired-points.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import { edgeStanding } from './edge-standing.ts'

/** What an edge, or its last will, says of its session; `said` is the whole status. */
export type EdgeSession = { online: boolean; said: Record<string, unknown>; poll?: PollReport }
/** What was seen of an edge and is not in the store yet. */
type Seen = { session?: EdgeSession; lastSeenAt?: number; lastDataAt?: number }

/** Edges whose metadata has not come are remembered up to this many. */
const UNKNOWN_MAX = 10_000
const BOOT_ID_MAX = 64
/** Edges whose poll report is kept, in memory: it is some kilobytes each, and comes again with the next status. */
const REPORTS_MAX = 2_000
/** An edge that reports over HTTP has no last will: after this silence its session has ended. */
const LEASE_MS = 1.5 * MINUTE

export function edgeBook(edges: EdgeStore, model: ModelStore, claims: EdgeClaims, clock: Clock) {
  const standing = edgeStanding(claims, edges, clock)
  // All of these by `edgeName`: an edge id alone says nothing of its site.
  const seen = new Map<string, Seen>()
  const reports = new Map<string, Reported>()
  const speakers = new Map<string, Speakers>()
  /** Until when a session over HTTP is believed without a word. */
  const leases = new Map<string, { topic: Topic; until: number }>()
  for (const { site_id, edge_id, online, status_body } of edges.list()) {
    if (online && status_body.via === 'local') lease({ site_id, edge_id, kind: 'status' })
  }
  let doubted = new Set<string>()

  function lease(topic: Topic) {
    leases.set(edgeName(topic), { topic, until: clock.now() + LEASE_MS })
  }
  const note = (topic: EdgeKey, what: Seen) => {
    const key = edgeName(topic)
    if (!seen.has(key) && seen.size >= UNKNOWN_MAX) return
    // A clock that is not set yet must not say that the edge was last seen in 1970.
    seen.set(key, { ...seen.get(key), ...(isClockSet(clock.now()) && { lastSeenAt: clock.now() }), ...what })
  }
  const known = ({ site_id, edge_id }: EdgeKey): EdgeRecord | undefined => {
    const edge = edges.get(site_id, edge_id)
    return edge && edge.metadata_revision !== null ? edge : undefined
  }

  /** @returns whether it is a word of the process that is the edge now, and not of one before it */
  const attend = (topic: EdgeKey, { online, said: { boot_id } }: EdgeSession): boolean => {
    if (typeof boot_id !== 'string') return true
    const key = edgeName(topic)
    const before = speakers.get(key)
    if (!online) return !isReplaced(before, boot_id)
    if (before || speakers.size < UNKNOWN_MAX) speakers.set(key, hear(before, boot_id.slice(0, BOOT_ID_MAX), clock.now()))
    return true
  }
  /** Of two processes under one edge id each would take the other's points away. */
  const leave = (topic: EdgeKey, { building_id }: Building, points: readonly Point[]): Point[] => {
    if (sharers(topic)) return []
    const { edge_id } = topic
    const name = edgeName(topic)
    const adopts = edges.list().every(edge => edgeName(edge) === name || edge.building_id !== building_id)
    const listed = new Set(points.map(({ point_id }) => point_id))
    return pointsThatLeave(model.points(building_id), listed, { edge_id, adopts, now: clock.now() })
  }
  const sharers = (topic: EdgeKey): Shared | undefined => sharedBy(speakers.get(edgeName(topic)), clock.now())

  const endLeases = () => {
    for (const [key, { topic, until }] of leases) {
      if (until >= clock.now()) continue
      const lastSeenAt = edges.get(topic.site_id, topic.edge_id)?.last_seen_at ?? until
      note(topic, { session: { online: false, said: { online: false } }, lastSeenAt })
      leases.delete(key)
    }
  }

  const flush = () => {
    endLeases()
    for (const [key, what] of seen) {
      const [site_id = '', edge_id = ''] = key.split('/')
      const edge = known({ site_id, edge_id })
      if (!edge) continue
      edges.put(withSeen(edge, what, clock.now()))
      seen.delete(key)
    }
  }

  return {
    /**
     * The building that a message is about.
     *
     * @param said by the message: of two processes under one edge id each speaks of its own. Older edges say nothing
     * @returns undefined before this edge has sent the metadata of that building
     */
    buildingOf(topic: EdgeKey, said: string | undefined): string | undefined {
      const edge = known(topic)
      if (!edge || said === undefined || said === edge.building_id) return edge?.building_id
      if (model.building(said)?.site_id !== topic.site_id) return undefined
      return model.points(said).some(point => point.edge_id === topic.edge_id) ? said : undefined
    },
    /** The revision of the metadata that is held; null before it came. */
    revisionOf: (topic: EdgeKey): number | null => known(topic)?.metadata_revision ?? null,
    /** Data of this edge was stored; `newest` is its latest instant, ms. */
    heard(topic: Topic, newest: number) {
      const before = seen.get(edgeName(topic))?.lastDataAt ?? -Infinity
      note(topic, Number.isFinite(newest) ? { lastDataAt: Math.max(before, newest) } : {})
    },
    /**
     * @param via how it came: a session over HTTP ends when nothing is heard of it for a while
     * @returns who shares the edge id, when that is new
     */
    session(topic: Topic, session: EdgeSession, via: 'mqtt' | 'local' = 'mqtt'): Shared | undefined {
      const { site_id, edge_id } = topic
      const key = edgeName(topic)
      const { online, said, poll } = session
      const { poll: _, shared: _own, ...rest } = said
      const before = sharers(topic)
      if (!attend(topic, session)) return undefined
      const shared = sharers(topic)
      doubted.delete(key)
      if (via === 'local' && online) lease(topic)
      else leases.delete(key)
      if (poll && (reports.has(key) || reports.size < REPORTS_MAX)) {
        reports.set(key, { edge_id, site_id, at: clock.now(), report: poll })
      }
      note(topic, { session: { online, said: { ...rest, via, ...(shared && { shared }) } } })
      flush()
      return before ? undefined : shared
    },
    /** The processes that speak as this edge, where they are more than one. */
    sharers,
    /** How many edges more than one process speaks as. */
    sharedCount: () => [...speakers.values()].filter(one => sharedBy(one, clock.now())).length,
    /** How polling goes at the edges that have said so since the start, by edge. */
    reported: () => [...reports.values()].filter(known),
    standing,
    /** @returns why the metadata is not taken, or undefined when it is */
    enter(topic: Topic, metadata: Metadata, via: 'mqtt' | 'local' = 'mqtt'): string | undefined {
      const { building, equipment, points, revision } = metadata
      const edge = edges.get(topic.site_id, topic.edge_id)
      const refusal = overreach(topic, metadata, model.building(building.building_id)?.site_id)
      if (refusal !== undefined) return refusal
      standing.accept(topic, building.building_id, edge, via)
      if (edge?.metadata_revision === revision) return undefined
      const leaving = leave(topic, building, points)
      const known = withRolesBack(model.points(building.building_id), leaving)
      const listed = withAssignments(points, known).map(point => ({ ...point, edge_id: topic.edge_id }))
      model.put({ building, equipment, points: [...listed, ...leaving] })
      if (edge && edge.building_id !== building.building_id && !sharers(topic)) {
        const { edge_id, building_id } = edge
        const by = { edge_id, adopts: false, now: clock.now() }
        model.put({ points: pointsThatLeave(model.points(building_id), new Set(), by) })
      }
      edges.put(withMetadata(edge, metadata))
      flush()
      return undefined
    },
    flush,
    doubt() {
      doubted = new Set(edges.list().flatMap(edge => (edge.online ? [edgeName(edge)] : [])))
    },
    endDoubt() {
      for (const key of doubted) {
        const [site_id = '', edge_id = ''] = key.split('/')
        const edge = edges.get(site_id, edge_id)
        if (edge?.online) edges.put({ ...edge, online: false, status: 'disconnected', session_changed_at: clock.now() })
      }
      doubted.clear()
    },
  }
}

/**
 * An edge speaks for itself and for buildings of its own site.
 *
 * @param buildingSite site that the building is known to be of, if it is known
 * @returns in words what the metadata claims beyond that
 */
function overreach(topic: Topic, { site_id, edge_id, building }: Metadata, buildingSite?: string) {
  const { building_id } = building
  if (site_id !== topic.site_id || edge_id !== topic.edge_id) return `it says ${site_id}/${edge_id}`
  if (building.site_id !== site_id) return `building ${building_id} is said to be of site ${building.site_id}`
  if (buildingSite !== undefined && buildingSite !== site_id) return `building ${building_id} belongs to another site`
  return undefined
}

function withMetadata(edge: EdgeRecord | undefined, metadata: Metadata): EdgeRecord {
  const { site_id, edge_id, building, name, version, revision } = metadata
  // An edge that says no address has none of its own; the one that an operator gave it stays.
  const connector_url = metadata.connector_url ?? edge?.connector_url
  const { last_seen_at, status, online, session_changed_at, last_data_at, status_body } = edge ?? UNSEEN
  return {
    ...{ edge_id, site_id, building_id: building.building_id, name, version, metadata_revision: revision },
    ...(connector_url === undefined ? {} : { connector_url }),
    ...{ last_seen_at, status, online, session_changed_at, last_data_at, status_body },
  }
}

const UNSEEN = {
  last_seen_at: null,
  status: 'pending' as const,
  online: false,
  session_changed_at: null,
  last_data_at: null,
  status_body: {},
}

function withSeen(edge: EdgeRecord, { session, lastSeenAt, lastDataAt }: Seen, now: number): EdgeRecord {
  const next = { ...edge, last_seen_at: lastSeenAt ?? edge.last_seen_at }
  // What is dated ahead, by a clock that was wrong, must not make an edge look fresh for as long as it is ahead.
  if (lastDataAt !== undefined) next.last_data_at = Math.min(now, Math.max(lastDataAt, edge.last_data_at ?? -Infinity))
  if (!session) return next
  const { online, said } = session
  // A last will says no more than that the session ended; what the edge said before it still tells why.
  const status_body = online ? said : { ...edge.status_body, ...said }
  const changed = online !== edge.online || edge.session_changed_at === null
  const session_changed_at = changed ? now : edge.session_changed_at
  return { ...next, online, status: online ? 'operational' : 'disconnected', session_changed_at, status_body }
}

/** A point that the edge has no role for keeps the one that somebody gave it at the hub. */
function withAssignments(points: Point[], held: Point[]): Point[] {
  const before = new Map(held.map(point => [point.point_id, point]))
  return points.map(point => {
    const { role, equipment_id, unit } = before.get(point.point_id) ?? {}
    if (point.role !== undefined || role === undefined) return point
    return { ...point, role, ...(equipment_id === undefined ? {} : { equipment_id }), ...(unit === undefined ? {} : { unit }) }
  })
}

/** Registry of the edges of a central: identity and model from metadata, session from status, freshness from data. */
import type { Clock } from '#shared/core/ports.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import type { EdgeClaims, EdgeRecord, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import type { EdgeBounds } from '#shared/core/telemetry/edge-bounds.ts'
import type { Metadata } from '#shared/core/telemetry/metadata.ts'
import { pollFailures, type Reported } from '#shared/core/telemetry/poll-report.ts'
import {
  isReplaced,
  recordBootId,
  sharedEdgeId,
  sharedReason,
  type BootHistory,
  type SharedEdgeId,
} from '#shared/core/telemetry/shared-edge-id.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type Building, type EdgeKey, edgeName, type Point } from '#shared/core/model/model.ts'
import { pointsThatLeave, withRolesBack } from '#shared/core/model/retired-points.ts'
import { EdgeNotices, type IngestTransport } from './edge-notices.ts'
import {
  type EdgeSession,
  metadataConflict,
  type Observation,
  withAssignments,
  withMetadata,
  withObservation,
} from './edge-record.ts'

/** Most edges without metadata whose observations are held in memory. */
const UNKNOWN_MAX = 10_000
const BOOT_ID_MAX = 64
/** Most poll reports held in memory. Each has some kilobytes and comes again with the next status. */
const REPORTS_MAX = 2_000
/** An edge that reports over HTTP has no last will: its session ends after this silence. */
const LEASE_MS = 1.5 * MINUTE

type Parts = {
  edges: EdgeStore
  model: ModelStore
  claims: EdgeClaims
  clock: Clock
  budget?: StorageBudget | undefined
  bounds?: EdgeBounds | undefined
}

export class EdgeRegistry {
  readonly notices: EdgeNotices
  readonly #edges: EdgeStore
  readonly #model: ModelStore
  readonly #claims: EdgeClaims
  readonly #clock: Clock
  readonly #bounds: EdgeBounds | undefined
  // All maps are keyed by `edgeName`, because an edge id is only unique within its site.
  readonly #unsaved = new Map<string, { edge: EdgeKey; observation: Observation }>()
  readonly #pollReports = new Map<string, Reported>()
  readonly #bootHistories = new Map<string, BootHistory>()
  /** Sessions over HTTP, and when each ends unless another status arrives. */
  readonly #leases = new Map<string, { edge: EdgeKey; until: number }>()
  /** Edges that were online before the broker connection was lost, or that only a retained status calls online. */
  readonly #unconfirmed = new Map<string, EdgeKey>()

  constructor({ edges, model, claims, clock, budget, bounds }: Parts) {
    this.#bounds = bounds
    this.#edges = edges
    this.#model = model
    this.#claims = claims
    this.#clock = clock
    this.notices = new EdgeNotices({ claims, edges, clock, budget })
    for (const edge of edges.list()) if (edge.online && edge.status_body['via'] === 'local') this.#extendLease(edge)
  }

  /**
   * The building that a message is about.
   *
   * @param named building in the message, which may be one that the edge reported for before; older edges name none
   * @returns undefined before this edge has sent the metadata of that building
   */
  buildingOf(edge: EdgeKey, named: string | undefined): string | undefined {
    const record = this.#withMetadata(edge)
    if (!record || named === undefined || named === record.building_id) return record?.building_id
    if (this.#model.building(named)?.site_id !== edge.site_id) return undefined
    return this.#model.points(named).some(point => point.edge_id === edge.edge_id) ? named : undefined
  }

  /** The revision of the stored metadata; null before metadata has arrived, and while it is refused. */
  revisionOf(edge: EdgeKey): number | null {
    if (this.#claims.refusal(edge)) return null
    return this.#withMetadata(edge)?.metadata_revision ?? null
  }

  /** @param newest latest timestamp of the stored data, ms since 1970 UTC; -Infinity for a message without readings */
  recordData(edge: EdgeKey, newest: number): void {
    const before = this.#unsaved.get(edgeName(edge))?.observation.lastDataAt ?? -Infinity
    this.#observe(edge, Number.isFinite(newest) ? { lastDataAt: Math.max(before, newest) } : {})
  }

  /**
   * Records a status or a last will. A last will of a process that another one has replaced is ignored.
   *
   * @returns the processes that share the edge id, when this status is the first to show it
   */
  recordSession(edge: EdgeKey, session: EdgeSession, via: IngestTransport = 'mqtt'): SharedEdgeId | undefined {
    const { site_id, edge_id } = edge
    const key = edgeName(edge)
    const { online, body, poll, isRetained = false } = session
    const { poll: _, shared: _own, poll_failures: _failures, ...rest } = body
    const failures = poll && pollFailures(poll)
    const before = this.sharedIdOf(edge)
    if (!this.#isFromCurrentProcess(edge, session)) return undefined
    const shared = this.sharedIdOf(edge)
    if (!isRetained || !online) this.#unconfirmed.delete(key)
    else this.#unconfirmed.set(key, { site_id, edge_id })
    if (via === 'local' && online) this.#extendLease(edge)
    else this.#leases.delete(key)
    if (poll && (this.#pollReports.has(key) || this.#pollReports.size < REPORTS_MAX)) {
      this.#pollReports.set(key, { edge_id, site_id, at: this.#clock.now(), report: poll })
    }
    const observed = { online, body: { ...rest, via, ...(shared && { shared }), ...(failures && { poll_failures: failures }) } }
    this.#observe(edge, { session: observed }, !isRetained)
    this.flush()
    return before ? undefined : shared
  }

  /** The processes that report under this edge id, when they are more than one. */
  sharedIdOf(edge: EdgeKey): SharedEdgeId | undefined {
    return sharedEdgeId(this.#bootHistories.get(edgeName(edge)), this.#clock.now())
  }

  /** Number of edge ids that more than one process reports under. */
  sharedIdCount(): number {
    return [...this.#bootHistories.values()].filter(history => sharedEdgeId(history, this.#clock.now())).length
  }

  /** The newest poll report of each edge since the start of this process. */
  pollReports(): Reported[] {
    return [...this.#pollReports.values()].filter(report => this.#withMetadata(report))
  }

  /** Stores the model and identity of an edge. @returns why the metadata is refused, or undefined when it is accepted */
  applyMetadata(edge: EdgeKey, metadata: Metadata, via: IngestTransport = 'mqtt'): string | undefined {
    const { building, equipment, points, revision } = metadata
    const record = this.#withMetadata(edge)
    const movedTo = this.#claims.movedTo(edge)
    if (movedTo !== undefined) return `its building was moved to the tenant ${movedTo}: it needs a kit of this tenant`
    const shared = this.sharedIdOf(edge)
    if (shared) return sharedReason(shared)
    const conflict = metadataConflict(edge, metadata, this.#model.building(building.building_id)?.site_id)
    if (conflict !== undefined) return conflict
    const beyond = record?.metadata_revision === revision ? undefined : this.#bounds?.refusalOf(edge, metadata)
    if (beyond !== undefined) return beyond
    this.notices.recordAcceptance(edge, building.building_id, record, via)
    if (record?.metadata_revision === revision) return undefined
    const retired = this.#pointsToRetire(edge, building, points)
    const stored = withRolesBack(this.#model.points(building.building_id), retired)
    const listed = withAssignments(points, stored).map(point => ({ ...point, edge_id: edge.edge_id }))
    this.#model.put({ building, equipment, points: [...listed, ...retired] })
    if (record && record.building_id !== building.building_id) this.#retirePointsOf(record)
    this.#edges.put(withMetadata(record, metadata, this.#clock.now()))
    this.flush()
    return undefined
  }

  /**
   * Deletes an edge that is gone. Its points stay with their history and roles and belong to no edge, so the next edge of the
   * building adopts them, and rules that ran on the edge run here.
   */
  deleteEdge({ site_id, edge_id }: EdgeKey): void {
    const edge = { site_id, edge_id }
    const name = edgeName(edge)
    for (const { building_id } of this.#model.buildings().filter(building => building.site_id === site_id)) {
      const own = this.#model.points(building_id).filter(point => point.edge_id === edge_id)
      this.#model.put({ points: own.map(({ edge_id: _edge, ...point }) => point) })
    }
    this.#claims.forget(edge)
    this.notices.forget(edge)
    this.#edges.delete(edge)
    for (const map of [this.#unsaved, this.#pollReports, this.#bootHistories, this.#leases, this.#unconfirmed]) map.delete(name)
  }

  /** Whether the edge was deleted and has sent no metadata since. */
  isDeleted(edge: EdgeKey): boolean {
    return this.#edges.get(edge.site_id, edge.edge_id)?.metadata_revision === null
  }

  /** Writes the observations since the last call, and ends the HTTP sessions that have expired. */
  flush(): void {
    this.#endLeases()
    const observed = [...this.#unsaved].flatMap(([key, { edge, observation }]) => {
      const record = this.#withMetadata(edge)
      return record ? [{ key, record: withObservation(record, observation, this.#clock.now()) }] : []
    })
    if (observed.length === 0) return
    this.#edges.put(...observed.map(({ record }) => record))
    for (const { key } of observed) this.#unsaved.delete(key)
  }

  /** After a reconnect it is not known which edges are still online: each has to send a status. */
  expectStatuses(): void {
    this.#unconfirmed.clear()
    for (const edge of this.#edges.list()) if (edge.online) this.#unconfirmed.set(edgeName(edge), edge)
  }

  /** Marks the edges as disconnected that have sent no status since `expectStatuses`. */
  disconnectSilentEdges(): void {
    const session_changed_at = this.#clock.now()
    const silent = [...this.#unconfirmed.values()].flatMap(({ site_id, edge_id }) => {
      const edge = this.#edges.get(site_id, edge_id)
      return edge?.online ? [{ ...edge, online: false, status: 'disconnected' as const, session_changed_at }] : []
    })
    this.#edges.put(...silent)
    this.#unconfirmed.clear()
  }

  #withMetadata({ site_id, edge_id }: EdgeKey): EdgeRecord | undefined {
    const edge = this.#edges.get(site_id, edge_id)
    return edge && edge.metadata_revision !== null ? edge : undefined
  }

  /** @param isSeen whether the edge itself is heard now */
  #observe({ site_id, edge_id }: EdgeKey, observation: Observation, isSeen = true): void {
    const edge = { site_id, edge_id }
    const key = edgeName(edge)
    const before = this.#unsaved.get(key)
    if (!before && this.#unsaved.size >= UNKNOWN_MAX) return
    const now = this.#clock.now()
    // A clock that is not set yet would show that the edge was last seen in 1970.
    const seen = isClockSet(now) && isSeen && { lastSeenAt: now }
    this.#unsaved.set(key, { edge, observation: { ...before?.observation, ...seen, ...observation } })
  }

  #isFromCurrentProcess(edge: EdgeKey, { online, body: { boot_id } }: EdgeSession): boolean {
    if (typeof boot_id !== 'string') return true
    const key = edgeName(edge)
    const before = this.#bootHistories.get(key)
    if (!online) return !isReplaced(before, boot_id)
    if (before || this.#bootHistories.size < UNKNOWN_MAX) {
      this.#bootHistories.set(key, recordBootId(before, boot_id.slice(0, BOOT_ID_MAX), this.#clock.now()))
    }
    return true
  }

  /** Points that the new metadata no longer lists. */
  #pointsToRetire(edge: EdgeKey, { building_id }: Building, points: readonly Point[]): Point[] {
    const name = edgeName(edge)
    const adopts = this.#edges.list().every(other => edgeName(other) === name || other.building_id !== building_id)
    const listed = new Set(points.map(({ point_id }) => point_id))
    return pointsThatLeave(this.#model.points(building_id), listed, { edge_id: edge.edge_id, adopts, now: this.#clock.now() })
  }

  /** Retires all points of an edge in the building that it reported for before. */
  #retirePointsOf({ edge_id, building_id }: EdgeRecord): void {
    const by = { edge_id, adopts: false, now: this.#clock.now() }
    this.#model.put({ points: pointsThatLeave(this.#model.points(building_id), new Set(), by) })
  }

  #extendLease({ site_id, edge_id }: EdgeKey): void {
    const edge = { site_id, edge_id }
    this.#leases.set(edgeName(edge), { edge, until: this.#clock.now() + LEASE_MS })
  }

  #endLeases(): void {
    for (const [key, { edge, until }] of this.#leases) {
      if (until >= this.#clock.now()) continue
      const lastSeenAt = this.#edges.get(edge.site_id, edge.edge_id)?.last_seen_at ?? until
      this.#observe(edge, { session: { online: false, body: { online: false } }, lastSeenAt })
      this.#leases.delete(key)
    }
  }
}

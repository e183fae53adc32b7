/** Refusals and building takeovers of edges, and the notices that inform an edge of them. */
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { EdgeClaims, EdgeRecord, EdgeStore, Takeover } from '#shared/core/stores.ts'
import type { BudgetExcess, StorageBudget } from '#shared/core/tenant-budget.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'
import { HOUR } from '#shared/core/time.ts'

/** Most edges that are tracked as notified. */
const NOTIFIED_MAX = 10_000
/** Longest reason that is stored, characters. */
const REASON_MAX = 400

type Parts = { claims: EdgeClaims; edges: EdgeStore; clock: Clock; budget: StorageBudget | undefined }

/** `added`: series that the message would begin, beyond the budget. `reason`: what it would bring beyond the bounds of an edge. */
type HeldBack = EdgeKey & ({ added: number } | { reason: string })

/** An edge whose readings come with times that cannot be right, since the last hour without any. Times are ms since 1970 UTC. */
export type MisdatedNews = { count: number; since: number; last_at: number; reason: string }
/** Readings that came with an impossible time are news for so long. */
const MISDATED_NEWS_MS = HOUR

/** `local`: posted over HTTP to a central on the same box. */
export type IngestTransport = 'mqtt' | 'local'

export class EdgeNotices {
  readonly #claims: EdgeClaims
  readonly #edges: EdgeStore
  readonly #clock: Clock
  /** `edgeName` of the edges whose last message from the hub had notices: they get one empty list when these are over. */
  readonly #notified = new Set<string>()

  readonly #budget: StorageBudget | undefined
  /** Edges whose last message was beyond the budget or the bounds of an edge, by `edgeName`. */
  readonly #heldBack = new Map<string, HeldBack>()
  /** By `edgeName`. */
  readonly #misdated = new Map<string, MisdatedNews>()

  constructor({ claims, edges, clock, budget }: Parts) {
    this.#claims = claims
    this.#edges = edges
    this.#clock = clock
    this.#budget = budget
  }

  /** Records that a message of an edge is not stored because of the budget. */
  recordExcess(edge: EdgeKey, { added }: BudgetExcess): void {
    this.#hold(edge, { added })
  }

  /** Records that a message of an edge is not stored because of what the edge has brought already. */
  recordBeyondBounds(edge: EdgeKey, reason: string): void {
    this.#hold(edge, { reason: reason.slice(0, REASON_MAX) })
  }

  recordStored(edge: EdgeKey): void {
    this.#heldBack.delete(edgeName(edge))
  }

  /** Records that readings of an edge are kept apart from history. */
  recordMisdated(edge: EdgeKey, count: number, reason: string): void {
    const [name, now, before] = [edgeName(edge), this.#clock.now(), this.misdatedOf(edge)]
    if (!this.#misdated.has(name) && this.#misdated.size >= NOTIFIED_MAX) return
    const last = { last_at: now, reason: reason.slice(0, REASON_MAX) }
    this.#misdated.set(name, { count: (before?.count ?? 0) + count, since: before?.since ?? now, ...last })
  }

  /** @returns what was kept apart of an edge since the last hour without any; undefined where that hour is the last one */
  misdatedOf(edge: EdgeKey): MisdatedNews | undefined {
    const news = this.#misdated.get(edgeName(edge))
    return news && Math.abs(this.#clock.now() - news.last_at) <= MISDATED_NEWS_MS ? news : undefined
  }

  /** Forgets a deleted edge. */
  forget(edge: EdgeKey): void {
    this.#heldBack.delete(edgeName(edge))
    this.#misdated.delete(edgeName(edge))
  }

  /** The edges of which nothing more is stored, each with the reason. `isBudget`: it waits for the budget of the tenant. */
  heldBack(): (EdgeKey & { reason: string; isBudget: boolean })[] {
    return [...this.#heldBack.values()].flatMap(held => {
      const reason = this.#reasonOf(held)
      const { site_id, edge_id } = held
      return reason === undefined ? [] : [{ site_id, edge_id, reason, isBudget: 'added' in held }]
    })
  }

  /** A budget may have been raised since. Bounds change with a restart alone, and what is within them is stored then. */
  #reasonOf(held: HeldBack | undefined): string | undefined {
    return held && 'reason' in held ? held.reason : this.#budget?.excess(held?.added ?? 0)?.reason
  }

  #hold({ site_id, edge_id }: EdgeKey, why: { added: number } | { reason: string }): void {
    const name = edgeName({ site_id, edge_id })
    if (this.#heldBack.has(name) || this.#heldBack.size < NOTIFIED_MAX) this.#heldBack.set(name, { site_id, edge_id, ...why })
  }

  /** Records that the metadata of an edge is refused. */
  recordRefusal({ site_id, edge_id }: EdgeKey, reason: string): void {
    this.#claims.refuse({ site_id, edge_id, reason: reason.slice(0, REASON_MAX), since: this.#clock.now() })
  }

  /**
   * Records that the metadata of an edge is accepted. If other edges of the site report for the same building, the takeover is
   * recorded until a person confirms it. Processes of one box may share a building, so two local edges are no takeover.
   *
   * @param before the record of the edge before this metadata
   */
  recordAcceptance(edge: EdgeKey, building_id: string, before: EdgeRecord | undefined, via: IngestTransport): void {
    const { site_id, edge_id } = edge
    this.#claims.accept({ site_id, edge_id })
    if (before?.building_id === building_id) return
    for (const other of this.#edges.list()) {
      if (other.site_id !== site_id || other.edge_id === edge_id || other.building_id !== building_id) continue
      if (via === 'local' && other.status_body['via'] === 'local') continue
      this.#claims.claim({ building_id, site_id, edge_id, from_edge_id: other.edge_id, since: this.#clock.now() })
    }
  }

  noticesOf(edge: EdgeKey): Notice[] {
    const refusal = this.#claims.refusal(edge)
    // A refused edge sends its metadata again with its next status. That is how a deleted edge returns without a new session.
    const isDeleted = this.#edges.get(edge.site_id, edge.edge_id)?.metadata_revision === null
    const reason = refusal?.reason ?? (isDeleted ? 'it was deleted there, and is listed again with its next status' : undefined)
    const refused: Notice[] =
      reason === undefined
        ? []
        : [{ code: 'metadata_refused', text: `The hub refuses the metadata of this appliance: ${reason}` }]
    const held = this.#reasonOf(this.#heldBack.get(edgeName(edge)))
    const overBudget: Notice[] =
      held !== undefined
        ? [
            {
              code: 'tenant_over_budget',
              text: `The hub stores nothing more, and this appliance keeps its messages: ${held}`,
            },
          ]
        : []
    const news = this.misdatedOf(edge)
    const misdated: Notice[] =
      news === undefined
        ? []
        : [
            {
              code: 'readings_misdated',
              text: `The hub keeps readings of this appliance apart from history, because its clock was wrong: ${news.reason}`,
            },
          ]
    return [...refused, ...overBudget, ...misdated, ...this.#claims.takeovers().filter(concerns(edge)).map(takeoverNotice)]
  }

  /** @returns the notices to send now; empty to end earlier ones; undefined when there are none and none were sent last */
  noticesToSend(edge: EdgeKey): Notice[] | undefined {
    const notices = this.noticesOf(edge)
    const name = edgeName(edge)
    if (notices.length === 0) return this.#notified.delete(name) ? notices : undefined
    if (this.#notified.size < NOTIFIED_MAX) this.#notified.add(name)
    return notices
  }
}

const concerns =
  ({ site_id, edge_id }: EdgeKey) =>
  (takeover: Takeover): boolean =>
    takeover.site_id === site_id && (takeover.edge_id === edge_id || takeover.from_edge_id === edge_id)

const takeoverNotice = ({ building_id, edge_id, from_edge_id }: Takeover): Notice => ({
  code: 'building_taken_over',
  text: `Edge ${edge_id} now reports for building ${building_id}, as edge ${from_edge_id} does or did: confirm this on the hub, or correct building_id in the site.json of one of them`,
})

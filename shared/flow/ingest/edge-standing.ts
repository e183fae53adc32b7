/** How an edge stands with the hub: refused, or one of several that speak for a building; and what it is told of that. */
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { EdgeClaims, EdgeRecord, EdgeStore, Takeover } from '#shared/core/stores.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'

/** Edges of which it is remembered that they were told something. */
const TOLD_MAX = 10_000
/** Longest reason that is kept, characters. */
const REASON_MAX = 400

export function edgeStanding(claims: EdgeClaims, edges: EdgeStore, clock: Clock) {
  /** `edgeName` of those whose last word from the hub was a notice: when nothing is wrong any more they are told that once. */
  const told = new Set<string>()

  const noticesOf = (edge: EdgeKey): Notice[] => {
    const refusal = claims.refusal(edge)
    const refused: Notice[] = refusal
      ? [{ code: 'metadata_refused', text: `The hub refuses what this box says of itself: ${refusal.reason}` }]
      : []
    return [...refused, ...claims.takeovers().filter(concerns(edge)).map(takeoverNotice)]
  }

  return {
    /** What an edge says of itself is not taken. */
    refuse: ({ site_id, edge_id }: EdgeKey, reason: string) =>
      claims.refuse({ site_id, edge_id, reason: reason.slice(0, REASON_MAX), since: clock.now() }),
    /**
     * What an edge says of itself is taken, and with it that it speaks for a building.
     *
     * @param before the edge as it was known
     * @param via processes of one box may share its building: what both post to the central beside them is no takeover
     */
    accept({ site_id, edge_id }: EdgeKey, building_id: string, before: EdgeRecord | undefined, via: 'mqtt' | 'local') {
      claims.accept({ site_id, edge_id })
      if (before?.building_id === building_id) return
      for (const other of edges.list()) {
        if (other.site_id !== site_id || other.edge_id === edge_id || other.building_id !== building_id) continue
        if (via === 'local' && other.status_body['via'] === 'local') continue
        claims.claim({ building_id, site_id, edge_id, from_edge_id: other.edge_id, since: clock.now() })
      }
    },
    noticesOf,
    /** @returns what to tell the edge now; undefined when nothing is wrong, and nothing was when it was told last */
    toTell(edge: EdgeKey): Notice[] | undefined {
      const notices = noticesOf(edge)
      const name = edgeName(edge)
      if (notices.length === 0) return told.delete(name) ? notices : undefined
      if (told.size < TOLD_MAX) told.add(name)
      return notices
    },
  }
}

const concerns =
  ({ site_id, edge_id }: EdgeKey) =>
  (one: Takeover): boolean =>
    one.site_id === site_id && (one.edge_id === edge_id || one.from_edge_id === edge_id)

const takeoverNotice = ({ building_id, edge_id, from_edge_id }: Takeover): Notice => ({
  code: 'building_taken_over',
  text: `Edge ${edge_id} now reports for building ${building_id}, as edge ${from_edge_id} does or did: confirm this on the hub, or correct building_id in the site.json of one of them`,
})

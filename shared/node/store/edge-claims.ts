import type { EdgeClaims, EdgeRefusal, Takeover } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'

/** Maximum number of stored refusals: more than any hub has edges, and a bound for invented edge ids. */
const REFUSALS_MAX = 10_000

export function edgeClaimStore(db: Database): EdgeClaims {
  const refusals = db.prepare('SELECT * FROM edge_refusals ORDER BY site_id, edge_id')
  const refusal = db.prepare('SELECT * FROM edge_refusals WHERE site_id = ? AND edge_id = ?')
  const count = db.prepare('SELECT count(*) FROM edge_refusals').pluck()
  const refuse = db.prepare(
    `INSERT INTO edge_refusals VALUES (@site_id, @edge_id, @reason, @since)
     ON CONFLICT (site_id, edge_id) DO UPDATE SET reason = excluded.reason, since = excluded.since`,
  )
  const moved = db.prepare('SELECT tenant_id FROM moved_edges WHERE site_id = ? AND edge_id = ?').pluck()
  const accept = db.prepare('DELETE FROM edge_refusals WHERE site_id = ? AND edge_id = ?')
  const takeovers = db.prepare(
    'SELECT building_id, site_id, edge_id, from_edge_id, since FROM building_takeovers WHERE confirmed_at IS NULL ORDER BY 1, 5, 3, 4',
  )
  const claim = db.prepare(
    `INSERT INTO building_takeovers (building_id, edge_id, from_edge_id, site_id, since)
     VALUES (@building_id, @edge_id, @from_edge_id, @site_id, @since) ON CONFLICT DO NOTHING`,
  )
  const confirm = db.prepare(
    `UPDATE building_takeovers SET confirmed_at = ?, confirmed_by = ? WHERE building_id = ? AND confirmed_at IS NULL
     RETURNING building_id, site_id, edge_id, from_edge_id, since`,
  )
  const forget = db.prepare('DELETE FROM building_takeovers WHERE site_id = @site_id AND @edge_id IN (edge_id, from_edge_id)')
  return {
    refusals: () => refusals.all() as EdgeRefusal[],
    refusal: ({ site_id, edge_id }) => refusal.get(site_id, edge_id) as EdgeRefusal | undefined,
    refuse: next => {
      const held = refusal.get(next.site_id, next.edge_id) as EdgeRefusal | undefined
      // A refused edge repeats its metadata at each connection: only a new reason is written.
      if (held?.reason === next.reason || (!held && (count.get() as number) >= REFUSALS_MAX)) return
      refuse.run(next)
    },
    movedTo: ({ site_id, edge_id }) => moved.get(site_id, edge_id) as string | undefined,
    accept: ({ site_id, edge_id }) => void accept.run(site_id, edge_id),
    forget: ({ site_id, edge_id }) => {
      accept.run(site_id, edge_id)
      forget.run({ site_id, edge_id })
    },
    takeovers: () => takeovers.all() as Takeover[],
    claim: takeover => void claim.run(takeover),
    confirm: (building_id, by, at) => confirm.all(at, by, building_id) as Takeover[],
  }
}

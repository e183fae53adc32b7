import type { EdgeRecord, EdgeStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { toRow, upsert } from './row.ts'

const EDGE = [
  'edge_id',
  'site_id',
  'building_id',
  'name',
  'version',
  'last_seen_at',
  'status',
  'connector_url',
  'online',
  'session_changed_at',
  'last_data_at',
  'fresh_since',
  'version_since',
  'metadata_revision',
  'status_body',
] as const

export function edgeStore(db: Database): EdgeStore {
  const list = db.prepare('SELECT * FROM edges WHERE metadata_revision IS NOT NULL ORDER BY edge_id, site_id')
  const count = db.prepare('SELECT count(*) FROM edges WHERE metadata_revision IS NOT NULL').pluck()
  const get = db.prepare('SELECT * FROM edges WHERE site_id = ? AND edge_id = ?')
  const named = db.prepare('SELECT * FROM edges WHERE edge_id = ? AND metadata_revision IS NOT NULL ORDER BY site_id')
  const remove = db.prepare(
    `UPDATE edges SET metadata_revision = NULL, name = '', version = '', last_seen_at = NULL, status = 'pending', connector_url = NULL,
       online = 0, session_changed_at = NULL, last_data_at = NULL, fresh_since = NULL, version_since = NULL,
       status_body = '{}' WHERE site_id = ? AND edge_id = ?`,
  )
  const put = db.prepare(upsert('edges', ['site_id', 'edge_id'], EDGE))
  const putAll = db.transaction((...edges: EdgeRecord[]) => {
    for (const edge of edges) put.run(toRow(edge, EDGE))
  })
  return {
    list: () => list.all().map(toEdge),
    count: () => count.get() as number,
    get: (site_id, edge_id) => {
      const row = get.get(site_id, edge_id)
      return row ? toEdge(row) : undefined
    },
    named: edge_id => named.all(edge_id).map(toEdge),
    put: putAll,
    delete: ({ site_id, edge_id }) => void remove.run(site_id, edge_id),
  }
}

/** An edge record has its NULLs: "never seen" is a value, not a missing field. */
function toEdge(row: unknown): EdgeRecord {
  const { connector_url, online, status_body, ...rest } = row as EdgeRecord & {
    connector_url: string | null
    status_body: unknown
  }
  const edge = Object.assign(rest, { online: Boolean(online), status_body: JSON.parse(String(status_body)) }) as EdgeRecord
  if (connector_url !== null) edge.connector_url = connector_url
  return edge
}

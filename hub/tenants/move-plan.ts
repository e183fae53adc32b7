/** What a move of buildings from the hub's own workspace into that of a tenant would do. Reads only. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { type Database, openReadOnly } from '#shared/node/sqlite.ts'
import { tenantPrefix } from './folders.ts'

/** Name of the database of a workspace. */
export const DATABASE = 'plenum.db'

/** `interrupted`: an earlier move was begun and not ended. `moved`: nothing is left to do. */
type MoveState = 'here' | 'interrupted' | 'moved'
export type PlannedBuilding = {
  building_id: string
  name: string
  state: MoveState
  /** `site_id/edge_id` of the edges that need a kit of the tenant afterwards. */
  edges: string[]
  points: number
  findings: number
  /** Sealed files of history, and their size. */
  files: number
  bytes: number
}
/** `conflicts`: why nothing can be moved. */
export type MovePlan = { tenant_id: string; buildings: PlannedBuilding[]; conflicts: DataError[] }

/**
 * Plans a move while the hub may be running.
 *
 * @param building_ids without them all buildings of the hub's own workspace
 * @throws Problem unknown_tenant, unknown_building
 */
export function planMove(workspace: string, tenant_id: string, building_ids: string[] | undefined): MovePlan {
  const path = join(workspace, tenantPrefix(tenant_id), DATABASE)
  using hub = disposable(openReadOnly(join(workspace, DATABASE)))
  needTenantRow(hub.db, tenant_id)
  using tenant = disposable(existsSync(path) ? openReadOnly(path) : undefined)
  return planBetween({ hub: hub.db, tenant: tenant.db, tenant_id }, building_ids)
}

const disposable = <T extends Database | undefined>(db: T) => ({ db, [Symbol.dispose]: () => void db?.close() })

/** @throws Problem unknown_tenant */
export function needTenantRow(hub: Database, tenant_id: string): void {
  const known = hub.prepare('SELECT 1 FROM tenants WHERE tenant_id = ?').get(tenant_id)
  if (!known) throw new Problem('unknown_tenant', `There is no tenant ${tenant_id}`)
}

/** @throws Problem unknown_building */
export function planBetween(
  { hub, tenant, tenant_id }: { hub: Database; tenant: Database | undefined; tenant_id: string },
  building_ids: string[] | undefined,
): MovePlan {
  const here = hub.prepare('SELECT building_id FROM buildings ORDER BY building_id').pluck().all() as string[]
  const all = movesIn(hub)
  const moves = new Map(all.filter(move => move.tenant_id === tenant_id).map(move => [move.building_id, move]))
  const interrupted = [...moves.values()].filter(({ finished_at }) => finished_at === null).map(({ building_id }) => building_id)
  const wanted = [...new Set(building_ids ?? [...here, ...interrupted])].toSorted()
  const unknown = wanted.filter(id => !here.includes(id) && !moves.has(id))
  if (unknown.length > 0) throw new Problem('unknown_building', `The hub's own workspace has no building ${unknown.join(', ')}`)
  const stateOf = (building_id: string): MoveState =>
    moves.get(building_id)?.finished_at === null ? 'interrupted' : here.includes(building_id) ? 'here' : 'moved'
  const ofHub = describeIn(hub)
  const ofTenant = tenant && describeIn(tenant)
  const buildings = wanted.map(building_id => ({
    building_id,
    state: stateOf(building_id),
    ...(here.includes(building_id) || !ofTenant ? ofHub(building_id) : ofTenant(building_id)),
  }))
  const taken = tenant?.prepare('SELECT 1 FROM buildings WHERE building_id = ?')
  const doubled = buildings.filter(({ building_id, state }) => state === 'here' && taken?.get(building_id))
  const elsewhere = all.filter(
    move => move.finished_at === null && move.tenant_id !== tenant_id && wanted.includes(move.building_id),
  )
  const conflicts = [
    ...elsewhere.map(move => ({
      pointer: `building_ids/${move.building_id}`,
      message: `the move of ${move.building_id} to the tenant ${move.tenant_id} was interrupted: end that one first`,
    })),
    ...doubled.map(({ building_id }) => ({
      pointer: `building_ids/${building_id}`,
      message: `the tenant has a building ${building_id} already`,
    })),
    ...dividedEdges(hub, wanted),
  ]
  return { tenant_id, buildings, conflicts }
}

/** A database that an older version wrote has no moves. */
function movesIn(hub: Database): Move[] {
  if (!hub.prepare("SELECT 1 FROM sqlite_master WHERE name = 'building_moves'").get()) return []
  return hub.prepare('SELECT * FROM building_moves').all() as Move[]
}
type Move = { building_id: string; tenant_id: string; finished_at: number | null }

/**
 * Until a move into a tenant has ended, its workspace may hold a copy of what the hub goes on to change.
 *
 * @throws Error that names the command which ends the move
 */
export function assertMovesEnded(hub: Database, tenant_id: string): void {
  const move = movesIn(hub).find(one => one.tenant_id === tenant_id && one.finished_at === null)
  if (!move) return
  const command = `hub/tenants/main.ts migrate --tenant ${tenant_id} --apply`
  throw new Error(`the move of building ${move.building_id} into this tenant was interrupted: stop the hub and run ${command}`)
}

function describeIn(db: Database): (building_id: string) => Omit<PlannedBuilding, 'building_id' | 'state'> {
  const name = db.prepare('SELECT name FROM buildings WHERE building_id = ?').pluck()
  const edges = db.prepare('SELECT site_id, edge_id FROM edges WHERE building_id = ? ORDER BY site_id, edge_id')
  const counts = db.prepare(
    `SELECT (SELECT count(*) FROM points WHERE building_id = @id) AS points,
       (SELECT count(*) FROM findings WHERE building_id = @id) AS findings,
       count(file) AS files, coalesce(sum(bytes), 0) AS bytes
     FROM parts JOIN history_buildings USING (building) WHERE building_id = @id`,
  )
  return id => ({
    name: (name.get(id) as string | undefined) ?? id,
    edges: (edges.all(id) as EdgeKey[]).map(edgeName),
    ...(counts.get({ id }) as Pick<PlannedBuilding, 'points' | 'findings' | 'files' | 'bytes'>),
  })
}

/** An edge sends all that it measures to one workspace, so its buildings are moved together. */
function dividedEdges(hub: Database, moved: string[]): DataError[] {
  const measures = hub.prepare(
    `SELECT DISTINCT edges.site_id, edges.edge_id, edges.building_id AS own, points.building_id AS other
     FROM edges JOIN buildings USING (site_id) JOIN points ON points.building_id = buildings.building_id
     WHERE points.edge_id = edges.edge_id AND points.gone IS NULL AND points.building_id <> edges.building_id`,
  )
  return (measures.all() as (EdgeKey & { own: string; other: string })[])
    .filter(({ own, other }) => moved.includes(own) !== moved.includes(other))
    .map(edge => ({
      pointer: `building_ids/${moved.includes(edge.own) ? edge.own : edge.other}`,
      message: `edge ${edgeName(edge)} measures the buildings ${edge.own} and ${edge.other}: move both or neither`,
    }))
}

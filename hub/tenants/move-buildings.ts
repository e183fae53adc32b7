/**
 * Moves buildings from the hub's own workspace into that of a tenant, while the hub is stopped. Each step can be repeated, so a
 * move that was killed is ended by starting it again: until the rows are deleted here the building is the hub's, and from then
 * on the tenant's.
 */
import { existsSync, linkSync, rmSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { makeFolder, syncFolder } from '#shared/node/files.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { parquetRootIn, prepareFolder, removeParts } from '#shared/node/historian/folder.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { moveEarlierSamples } from '#shared/node/historian/hot/copy.ts'
import { type Database, openDatabase } from '#shared/node/sqlite.ts'
import { auditStore } from '#shared/node/store/audit.ts'
import { ruleStatesOf } from '#shared/node/rules/engine-states.ts'
import { copyRows, deleteRows, withSource } from './building-rows.ts'
import { tenantPrefix } from './folders.ts'
import { DATABASE, type MovePlan, needTenantRow, planBetween } from './move-plan.ts'

type MoveOptions = {
  workspace: string
  /** Folder of sealed history; by default that in the workspace. */
  parquetRoot: string | undefined
  tenant_id: string
  /** Without them all buildings of the hub's own workspace. */
  building_ids: string[] | undefined
  /** ms */
  now: () => number
  /** Called before each step with what begins. */
  onStep: (text: string) => void
}

/** One of the two workspaces. */
type Side = { path: string; root: string; db: Database }

/**
 * @returns what was moved, as planned
 * @throws Problem not_ready while the hub runs, unknown_tenant, unknown_building, or conflict with what keeps it from being moved
 */
export async function moveBuildings(options: MoveOptions): Promise<MovePlan> {
  const { workspace, tenant_id, building_ids } = options
  const prefix = tenantPrefix(tenant_id)
  using _hubLock = lockOf(workspace)
  using hub = openSide(workspace, options.parquetRoot)
  needTenantRow(hub.db, tenant_id)
  await makeFolder(join(workspace, prefix))
  using _tenantLock = lockOf(join(workspace, prefix))
  using tenant = openSide(join(workspace, prefix), options.parquetRoot && join(options.parquetRoot, prefix))
  const plan = planBetween({ hub: hub.db, tenant: tenant.db, tenant_id }, building_ids)
  if (plan.conflicts.length > 0) throw new Problem('conflict', plan.conflicts[0]!.message, plan.conflicts)
  // As a hub does at its start: it removes files that an interrupted move has left unlisted.
  const owner = tenant.db.prepare('SELECT history_id FROM history_state').pluck().get() as string
  await prepareFolder(tenant.root, owner, openManifest(tenant.db).files())
  for (const { building_id, state } of plan.buildings) {
    if (state !== 'moved') await moveBuilding(building_id, { hub, tenant }, options)
  }
  return plan
}

function lockOf(folder: string) {
  try {
    const unlock = lockFolder('the workspace', folder)
    return { [Symbol.dispose]: unlock }
  } catch (error) {
    throw new Problem('not_ready', `${(error as Error).message}: stop the hub first`)
  }
}

function openSide(path: string, root = parquetRootIn(path)): Side & Disposable {
  const db = openDatabase(join(path, DATABASE))
  moveEarlierSamples(db)
  return { path, root, db, [Symbol.dispose]: () => void db.close() }
}

async function moveBuilding(
  building_id: string,
  { hub, tenant }: { hub: Side; tenant: Side },
  { tenant_id, now, onStep }: MoveOptions,
): Promise<void> {
  if (!beginMove(hub.db, { building_id, tenant_id, at: now() })) {
    onStep(`${building_id}: linking files`)
    for (const file of filesOf(hub.db, building_id)) await placeFile(join(hub.root, file), join(tenant.root, file))
    onStep(`${building_id}: copying rows`)
    withSource(tenant.db, hub.db.name, () =>
      tenant.db.transaction(() => {
        deleteRows(tenant.db, building_id)
        copyRows(tenant.db, building_id)
      })(),
    )
    onStep(`${building_id}: deleting rows`)
    hub.db.transaction(() => {
      hub.db
        .prepare(
          'INSERT OR REPLACE INTO moved_edges SELECT site_id, edge_id, @tenant_id, @at FROM edges WHERE building_id = @building_id',
        )
        .run({ tenant_id, building_id, at: now() })
      deleteRows(hub.db, building_id)
      hub.db.prepare('UPDATE building_moves SET deleted_at = ? WHERE building_id = ?').run(now(), building_id)
      auditStore(hub.db).add(auditRow(building_id, tenant_id, now()))
    })()
  }
  onStep(`${building_id}: removing files`)
  // After an interruption the hub may have begun another building of this id, with files of its own.
  const listed = new Set(filesOf(hub.db, building_id))
  removeFiles(
    hub.root,
    filesOf(tenant.db, building_id).filter(file => !listed.has(file)),
  )
  rmSync(ruleStatesOf(hub.path, building_id), { recursive: true, force: true })
  auditStore(tenant.db).add(auditRow(building_id, tenant_id, now()))
  hub.db.prepare('UPDATE building_moves SET finished_at = ? WHERE building_id = ?').run(now(), building_id)
}

/** @returns whether an interrupted move has deleted the building here already, so that the tenant has the only copy */
function beginMove(
  hub: Database,
  { building_id, tenant_id, at }: { building_id: string; tenant_id: string; at: number },
): boolean {
  const interrupted = hub
    .prepare('SELECT deleted_at FROM building_moves WHERE building_id = ? AND tenant_id = ? AND finished_at IS NULL')
    .get(building_id, tenant_id) as { deleted_at: number | null } | undefined
  if (interrupted) return interrupted.deleted_at !== null
  hub.prepare('INSERT OR REPLACE INTO building_moves VALUES (?, ?, ?, NULL, NULL)').run(building_id, tenant_id, at)
  return false
}

/** Files that are gone already, with their folder, were removed before an interruption or at a start of the hub. */
function removeFiles(root: string, files: string[]): void {
  removeParts(
    root,
    files.filter(file => existsSync(join(root, file))),
  )
}

const filesOf = (db: Database, building_id: string): string[] =>
  db
    .prepare('SELECT file FROM parts JOIN history_buildings USING (building) WHERE building_id = ? ORDER BY file')
    .pluck()
    .all(building_id) as string[]

/** Sealed files never change, so a link is as good as a copy; between file systems it is a copy. */
async function placeFile(from: string, to: string): Promise<void> {
  await makeFolder(dirname(to))
  rmSync(to, { force: true })
  try {
    linkSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFile(from, to)
    await using copy = await open(to, 'r+')
    await copy.sync()
  }
  syncFolder(dirname(to))
}

const auditRow = (building_id: string, tenant_id: string, at: number) => ({
  ...{ at, actor: 'machine', role: 'admin', action: 'move_building', subject: building_id, building_id },
  ...{ before: null, after: { tenant_id }, request_id: '' },
})

/** The stores of one process in a workspace: database, history and the reserve for a full disk. */
import { existsSync, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock, Inbox } from '#shared/core/ports.ts'
import type { EdgeBounds, EdgeLimits } from '#shared/core/telemetry/edge-bounds.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { DAY, HOUR, SECOND } from '#shared/core/time.ts'
import { type Ballast, ballast, WORKSPACE_BALLAST } from '#shared/node/ballast.ts'
import { diskSpace, diskWatch } from '#shared/node/disk-watch.ts'
import { makeFolder } from '#shared/node/files.ts'
import { makeLogRoom } from '#shared/node/log-room.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { isHistoryEntry, parquetRootIn } from '#shared/node/historian/folder.ts'
import { openHistorian, type StoredHistorian } from '#shared/node/historian/historian.ts'
import { historianService } from '#shared/node/historian/service.ts'
import { keepPrivate, WORKSPACE_ENTRIES } from '#shared/node/private-files.ts'
import { ruleStatesIn } from '#shared/node/rules/engine-states.ts'
import type { Service } from '#shared/node/service.ts'
import { type Database, openDatabase, type PageBytes } from '#shared/node/sqlite.ts'
import { alertStore } from '#shared/node/store/alerts.ts'
import { apiTokenStore } from '#shared/node/store/people/api-tokens.ts'
import { auditStore } from '#shared/node/store/audit.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { openEdgeBounds } from '#shared/node/store/edge-bounds.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { priceStore } from '#shared/node/store/energy-prices.ts'
import { definitionStore } from '#shared/node/store/fault-definitions.ts'
import { openInbox, withRoom } from '#shared/node/store/inbox.ts'
import { misdatedStore } from '#shared/node/store/misdated.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { noteStore } from '#shared/node/store/notes.ts'
import { snoozeStore } from '#shared/node/store/snoozes.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { quantityStore } from '#shared/node/store/quantities.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { ruleVersionStore } from '#shared/node/store/rules/rule-versions.ts'
import { savedTrendStore } from '#shared/node/store/saved-trends.ts'
import { openStorageBudget } from '#shared/node/store/storage-budget.ts'
import { tenantStore } from '#shared/node/store/tenants.ts'
import { preferenceStore } from '#shared/node/store/people/preferences.ts'
import { userStore } from '#shared/node/store/people/users.ts'

/** How long DuckDB's process waits for another query before it ends and frees its memory. */
export const IDLE_MS = 30 * SECOND
/** Samples stay in the database for a day, and are moved to files each hour. */
const SEAL_EVERY_MS = HOUR
const HOT_MS = DAY

type WorkspaceOptions = {
  path: string
  /** Folder of sealed history; by default `.cache/parquet` in the workspace. */
  parquetRoot: string | undefined
  /** Space of sealed history, bytes; by default half of its disk. */
  historyBytes?: number | undefined
  /** Space of that of one building, bytes; by default without a bound of its own. */
  buildingHistoryBytes?: number | undefined
  /** Size of the reserve file that is deleted when the disk is full, bytes; by default that of a hub of many buildings. */
  ballastBytes?: number
  /** Of a database that is made: smaller where commits are small and the disk wears out, larger where many rows are read. */
  pageBytes?: PageBytes
  /** Memory limit of DuckDB in each of its processes, MB. */
  memoryMb: number
  clock: Clock
  /** Limits of what may be stored; without it there are none. */
  limits?: StorageLimits
  /** Limits of what edges can invent; without it there are none. */
  edgeLimits?: EdgeLimits | undefined
  /** Set where another process must be able to go on with the database. */
  replica?: Replica | undefined
  log: Logger
}

/** Keeps a copy of the database elsewhere. Whoever has it owns the workspace, so that no other process may have it open. */
export type Replica = {
  /** The database on this machine. */
  path: string
  /** Writes the database from its copy, if there is one. */
  restore(): Promise<void>
  /** Copies the database as it is, and from then on each commit. */
  follow(db: Database): Promise<void>
  /** Resolves when everything that was committed before the call is in the copy. */
  flush(): Promise<void>
  stop(): Promise<void>
  /** Gives the workspace up, once the database is closed. */
  leave(): Promise<void>
}

type StorageLimits = Parameters<typeof openStorageBudget>[1]

type Stores = ReturnType<typeof openStores>

export type Workspace = {
  path: string
  /** Folder of sealed history. */
  parquetRoot: string
  /** Space of uploaded packages that wait to be imported: an eighth of the disk. */
  uploadBytesMax: number
  db: Database
  stores: Stores
  historian: StoredHistorian
  ballast: Ballast
  /** Undefined where the workspace has no limits. */
  budget: StorageBudget | undefined
  /** Undefined where nothing limits what edges can invent. */
  bounds: EdgeBounds | undefined
  /** Stores what edges send; makes room for it on a full disk. */
  inbox: Inbox
  /** Resolves when everything that was committed before the call outlasts this machine, where that is wanted. */
  settled: () => Promise<void>
  /** These start before, and stop after, everything that uses the workspace. */
  services: Service[]
}

/**
 * Opens the workspace for this process alone.
 *
 * @throws Error that names the file or folder that cannot be opened or written, or that another process has open
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  await makeFolder(join(options.path, 'imports'))
  const unlock = options.replica ? () => undefined : lockFolder('the workspace', options.path)
  try {
    return await openLocked(options, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

async function openLocked(options: WorkspaceOptions, unlock: () => void): Promise<Workspace> {
  const { path, memoryMb, clock, log, replica } = options
  const parquetRoot = options.parquetRoot ?? parquetRootIn(path)
  keepPrivate(path, WORKSPACE_ENTRIES, log)
  if (existsSync(parquetRoot)) keepPrivate(parquetRoot, readdirSync(parquetRoot).filter(isHistoryEntry), log)
  const bytes = options.ballastBytes ?? WORKSPACE_BALLAST
  const reserve = ballast({ folder: path, bytes, derived: [ruleStatesIn(path)], log })
  reserve.makeRoom()
  await replica?.restore()
  const db = openDatabase(replica?.path ?? join(path, 'plenum.db'), options.pageBytes)
  if (replica) await replica.follow(db)
  else makeLogRoom(db)
  const settled = replica ? replica.flush : async () => undefined
  const diskBytes = diskSize(path)
  const maxBytes = options.historyBytes ?? diskBytes / 2
  const buildingMaxBytes = options.buildingHistoryBytes ?? Infinity
  const historian = await openHistorian({
    ...{ db, root: parquetRoot, memoryMb, idleMs: IDLE_MS, maxBytes, buildingMaxBytes, settled },
  })
  const disk = diskWatch({ read: () => diskSpace(path), log })
  const budget = options.limits && openStorageBudget(db, options.limits)
  const bounds = options.edgeLimits && openEdgeBounds(db, options.edgeLimits)
  const database: Service = {
    name: 'workspace',
    start: async () => undefined,
    async stop() {
      await replica?.stop()
      db.close()
      await replica?.leave()
      unlock()
    },
  }
  return {
    path,
    parquetRoot,
    uploadBytesMax: diskBytes / 8,
    db,
    stores: openStores(db),
    historian,
    ballast: reserve,
    budget,
    bounds,
    inbox: withRoom(openInbox(db, budget, bounds), reserve.needRoom),
    settled,
    services: [database, reserve, disk, historianService(historian, { clock, log, everyMs: SEAL_EVERY_MS, keepMs: HOT_MS })],
  }
}

/** @returns bytes */
function diskSize(path: string): number {
  const { blocks, bsize } = statfsSync(path)
  return blocks * bsize
}

const openStores = (db: Database) => ({
  model: modelStore(db),
  ...resultStores(db),
  notes: noteStore(db),
  snoozes: snoozeStore(db),
  misdated: misdatedStore(db),
  edges: edgeStore(db),
  edgeClaims: edgeClaimStore(db),
  audit: auditStore(db),
  ruleStates: ruleStateStore(db),
  ruleVersions: ruleVersionStore(db),
  definitions: definitionStore(db),
  quantities: quantityStore(db),
  prices: priceStore(db),
  paramSettings: paramSettingStore(db),
  baselines: baselineStore(db),
  users: userStore(db),
  preferences: preferenceStore(db),
  apiTokens: apiTokenStore(db),
  alerts: alertStore(db),
  savedTrends: savedTrendStore(db),
  tenants: tenantStore(db),
})

/** Keeps the database of the active hub in PostgreSQL as well, so that a standby on another machine can go on with it. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Pool } from 'pg'
import type { Replica } from '#shared/central/workspace.ts'
import { errorText } from '#shared/core/error-text.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { SECOND } from '#shared/core/time.ts'
import { type FailureLog, failureLog } from '#shared/node/failure-log.ts'
import { makeFolder } from '#shared/node/files.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { keepPrivate, WORKSPACE_ENTRIES } from '#shared/node/private-files.ts'
import { skipEpochs } from '#shared/node/historian/manifest-writer.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { type HubList, hubList, type HubSummary } from './hub-list.ts'
import { createTables, differingPages, type Pages, restoreImage, storePages } from './image.ts'
import { Lease, type LeaseOptions } from './lease.ts'
import { LEASE_MS } from './lease-time.ts'
import { urlOfSite } from './site-schema.ts'
import { WalPages } from './wal-pages.ts'

type ReplicaOptions = LeaseOptions & {
  /** Of PostgreSQL, `postgres://…`. */
  url: string
  /** Folder of the database on this machine; no other process may use it. */
  folder: string
  /** Where the pages of the site's hub are, for the page of the others. */
  address: string | undefined
}

/** What was committed is stored this often, even when nobody waits for it, ms. */
const STORE_EVERY_MS = 500
const NOT_STORED = "the cluster's database is not up to date, and nothing is acknowledged"
const RETRY_MS = 500
const STOP_MS = 3 * SECOND
/** The log of the database begins anew when it is longer, pages: as SQLite does by default. */
const LOG_MAX = 1_000

/**
 * Waits until this process is the active hub.
 *
 * @throws Error when the folder cannot be written or another process uses it
 */
export async function joinCluster({ url, folder, address, ...options }: ReplicaOptions): Promise<HubReplica> {
  const { site_id, holder, log } = options
  await makeFolder(folder)
  const unlock = lockFolder('the cluster folder', folder)
  keepPrivate(folder, WORKSPACE_ENTRIES, log)
  const pool = new Pool({
    connectionString: site_id === undefined ? url : urlOfSite(url, site_id),
    ...{ max: 3, connectionTimeoutMillis: 3 * SECOND, keepAlive: true },
    // A machine that is lost in the middle of a transaction leaves no lock behind.
    idle_in_transaction_session_timeout: LEASE_MS,
  })
  const ended = (error: Error) => log.debug(`a connection to the cluster's database has ended: ${error.message}`)
  pool.on('error', ended).on('connect', client => client.on('error', ended))
  const lease = await Lease.take(pool, options)
  log.info('this is the active hub')
  const tellOthers: HubReplica['tellOthers'] = (summary, now) =>
    hubList({ pool, own: { site_id, address, holder }, summary, now, log })
  return new HubReplica({ pool, lease, path: join(folder, 'plenum.db'), unlock, tellOthers, log })
}

type ReplicaParts = Pick<HubReplica, 'path' | 'tellOthers'> & { pool: Pool; lease: Lease; unlock: () => void; log: Logger }

export class HubReplica implements Replica {
  readonly path: string
  /** Has the other hubs know about this one, and this one about them. */
  readonly tellOthers: (summary: () => HubSummary, now: () => number) => HubList
  readonly #pool: Pool
  readonly #lease: Lease
  readonly #unlock: () => void
  readonly #failures: FailureLog
  #db: Database | undefined
  #log: WalPages | undefined
  #pageSize = 0
  /** Pages in the log since it began anew. */
  #logged = 0
  #timer: NodeJS.Timeout | undefined
  #storing: Promise<void> = Promise.resolve()
  /** Begins when what is being stored is stored, and stores everything that is committed by then. */
  #next: Promise<void> | undefined
  #trouble: StoringTrouble | undefined
  #isStopped = false

  constructor({ pool, lease, path, unlock, tellOthers, log }: ReplicaParts) {
    this.tellOthers = tellOthers
    this.#pool = pool
    this.#lease = lease
    this.#unlock = unlock
    this.path = path
    this.#failures = failureLog(log, NOT_STORED, "the cluster's database is up to date again")
  }

  async restore(): Promise<void> {
    await createTables(this.#pool)
    await restoreImage(this.#pool, this.path)
  }

  async follow(db: Database): Promise<void> {
    this.#db = db
    this.#pageSize = db.pragma('page_size', { simple: true }) as number
    // From here on the log may only begin anew when all of it has been read.
    db.pragma('wal_autocheckpoint = 0')
    skipEpochs(db)
    db.pragma('wal_checkpoint(TRUNCATE)')
    this.#log = new WalPages(this.path, this.#pageSize)
    await this.#store(await differingPages(this.#pool, this.path, this.#pageSize))
    this.#timer = setInterval(() => void this.flush().catch(() => undefined), STORE_EVERY_MS)
  }

  readonly flush = (): Promise<void> => {
    this.#next ??= this.#storing
      .catch(() => undefined)
      .then(() => {
        this.#storing = this.#next!
        this.#next = undefined
        return this.#storeCommitted()
      })
    return this.#next
  }

  /** Why what is committed is not in PostgreSQL. */
  readonly trouble = (): StoringTrouble | undefined => this.#trouble

  readonly stop = async (): Promise<void> => {
    clearInterval(this.#timer)
    const giveUp = setTimeout(() => (this.#isStopped = true), STOP_MS)
    await this.flush().catch(() => undefined)
    clearTimeout(giveUp)
    this.#isStopped = true
  }

  readonly leave = async (): Promise<void> => {
    if (this.#pool.ending) return
    await this.#lease.release().catch(() => undefined)
    await this.#pool.end()
    this.#unlock()
  }

  async #storeCommitted(): Promise<void> {
    const committed = this.#log?.read()
    if (!committed) return
    this.#logged += committed.pages.size
    if (this.#logged > LOG_MAX) {
      // All of the log has been read. A reader that needs its old pages makes it grow until the next time.
      this.#db!.pragma('wal_checkpoint(PASSIVE)')
      this.#logged = 0
    }
    await this.#store(committed)
  }

  async #store(pages: Pages): Promise<void> {
    for (;;) {
      try {
        await this.#lease.commit(client => storePages(client, pages, this.#pageSize))
        this.#trouble = undefined
        this.#failures.worked()
        return
      } catch (error) {
        if (this.#isStopped) throw error
        this.#trouble ??= { since: Date.now(), reason: errorText(error) }
        this.#failures.failed(error)
        await sleep(RETRY_MS)
      }
    }
  }
}

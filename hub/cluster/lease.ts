/**
 * Which of several hub processes of a site is the active one: a row in PostgreSQL that the active process renews. PostgreSQL's clock
 * alone decides whether it has expired, so that the clocks of the machines do not matter.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Pool, PoolClient } from 'pg'
import { errorText } from '#shared/core/error-text.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import type { RenewalOrder } from './lease-renewal.ts'
import { HOME_WAITS, monotonicMs, UNTIL } from './lease-time.ts'
import { createSchemaOf } from './site-schema.ts'

/** How often a standby asks whether it may take over. */
const ASK_EVERY_MS = SECOND
/** How often this thread shows that it works. */
const ALIVE_EVERY_MS = 500
const RENEWAL = new URL('./lease-renewal.ts', import.meta.url)
const TAKEN = 'another hub has taken over'

// The epoch is a key: a transaction that has locked it with FOR KEY SHARE can only be overtaken by renewals, by no takeover.
const TABLES = `
  CREATE TABLE IF NOT EXISTS plenum_lease (
    only_row integer PRIMARY KEY CHECK (only_row = 1), epoch bigint NOT NULL UNIQUE, holder text NOT NULL, until timestamptz NOT NULL);
  CREATE TABLE IF NOT EXISTS plenum_home (only_row integer PRIMARY KEY CHECK (only_row = 1), asked_at timestamptz NOT NULL)`
const FIRST = `INSERT INTO plenum_lease VALUES (1, 0, 'nobody', '-infinity') ON CONFLICT DO NOTHING`
// One that is at home takes it before any other.
const TAKE = `UPDATE plenum_lease SET epoch = epoch + 1, holder = $1, until = ${UNTIL}
  WHERE until < clock_timestamp() AND ($2 OR NOT EXISTS (${HOME_WAITS})) RETURNING epoch`
const ASK_AS_HOME = `INSERT INTO plenum_home VALUES (1, clock_timestamp())
  ON CONFLICT (only_row) DO UPDATE SET asked_at = excluded.asked_at`
const HOLD = 'SELECT holder FROM plenum_lease WHERE epoch = $1 FOR KEY SHARE'
const RELEASE = 'UPDATE plenum_lease SET until = clock_timestamp() WHERE epoch = $1'

type Taken = Pick<RenewalOrder, 'epoch' | 'takenAt'>

export type LeaseOptions = {
  /** The site whose hub this is; undefined for one of all sites. Each has a lease of its own. */
  site_id: string | undefined
  /** Name of this process, for the logs of the others. */
  holder: string
  /**
   * Whether the active hub belongs on this machine: then one that is active elsewhere gives way. Of several processes that wait,
   * this one goes first.
   */
  isHome: boolean
  log: Logger
  /** Called when another process has taken over, or could have: this process must end at once. */
  onLost(reason: string): void
  /** Called when the process of the home machine waits: this one should end in order. */
  onHomeWaits(): void
  /** For so long after it was taken the lease is not given back to the home machine, ms. */
  keepMs?: number
}

/** A hub whose home machine cannot keep it running goes to and fro no faster than this. */
const KEEP_MS = 5 * MINUTE

/** The lease as its holder sees it. */
export class Lease {
  readonly #pool: Pool
  readonly #epoch: string
  readonly #onLost: (reason: string) => void
  readonly #renewal: Worker
  readonly #alive: NodeJS.Timeout

  private constructor(pool: Pool, { epoch, takenAt }: Taken, { isHome, onLost, onHomeWaits, keepMs = KEEP_MS }: LeaseOptions) {
    this.#pool = pool
    this.#epoch = epoch
    this.#onLost = onLost
    const counter = new Int32Array(new SharedArrayBuffer(4))
    const order: RenewalOrder = {
      ...{ url: pool.options.connectionString!, epoch, counter, takenAt },
      keepMs: isHome ? undefined : keepMs,
    }
    this.#renewal = new Worker(RENEWAL, { workerData: order })
    this.#renewal.on('error', error => onLost(errorText(error)))
    this.#renewal.once('message', onHomeWaits)
    this.#renewal.unref()
    this.#alive = setInterval(() => Atomics.add(counter, 0, 1), ALIVE_EVERY_MS)
  }

  /** Waits as a standby until no other process holds the lease. */
  static async take(pool: Pool, options: LeaseOptions): Promise<Lease> {
    const { site_id, holder, isHome, log } = options
    let said = ''
    const say = (text: string) => {
      if (said !== text) log.info(text)
      said = text
    }
    for (;;) {
      try {
        if (site_id !== undefined) await pool.query(createSchemaOf(site_id))
        await pool.query(TABLES)
        await pool.query(FIRST)
        if (isHome) await pool.query(ASK_AS_HOME)
        const takenAt = monotonicMs()
        const { rows } = await pool.query<Pick<Taken, 'epoch'>>(TAKE, [holder, isHome])
        if (rows[0]) return new Lease(pool, { ...rows[0], takenAt }, options)
        const current = await pool.query<{ holder: string }>('SELECT holder FROM plenum_lease')
        say(`standby: ${current.rows[0]?.holder} is the active hub`)
      } catch (error) {
        say(`standby: the cluster's database cannot be used: ${errorText(error)}`)
      }
      await sleep(ASK_EVERY_MS)
    }
  }

  /**
   * Runs a transaction that is only committed while this process holds the lease.
   *
   * @throws Error when another process holds the lease, which is reported, or when PostgreSQL fails
   */
  async commit(work: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await this.#pool.connect()
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      if ((await client.query(HOLD, [this.#epoch])).rowCount !== 1) throw new Error(TAKEN)
      await work(client)
      await client.query('COMMIT')
    } catch (error) {
      failure = error as Error
      if (failure.message === TAKEN) this.#onLost(TAKEN)
      throw error
    } finally {
      // With an error the connection is closed, which takes the transaction back.
      client.release(failure)
    }
  }

  /** Lets another process take over at once. */
  async release(): Promise<void> {
    clearInterval(this.#alive)
    await this.#renewal.terminate()
    await this.#pool.query(RELEASE, [this.#epoch])
  }
}

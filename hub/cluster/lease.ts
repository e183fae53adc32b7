/**
 * Which of several hub processes is the active one: a row in PostgreSQL that the active process renews. PostgreSQL's clock
 * alone decides whether it has expired, so that the clocks of the machines do not matter.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { Pool, PoolClient } from 'pg'
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'
import type { RenewalOrder } from './lease-renewal.ts'
import { monotonicMs, UNTIL } from './lease-time.ts'

/** How often a standby asks whether it may take over. */
const ASK_EVERY_MS = SECOND
/** How often this thread shows that it works. */
const ALIVE_EVERY_MS = 500
const RENEWAL = new URL('./lease-renewal.ts', import.meta.url)
const TAKEN = 'another hub has taken over'

// The epoch is a key: a transaction that has locked it with FOR KEY SHARE can only be overtaken by renewals, by no takeover.
const TABLE = `CREATE TABLE IF NOT EXISTS plenum_lease (
  only_row integer PRIMARY KEY CHECK (only_row = 1), epoch bigint NOT NULL UNIQUE, holder text NOT NULL, until timestamptz NOT NULL)`
const FIRST = `INSERT INTO plenum_lease VALUES (1, 0, 'nobody', '-infinity') ON CONFLICT DO NOTHING`
const TAKE = `UPDATE plenum_lease SET epoch = epoch + 1, holder = $1, until = ${UNTIL} WHERE until < clock_timestamp() RETURNING epoch`
const HOLD = 'SELECT holder FROM plenum_lease WHERE epoch = $1 FOR KEY SHARE'
const RELEASE = 'UPDATE plenum_lease SET until = clock_timestamp() WHERE epoch = $1'

type Taken = Pick<RenewalOrder, 'epoch' | 'takenAt'>

/** The lease as its holder sees it. */
export class Lease {
  readonly #pool: Pool
  readonly #epoch: string
  readonly #onLost: (reason: string) => void
  readonly #renewal: Worker
  readonly #alive: NodeJS.Timeout

  private constructor(pool: Pool, { epoch, takenAt }: Taken, onLost: (reason: string) => void) {
    this.#pool = pool
    this.#epoch = epoch
    this.#onLost = onLost
    const counter = new Int32Array(new SharedArrayBuffer(4))
    const order: RenewalOrder = { url: pool.options.connectionString!, epoch, counter, takenAt }
    this.#renewal = new Worker(RENEWAL, { workerData: order })
    this.#renewal.on('error', error => onLost(errorText(error)))
    this.#renewal.unref()
    this.#alive = setInterval(() => Atomics.add(counter, 0, 1), ALIVE_EVERY_MS)
  }

  /**
   * Waits as a standby until no other process holds the lease.
   *
   * @param holder name of this process, for the logs of the others
   * @param onLost called when another process has taken over, or could have
   */
  static async take(pool: Pool, holder: string, log: Logger, onLost: (reason: string) => void): Promise<Lease> {
    let said = ''
    const say = (text: string) => {
      if (said !== text) log.info(text)
      said = text
    }
    for (;;) {
      try {
        await pool.query(TABLE)
        await pool.query(FIRST)
        const takenAt = monotonicMs()
        const { rows } = await pool.query<Pick<Taken, 'epoch'>>(TAKE, [holder])
        if (rows[0]) return new Lease(pool, { ...rows[0], takenAt }, onLost)
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

/**
 * Thread that renews the lease, so that a long step of the process does not lose it. When it cannot be renewed the process is
 * told, and ended when it does not listen: a little earlier than another one may take over.
 */
import { workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { SECOND } from '#shared/core/time.ts'
import { LEASE_MS, UNTIL } from './lease-time.ts'

export type RenewalOrder = {
  /** Of PostgreSQL. */
  url: string
  epoch: string
  /** Counts while the main thread turns. */
  turns: Int32Array
}

const EVERY_MS = 2 * SECOND
const SILENT_MAX_MS = LEASE_MS - SECOND
/** The main thread is taken for busy, not for dead, this long. */
const BUSY_MAX_MS = 30 * SECOND
/** A main thread that has turned within this time can be told. */
const TELL_MS = 2 * SECOND
const RENEW = `UPDATE plenum_lease SET until = ${UNTIL} WHERE epoch = $1`

const { url, epoch, turns } = workerData as RenewalOrder
let client: Client | undefined
/** When PostgreSQL last said that the lease is held, ms of the monotonic clock. */
let heldAt = performance.now()
let turned = { count: -1, at: performance.now() }

for (;;) {
  const begun = performance.now()
  const isHeld = await renew()
  if (isHeld) heldAt = begun
  lookAtMain()
  if (isHeld === false) lost('another hub has taken over')
  if (performance.now() - heldAt > SILENT_MAX_MS) lost("the cluster's database cannot be reached")
  if (performance.now() - turned.at > BUSY_MAX_MS) end()
  await new Promise(resolve => setTimeout(resolve, EVERY_MS))
}

/** @returns undefined when PostgreSQL does not say */
async function renew(): Promise<boolean | undefined> {
  try {
    client ??= await connect()
    return (await client.query(RENEW, [epoch])).rowCount === 1
  } catch {
    client?.end().catch(() => undefined)
    client = undefined
    return undefined
  }
}

async function connect(): Promise<Client> {
  const made = new Client({ connectionString: url, connectionTimeoutMillis: EVERY_MS, query_timeout: EVERY_MS, keepAlive: true })
  made.on('error', () => undefined)
  await made.connect()
  return made
}

function lookAtMain(): void {
  const count = Atomics.load(turns, 0)
  if (count !== turned.count) turned = { count, at: performance.now() }
}

/** Ends this thread with an error, which the main thread hears of when it turns. */
function lost(reason: string): never {
  if (performance.now() - turned.at > TELL_MS + EVERY_MS) end()
  throw new Error(reason)
}

function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/**
 * Thread that renews the lease, so that a long step of the process does not lose it. When it cannot be renewed the process is
 * told, and ended when it does not listen, before another one may take over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { SECOND } from '#shared/core/time.ts'
import { HOME_WAITS, LEASE_MS, monotonicMs, UNTIL } from './lease-time.ts'

export type RenewalOrder = {
  /** Of PostgreSQL. */
  url: string
  epoch: string
  /** The main thread counts here for as long as its event loop runs. */
  counter: Int32Array
  /** When the lease was asked for, ms of `monotonicMs`. */
  takenAt: number
  /** This long after it was taken the lease is given to the home machine when that waits; undefined where this machine is the home, ms. */
  keepMs: number | undefined
}

const EVERY_MS = 2 * SECOND
/** PostgreSQL may be silent for so long: a little shorter than another process has to wait. */
const SILENT_MAX_MS = LEASE_MS - SECOND
/** The main thread is taken for busy, not for dead, this long. */
const BUSY_MAX_MS = 30 * SECOND
/** A main thread that has counted within this time can be told. */
const TELL_MS = 2 * SECOND
/** A request that waits for an answer delays nobody who looks. */
const LOOK_EVERY_MS = 250
const RENEW = `UPDATE plenum_lease SET until = ${UNTIL} WHERE epoch = $1`

const { url, epoch, counter, takenAt, keepMs } = workerData as RenewalOrder
let client: Client | undefined
/** When the request was sent to which PostgreSQL last answered that the lease is held. */
let heldAt = takenAt
let counted = { count: -1, at: monotonicMs() }

setInterval(look, LOOK_EVERY_MS)
for (;;) {
  const begun = monotonicMs()
  const isHeld = await renew()
  if (isHeld) heldAt = begun
  if (isHeld === false) lost('another hub has taken over')
  const mayGiveBack = isHeld && keepMs !== undefined && begun - takenAt > keepMs
  if (mayGiveBack && (await doesHomeWait())) parentPort!.postMessage('home waits', [])
  await sleep(EVERY_MS)
}

function look(): void {
  const count = Atomics.load(counter, 0)
  if (count !== counted.count) counted = { count, at: monotonicMs() }
  if (monotonicMs() - heldAt > SILENT_MAX_MS) lost("the cluster's database cannot be reached")
  if (monotonicMs() - counted.at > BUSY_MAX_MS) end()
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

async function doesHomeWait(): Promise<boolean> {
  return client!.query(HOME_WAITS).then(
    ({ rowCount }) => rowCount === 1,
    () => false,
  )
}

async function connect(): Promise<Client> {
  const made = new Client({ connectionString: url, connectionTimeoutMillis: EVERY_MS, query_timeout: EVERY_MS, keepAlive: true })
  made.on('error', () => undefined)
  await made.connect()
  return made
}

/** Ends this thread with an error, which the main thread receives as an event. */
function lost(reason: string): never {
  if (monotonicMs() - counted.at > TELL_MS) end()
  throw new Error(reason)
}

function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** The database of the active hub in PostgreSQL, and who may go on with it. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { type HubReplica, joinCluster } from '#hub/cluster/replica.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { type Postgres, startPostgres } from '#scripts/lib/servers/postgres.ts'
import { type Database, openDatabase } from '#shared/node/sqlite.ts'
import { until } from '../support/folders.ts'
import pino from 'pino'

const silent = pino({ level: 'silent' })
const dir = mkdtempSync(join(tmpdir(), 'plenum-replica-'))
let postgres: Postgres
test.before(async () => {
  postgres = await startPostgres(dir, await freePort())
})
test.after.always(async () => {
  await postgres?.kill()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
})

let databases = 0
/** @returns the address of a database of its own */
function newDatabase(): string {
  const name = `hub_${++databases}`
  postgres.sql(`CREATE DATABASE ${name}`)
  return postgres.url.replace(/postgres$/, name)
}

type Hub = { replica: HubReplica; db: Database; lost: string[]; homeWaited: () => number }
type Given = { site_id?: string; isHome?: boolean; keepMs?: number }
async function activeHub(t: ExecutionContext, url: string, name: string, given: Given = {}): Promise<Hub> {
  const lost: string[] = []
  let waits = 0
  const folder = join(dir, `${t.title.replaceAll(/\W+/g, '-')}-${name}`)
  const replica = await joinCluster({
    ...{ url, folder, site_id: undefined, address: undefined, isHome: false, holder: name, log: silent },
    onLost: reason => void lost.push(reason),
    onHomeWaits: () => void waits++,
    ...given,
  })
  t.teardown(replica.leave)
  await replica.restore()
  const db = openDatabase(replica.path)
  t.teardown(() => db.close())
  t.teardown(replica.stop)
  await replica.follow(db)
  return { replica, db, lost, homeWaited: () => waits }
}
/** Stops as a hub does that ends in order. */
async function end({ replica, db }: Hub): Promise<void> {
  await replica.stop()
  db.close()
  await replica.leave()
}
const write = ({ db }: Hub, id: number, text = 'a note') =>
  db.prepare('INSERT INTO notes VALUES (?, ?)').run(`finding-${id}`, JSON.stringify({ text }))
const count = ({ db }: Hub) => db.prepare('SELECT count(*) FROM notes').pluck().get() as number

test.serial('a standby goes on with everything that was confirmed, once the active hub is silent', async t => {
  const url = newDatabase()
  const first = await activeHub(t, url, 'first')
  for (let i = 0; i < 3000; i++) {
    write(first, i, 'x'.repeat(i % 3000))
    if (i % 500 === 0) await first.replica.flush()
  }
  await first.replica.flush()
  const standby = activeHub(t, url, 'second')
  t.is(await Promise.race([standby.then(() => 'active'), sleep(3000, 'waits')]), 'waits')
  // Its lease is not renewed any more, and what it commits from now on was confirmed to nobody.
  await first.replica.leave()
  write(first, 9999)
  const second = await standby
  t.is(count(second), 3000)
  t.is(second.db.pragma('integrity_check', { simple: true }), 'ok')
  const epoch = ({ db }: Hub) => db.prepare('SELECT epoch FROM history_state').pluck().get() as number
  t.true(epoch(second) >= epoch(first) + 1000, 'its files have other names')
})

test.serial('a hub that another one has replaced confirms nothing', async t => {
  const url = newDatabase()
  const first = await activeHub(t, url, 'first')
  write(first, 1)
  await first.replica.flush()
  postgres.sql(`\\c hub_${databases}
    UPDATE plenum_lease SET epoch = epoch + 1, holder = 'second', until = now() + interval '1 minute'`)
  write(first, 2)
  const confirmed = first.replica.flush().then(() => 'confirmed')
  t.is(await Promise.race([confirmed, sleep(3000, 'waits')]), 'waits')
  t.deepEqual([...new Set(first.lost)], ['another hub has taken over'])
  postgres.sql(`\\c hub_${databases}
    UPDATE plenum_lease SET until = '-infinity'`)
  const third = await activeHub(t, url, 'third')
  t.is(count(third), 1)
})

test.serial('a restart of PostgreSQL delays what is confirmed, and loses nothing', async t => {
  const url = newDatabase()
  const hub = await activeHub(t, url, 'first')
  for (let i = 0; i < 100; i++) write(hub, i)
  await hub.replica.flush()
  await postgres.kill()
  write(hub, 100)
  const confirmed = hub.replica.flush()
  t.is(await Promise.race([confirmed.then(() => 'confirmed'), sleep(1500, 'waits')]), 'waits')
  t.regex(hub.replica.trouble()!.reason, /./)
  await postgres.start()
  await confirmed
  t.is(hub.replica.trouble(), undefined)
  await end(hub)
  const next = await activeHub(t, url, 'second')
  t.is(count(next), 101)
})

test.serial('a hub that PostgreSQL does not answer knows that another one may take over', async t => {
  const hub = await activeHub(t, newDatabase(), 'first')
  await hub.replica.flush()
  postgres.pause()
  const begun = performance.now()
  await until(() => hub.lost.length > 0, 'the lease is given up', 60_000)
  postgres.resume()
  t.log(`after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  t.deepEqual(hub.lost, ["the cluster's database cannot be reached"])
})

test.serial('one machine has one hub of a cluster folder', async t => {
  const url = newDatabase()
  const folder = join(dir, 'shared-folder')
  const options = {
    ...{ url, folder, site_id: undefined, address: undefined, isHome: false, holder: 'first', log: silent },
    ...{ onLost: () => undefined, onHomeWaits: () => undefined },
  }
  const first = await joinCluster(options)
  await t.throwsAsync(joinCluster(options), { message: /the cluster folder .* is in use by another process/ })
  await first.leave()
  const again = await joinCluster(options)
  await again.leave()
  t.is(statSync(folder).mode & 0o077, 0)
})

test.serial('a copy that is not whole is not used', async t => {
  const url = newDatabase()
  const hub = await activeHub(t, url, 'first')
  await end(hub)
  postgres.sql(`\\c hub_${databases}
    DELETE FROM plenum_pages WHERE page = 7`)
  await t.throwsAsync(activeHub(t, url, 'second'), { message: 'page 7 of the copy is not whole' })
})

test.serial('hubs of several sites share a database, and none sees what is of another', async t => {
  const url = newDatabase()
  const sites = new Map<string, Hub>()
  for (const site_id of ['A', 'Werk-1.Nord_2', undefined])
    sites.set(site_id ?? 'all', await activeHub(t, url, site_id ?? 'all', site_id === undefined ? {} : { site_id }))
  for (const [i, hub] of [...sites.values()].entries()) {
    for (let id = 0; id <= i; id++) write(hub, id)
    await hub.replica.flush()
  }
  t.deepEqual([...sites.values()].map(count), [1, 2, 3])
  await end(sites.get('A')!)
  const standby = await activeHub(t, url, 'A-standby', { site_id: 'A' })
  t.is(count(standby), 1)
  t.deepEqual(
    [...sites.values()].map(({ lost }) => lost),
    [[], [], []],
  )
})

test.serial('a hub gives way to the one of the home machine, and a third one waits', async t => {
  const url = newDatabase()
  const away = await activeHub(t, url, 'away', { keepMs: 4000 })
  write(away, 1)
  const third = activeHub(t, url, 'third')
  const home = activeHub(t, url, 'home', { isHome: true, keepMs: 0 })
  await sleep(2000)
  t.is(away.homeWaited(), 0, 'it is kept for a while')
  await until(() => away.homeWaited() > 0, 'the hub knows that the home machine waits')
  await end(away)
  t.is(await Promise.race([third.then(() => 'third'), home.then(() => 'home')]), 'home')
  t.is(count(await home), 1)
  const again = activeHub(t, url, 'away-again', { isHome: true })
  await sleep(5000)
  t.is((await home).homeWaited(), 0, 'a hub at home stays')
  await end(await home)
  await end(await again)
  t.is(count(await third), 1)
})

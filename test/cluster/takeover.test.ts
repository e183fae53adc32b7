/** Two hubs and one database in PostgreSQL: whatever is killed, each reading is stored exactly once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { startPostgres } from '#scripts/lib/servers/postgres.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { until } from '../support/folders.ts'
import { startRabbitmqCluster } from '../support/brokers/rabbitmq.ts'
import { clusterHub } from '../support/sites/cluster-hub.ts'
import { makeAuthority, page, startBroker, startEdge } from '../support/sites/transport-site.ts'
import { startTcpBalancer } from '../support/brokers/tcp-balancer.ts'
import { withHotRows } from '../support/sites/hot-rows.ts'

type Broker = { port: number; killNode(): Promise<void>; stop(): Promise<void> }

/** The embedded broker, which stays. */
async function embedded(certs: string): Promise<Broker> {
  const broker = await startBroker(certs)
  return { port: broker.port(), killNode: async () => undefined, stop: broker.stop }
}

/** Three nodes of RabbitMQ, of which the first is killed: the one that all clients are connected to. */
async function threeNodes(certs: string): Promise<Broker> {
  const { nodes, stop } = await startRabbitmqCluster(certs)
  const balancer = await startTcpBalancer(nodes.map(({ port }) => port))
  return {
    port: balancer.port,
    killNode: () => nodes[0]!.stop(),
    async stop() {
      await balancer.stop()
      await stop()
    },
  }
}

for (const [what, openBroker] of Object.entries({ 'the embedded broker': embedded, 'three nodes of RabbitMQ': threeNodes }))
  test.serial(
    `with ${what}: hubs, PostgreSQL and a broker are killed, and each reading is stored exactly once`,
    tryTakeovers,
    openBroker,
  )

async function tryTakeovers(t: ExecutionContext, openBroker: (certs: string) => Promise<Broker>) {
  t.timeout(840_000)
  const dir = mkdtempSync(join(tmpdir(), 'plenum-takeover-'))
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await openBroker(certs)
  const postgres = await startPostgres(dir, await freePort())
  t.teardown(async () => {
    await broker.stop()
    await postgres.kill()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })

  const env = {
    ...{ SERVICE_CLUSTER_URL: postgres.url, SERVICE_MQTT_HOST: '127.0.0.1' },
    ...{ SERVICE_MQTT_PORT: String(broker.port), SERVICE_MQTT_CERT_DIR: certs },
  }
  const workspace = join(dir, 'workspace')
  const a = await clusterHub(t, { dir, name: 'a', workspace, env })
  const b = await clusterHub(t, { dir, name: 'b', workspace, env })
  a.start()
  await a.untilActive()
  b.start()
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port })
  const edge = await startEdge(kit, join(dir, 'edge'))
  t.teardown(edge.stop)
  let pages = 0
  const send = async (count: number) => {
    for (let i = 0; i < count; i++) await edge.outbox.write(page(pages++))
  }
  const untilStored = (when: string) => until(() => edge.state().backlog === 0, `everything is stored ${when}`, 240_000)

  await send(20)
  await untilStored('by the first hub')
  t.false(await b.answers(), 'a standby answers nobody')

  for (const [ended, next] of [
    [a, b],
    [b, a],
  ] as const) {
    await send(20)
    await sleep(50)
    await ended.kill()
    await send(5)
    const tookMs = await next.untilActive()
    t.log(`another hub is active ${(tookMs / 1000).toFixed(1)} s after the active one was killed`)
    await untilStored('by another hub')
    ended.start()
  }

  await send(20)
  await sleep(50)
  await broker.killNode()
  await send(5)
  await untilStored('after a node of the broker was killed')

  await send(20)
  await postgres.kill()
  await send(5)
  await sleep(1000)
  t.true(edge.state().backlog > 0, 'nothing is acknowledged without PostgreSQL')
  await postgres.start()
  await untilStored('after PostgreSQL came back')

  const db = openReadOnly(((await a.answers()) ? a : b).db)
  t.teardown(() => db.close())
  // What is older than a day is in files, which both hubs see.
  const sealed = db.prepare('SELECT coalesce(sum(samples), 0) FROM part_points').pluck().get() as number
  const values = withHotRows(db).prepare('SELECT value FROM hot_rows ORDER BY ts').pluck().all() as number[]
  const expected = Array.from({ length: pages * 500 - sealed }, (_, i) => sealed + i)
  t.true(sealed > 0)
  t.is(values.join(), expected.join())
}

/** Two hubs and one database in PostgreSQL: whatever is killed, each reading is stored exactly once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { startPostgres } from '#scripts/lib/servers/postgres.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { until } from '../support/folders.ts'
import { startRabbitmqCluster } from '../support/brokers/rabbitmq.ts'
import { makeAuthority, page, startBroker, startEdge } from '../support/sites/transport-site.ts'
import { startTcpBalancer } from '../support/brokers/tcp-balancer.ts'

const MAIN = new URL('../../hub/central/main.ts', import.meta.url).pathname

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
  const running = new Map<string, ChildProcess>()
  t.teardown(async () => {
    for (const child of running.values()) child.kill('SIGKILL')
    await broker.stop()
    await postgres.kill()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })

  const ports = new Map([
    ['a', await freePort()],
    ['b', await freePort()],
  ])
  const start = (name: string) => {
    const env = {
      SERVICE_WORKSPACE: join(dir, 'workspace'),
      SERVICE_CLUSTER_URL: postgres.url,
      SERVICE_CLUSTER_DIR: join(dir, `hub-${name}`),
      ...{ SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(ports.get(name)), SERVICE_DEV_OPEN: '1' },
      ...{ SERVICE_MQTT_HOST: '127.0.0.1', SERVICE_MQTT_PORT: String(broker.port), SERVICE_MQTT_CERT_DIR: certs },
    }
    running.set(
      name,
      spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', openSync(join(dir, `hub-${name}.log`), 'a')] }),
    )
  }
  const kill = async (name: string) => {
    const child = running.get(name)!
    running.delete(name)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const answers = async (name: string) =>
    fetch(`http://127.0.0.1:${ports.get(name)}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  const untilActive = async (name: string) => {
    const begun = performance.now()
    while (!(await answers(name))) {
      if (performance.now() - begun > 120_000) throw new Error(`hub ${name} does not become the active one`)
      await sleep(100)
    }
    return performance.now() - begun
  }

  start('a')
  await untilActive('a')
  start('b')
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
  t.false(await answers('b'), 'a standby answers nobody')

  for (const [ended, next] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    await send(20)
    await sleep(50)
    await kill(ended)
    await send(5)
    const tookMs = await untilActive(next)
    t.log(`${next} is active ${(tookMs / 1000).toFixed(1)} s after ${ended} was killed`)
    await untilStored(`by ${next}`)
    start(ended)
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

  const active = (await answers('a')) ? 'a' : 'b'
  const db = openReadOnly(join(dir, `hub-${active}`, 'plenum.db'))
  t.teardown(() => db.close())
  // What is older than a day is in files, which both hubs see.
  const sealed = db.prepare('SELECT coalesce(sum(samples), 0) FROM part_points').pluck().get() as number
  const values = db.prepare('SELECT value FROM hot_samples ORDER BY ts').pluck().all() as number[]
  const expected = Array.from({ length: pages * 500 - sealed }, (_, i) => sealed + i)
  t.true(sealed > 0)
  t.is(values.join(), expected.join())
}

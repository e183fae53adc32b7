/** Two machines that share two sites: each is the home of one, and takes the other's as well when that machine is lost. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { startPostgres } from '#scripts/lib/servers/postgres.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { until } from '../support/folders.ts'
import { type ClusterHub, clusterHub } from '../support/sites/cluster-hub.ts'
import { makeAuthority, page, startBroker, startEdge } from '../support/sites/transport-site.ts'

const SITES = ['A', 'B'] as const
type Site = (typeof SITES)[number]

test('two machines share two sites, and one of them goes on with both', async t => {
  t.timeout(300_000)
  const dir = mkdtempSync(join(tmpdir(), 'plenum-sites-'))
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  const postgres = await startPostgres(dir, await freePort())
  t.teardown(async () => {
    await broker.stop()
    await postgres.kill()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })

  const addressOf = (site: Site) => `https://${site.toLowerCase()}.example.com`
  const folderOf = (site: Site) => join(dir, `pki-${site}`)
  for (const site of SITES) {
    await pki.central({ site_id: site })
    cpSync(certs, folderOf(site), { recursive: true })
  }
  const machine = async (home: Site): Promise<Map<Site, ClusterHub>> => {
    const hubs = SITES.map(async site => {
      const env = {
        ...{ SERVICE_CLUSTER_URL: postgres.url, SERVICE_CLUSTER_HOME: site === home ? '1' : '0' },
        SERVICE_CLUSTER_ADDRESS: addressOf(site),
        ...{ SERVICE_MQTT_HOST: '127.0.0.1', SERVICE_MQTT_PORT: String(broker.port()), SERVICE_MQTT_CERT_DIR: folderOf(site) },
      }
      const name = `${site}-at-home-of-${home}`
      return [site, await clusterHub(t, { dir, name, workspace: join(dir, `workspace-${site}`), env })] as const
    })
    return new Map(await Promise.all(hubs))
  }
  const [first, second] = [await machine('A'), await machine('B')]
  const [homes, standbys] = [
    [first.get('A')!, second.get('B')!],
    [first.get('B')!, second.get('A')!],
  ]
  for (const hub of homes) hub.start()
  for (const hub of homes) await hub.untilActive()
  for (const hub of standbys) hub.start()

  const othersOf = async ({ url }: ClusterHub) => {
    const { hubs } = (await (await fetch(`${url}/api/hubs`)).json()) as {
      hubs: { site_id: string; address: string; edges: number }[]
    }
    return hubs
  }
  let others = await othersOf(homes[0]!)
  for (; others.length === 0; others = await othersOf(homes[0]!)) await sleep(200)
  const [other, ...none] = others
  t.like(other, { site_id: 'B', address: addressOf('B'), edges: 0 })
  t.deepEqual(none, [])
  t.regex(await (await fetch(homes[0]!.url)).text(), /<h2>Other hubs<\/h2>[^]*<a href="https:\/\/b\.example\.com">B<\/a>/)

  const edges: SendingEdge[] = []
  for (const site of SITES) edges.push(await sendingEdge(t, pki, { site, dir, port: broker.port() }))
  const send = (count: number) => Promise.all(edges.map(edge => edge.send(count)))
  await send(20)
  for (const edge of edges) await edge.untilStored()
  for (const hub of standbys) t.false(await hub.answers(), 'a standby answers nobody')

  await send(20)
  await Promise.all([...first.values()].map(hub => hub.kill()))
  await send(5)
  const tookMs = await second.get('A')!.untilActive()
  t.log(`the other machine goes on with the site ${(tookMs / 1000).toFixed(1)} s after its machine was lost`)
  t.true(tookMs < 15_000)
  for (const edge of edges) await edge.untilStored()

  for (const [i, site] of SITES.entries()) {
    const db = openReadOnly(second.get(site)!.db)
    t.teardown(() => db.close())
    t.is(storedSamples(db), edges[i]!.samples())
    t.deepEqual(db.prepare('SELECT DISTINCT site_id FROM edges').pluck().all(), [site], 'each site has one owner')
  }
})

const storedSamples = (db: ReturnType<typeof openReadOnly>): number => {
  const sum = (sql: string) => db.prepare(sql).pluck().get() as number
  return sum('SELECT coalesce(sum(samples), 0) FROM part_points') + sum('SELECT coalesce(sum(samples), 0) FROM hot_chunks')
}

type SendingEdge = { send(pages: number): Promise<void>; untilStored(): Promise<void>; samples(): number }

async function sendingEdge(
  t: ExecutionContext,
  pki: Awaited<ReturnType<typeof makeAuthority>>,
  { site, dir, port }: { site: Site; dir: string; port: number },
): Promise<SendingEdge> {
  const kit = await pki.kit({ site_id: site, edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port })
  const edge = await startEdge(kit, join(dir, `edge-${site}`))
  t.teardown(edge.stop)
  let pages = 0
  return {
    async send(count) {
      for (let i = 0; i < count; i++) await edge.outbox.write(page(pages++))
    },
    untilStored: () => until(() => edge.state().backlog === 0, `everything of site ${site} is stored`, 120_000),
    samples: () => pages * 500,
  }
}

/** Imports and deployments of rules while a hub, PostgreSQL or the broker is killed: they are whole once they are repeated. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { startPostgres } from '#scripts/lib/servers/postgres.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { until } from '../support/folders.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { warmRule } from '../support/rule-texts.ts'
import { type ClusterHub, clusterHub } from '../support/sites/cluster-hub.ts'
import { edgeSelf, makeAuthority, page, startBroker, startEdge } from '../support/sites/transport-site.ts'
import { withHotRows } from '../support/sites/hot-rows.ts'

const ROWS = 4_000
const RULES = 12

test('imports, deployments and readings that are cut by kills are whole once they are repeated, and nothing is stored twice', async t => {
  t.timeout(840_000)
  const dir = mkdtempSync(join(tmpdir(), 'plenum-changes-'))
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  let broker = await startBroker(certs)
  const brokerPort = broker.port()
  const postgres = await startPostgres(dir, await freePort())
  t.teardown(async () => {
    await broker.stop()
    await postgres.kill()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const env = {
    ...{ SERVICE_CLUSTER_URL: postgres.url, SERVICE_MQTT_HOST: '127.0.0.1' },
    ...{ SERVICE_MQTT_PORT: String(brokerPort), SERVICE_MQTT_CERT_DIR: certs },
  }
  const workspace = join(dir, 'workspace')
  const hubs = [
    await clusterHub(t, { dir, name: 'a', workspace, env, isRestarted: true }),
    await clusterHub(t, { dir, name: 'b', workspace, env, isRestarted: true }),
  ]
  hubs[0]!.start()
  await hubs[0]!.untilActive()
  hubs[1]!.start()
  const activeHub = async (): Promise<ClusterHub> => {
    for (;;) {
      for (const hub of hubs) if (await hub.answers()) return hub
      await sleep(100)
    }
  }
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: brokerPort })
  const edge = await startEdge(kit, join(dir, 'edge'))
  t.teardown(edge.stop)

  const kills = {
    async hub() {
      const hub = await activeHub()
      await hub.kill()
      await hubs.find(one => one !== hub)!.untilActive()
      hub.start()
    },
    async PostgreSQL() {
      await postgres.kill()
      await sleep(500)
      await postgres.start()
    },
    async broker() {
      await broker.stop()
      broker = await startBroker(certs, brokerPort)
    },
  }
  const send = async (method: string, path: string, body?: FormData | object) => {
    const form = body instanceof FormData
    const { url } = await activeHub()
    const answer = await fetch(url + path, {
      method,
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
      ...(body !== undefined && !form && { headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    return { status: answer.status, text, body: JSON.parse(text) as any }
  }
  const importOf = async (building_id: string) => {
    const zip = zipForm(await zipOf(airHandler(table(rows(ROWS)), { manifest: { building_id } })))
    const { session_id } = (await send('POST', '/api/csv/import/preflight', zip)).body as { session_id: string }
    return async () => send('POST', '/api/csv/import/execute', { session_id, confirm: true })
  }
  const rulesOf = (round: string) => {
    const rules = Array.from({ length: RULES }, (_, n) => ({ yaml: warmRule(`TEST-${round}-${n}`, 60 + n) }))
    return async () => async () => send('POST', '/api/rules/batch', { confirm: true, rules })
  }
  /** A hub that PostgreSQL has not answered for a while ends, and another one takes over. */
  const prepared = async <T>(make: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await make()
      } catch (error) {
        if (tries === 20) throw error
        await sleep(1000)
      }
    }
  }
  /** Begins a change, has somebody killed in the middle, and repeats it until it is answered. */
  const cut = async (who: keyof typeof kills, afterMs: number, make: () => Promise<() => ReturnType<typeof send>>) => {
    const change = await prepared(make)
    const first = change().then(
      ({ status }) => String(status),
      () => 'no answer',
    )
    await sleep(afterMs)
    await kills[who]()
    t.log(`${who} killed after ${afterMs.toFixed(0)} ms: ${await first}`)
    for (let tries = 1; ; tries++) {
      const again = await (await make())().catch(() => undefined)
      if (again?.status === 200) return
      if (tries === 20) throw new Error(`it is whole when it is repeated: ${again?.text}`)
      await sleep(1000)
    }
  }

  // How long each takes when nobody is killed says where its middle is.
  const calm = await importOf('calm')
  const begunMs = performance.now()
  await calm()
  const importMs = performance.now() - begunMs
  const deploymentMs = performance.now()
  t.is((await (await rulesOf('CALM')())()).status, 200)
  const rulesMs = performance.now() - deploymentMs
  t.log(`an import takes ${importMs.toFixed(0)} ms, a deployment ${rulesMs.toFixed(0)} ms`)

  let pages = 0
  const buildings = ['calm']
  const rounds = ['CALM']
  for (const who of ['hub', 'PostgreSQL', 'broker'] as const) {
    const round = `R${rounds.length}`
    for (let i = 0; i < 5; i++) await edge.outbox.write(page(pages++))
    await cut(who, importMs * Math.random() * 0.7, () => importOf(`b-${round}`))
    buildings.push(`b-${round}`)
    await cut(who, rulesMs * Math.random(), rulesOf(round))
    rounds.push(round)
  }
  await until(() => edge.state().backlog === 0, 'the readings of the edge are stored', 120_000)

  const { body } = await send('GET', '/rules')
  const deployed = (body.files as { rules: string[] }[]).flatMap(file => file.rules).filter(id => id.startsWith('TEST-'))
  t.is(deployed.length, rounds.length * RULES)
  t.is(new Set(deployed).size, rounds.length * RULES)
  const hub = await activeHub()
  const db = openReadOnly(hub.db)
  t.teardown(() => db.close())
  const points = 'history_points AS p JOIN history_buildings AS b ON b.building = p.building WHERE b.building_id = :id'
  const sealed = db.prepare(`SELECT coalesce(sum(samples), 0) FROM part_points WHERE point IN (SELECT point FROM ${points})`)
  const hot = withHotRows(db).prepare(
    `SELECT value FROM hot_rows WHERE (building, point) IN (SELECT p.building, p.point FROM ${points}) ORDER BY value`,
  )
  const stored = (id: string) => ({
    sealed: sealed.pluck().get({ id }) as number,
    hot: hot.pluck().all({ id }) as number[],
  })
  for (const id of buildings) t.is(stored(id).sealed + stored(id).hot.length, 3 * ROWS, id)
  // The values of the edge are their numbers, and the first of them are sealed first.
  const readings = stored(edgeSelf('A', 'e1').model().building.building_id)
  t.is(readings.hot.join(), Array.from({ length: pages * 500 - readings.sealed }, (_, i) => readings.sealed + i).join())
})

/** Two tenants whose edges have one site id and one edge id, over the real broker with real certificates. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { createMqttSubscriber } from '#hub/ingest/mqtt-subscriber.ts'
import { readCentralFiles } from '#hub/broker/files.ts'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { folder, until } from '../../support/folders.ts'
import { makeAuthority, reading, silent, startBroker, startEdge } from '../../support/sites/transport-site.ts'
import { unchanging } from '../../support/unchanging.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

async function openStore(t: ExecutionContext, dir: string) {
  const db = openDatabase(join(dir, 'plenum.db'))
  const [model, edges, claims] = [modelStore(db), edgeStore(db), edgeClaimStore(db)]
  const service = createIngestService({ inbox: openInbox(db), model, edges, claims, clock: wallClock, log: silent })
  await service.start()
  t.teardown(async () => {
    await service.stop()
    db.close()
  })
  const values = withHotRows(db).prepare('SELECT value FROM hot_rows ORDER BY ts').pluck()
  return { service, edges, values: () => values.all() }
}

test('edges of two tenants and of the hub itself under one site and edge id store and are acknowledged apart', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  await pki.central({ site_id: '*', tenants: true })
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const port = broker.port()
  const [own, acme, other] = [await openStore(t, folder(t)), await openStore(t, folder(t)), await openStore(t, folder(t))]
  const byTenant = new Map([
    ['acme', { ingestService: acme.service, monitor: new MqttMonitor(Date.now) }],
    ['other', { ingestService: other.service, monitor: new MqttMonitor(Date.now) }],
  ])
  const monitor = new MqttMonitor(Date.now)
  const subscriber = createMqttSubscriber({
    files: unchanging(await readCentralFiles(certs)),
    ingestService: own.service,
    monitor,
    tenants: { of: tenant_id => byTenant.get(tenant_id), all: () => [...byTenant.values()] },
    broker: { host: '127.0.0.1', port },
    log: silent,
  })
  await subscriber.start()
  t.teardown(subscriber.stop)
  const place = { site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port }
  const start = async (tenant_id: string | undefined) => {
    const edge = await startEdge(await pki.kit({ ...place, tenant_id }), folder(t))
    t.teardown(edge.stop)
    return edge
  }
  const [ofHub, ofAcme, ofOther, ofNobody] = [
    await start(undefined),
    await start('acme'),
    await start('other'),
    await start('unknown'),
  ]
  await ofHub.outbox.write([reading(1)])
  for (const n of [2, 3]) await ofAcme.outbox.write([reading(n)])
  for (const n of [4, 5, 6]) await ofOther.outbox.write([reading(n)])
  await ofNobody.outbox.write([reading(7)])
  const edges = [ofHub, ofAcme, ofOther]
  await until(() => edges.every(edge => edge.state().backlog === 0), 'everything of known tenants is acknowledged')
  t.deepEqual([own.values(), acme.values(), other.values()], [[1], [2, 3], [4, 5, 6]])
  const seen = monitor.messages(0, {}, 200).messages.map(({ topic }) => topic)
  t.true(seen.includes('sites/A/edges/e1/telemetry/bacnet'))
  t.deepEqual(
    seen.filter(topic => !topic.startsWith('sites/')),
    [],
    'the monitor of the hub shows nothing of a tenant',
  )
  for (const [tenant_id, { monitor: ofTenant }] of byTenant) {
    const topics = ofTenant.messages(0, {}, 200).messages.map(({ topic }) => topic)
    t.true(topics.length > 0)
    t.true(
      topics.every(topic => topic.startsWith(`tenants/${tenant_id}/`)),
      'nor that of a tenant anything of another',
    )
    t.true(ofTenant.stats().connected)
  }
  t.is(ofNobody.state().backlog, 1, 'an edge of an unknown tenant keeps what it has')
  for (const store of [own, acme, other]) t.is(store.edges.list().length, 1)
  t.deepEqual(broker.sessions(), ['central:*:*', 'edge:A:e1', 'edge:acme:A:e1', 'edge:other:A:e1', 'edge:unknown:A:e1'])
})

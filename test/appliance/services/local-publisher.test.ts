/** An edge and the central on its box, over real HTTP; and the same central by a real broker too. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { createMqttSubscriber } from '#hub/ingest/mqtt-subscriber.ts'
import { readCentralFiles } from '#hub/broker/files.ts'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { LocalPublisher } from '#appliance/services/local-publisher.ts'
import { wallClock } from '#shared/node/clock.ts'
import { folder, until } from '../../support/folders.ts'
import { startCentral, startLocalEdge, TOKEN } from '../../support/sites/local-site.ts'
import {
  edgeModel,
  edgeSelf,
  makeAuthority,
  reading,
  silent,
  startBroker,
  testOutbox,
  kitsOf,
} from '../../support/sites/transport-site.ts'
import { unchanging } from '../../support/unchanging.ts'

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

test('readings, model and status arrive, and the outbox forgets what is stored', async t => {
  const dir = folder(t)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  const edge = await startLocalEdge(`${central.url}/`, join(dir, 'outbox'))
  t.teardown(edge.stop)
  for (let n = 1; n <= 60; n++) await edge.outbox.write([reading(n)])
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    central.samples().map(({ v }) => v),
    upTo(60),
  )
  t.is(central.model.points('building-A').length, 2)
  t.like(central.edges.get('A', 'e1'), { online: true, status: 'operational', building_id: 'building-A' })
  t.like(central.edges.get('A', 'e1')?.status_body, { runs_rules: false, via: 'local' })
  t.like(edge.state(), { state: 'up', rejected: 0, dropped: 0, cert_not_after: null })
  t.is(central.ingestService.counters().ingest_ok, 60)
  t.like(central.ingestService.ingest.registry.pollReports(), [{ edge_id: 'e1', report: { cycles: 7 } }])
  await edge.stop()
  t.is(central.edges.get('A', 'e1')?.online, false)
})

test('central starts again and again while the edge writes: nothing is lost or doubled, in order', async t => {
  const dir = folder(t)
  let central = await startCentral(join(dir, 'central'), { token: TOKEN })
  const { port, url } = central
  let edge = await startLocalEdge(url, join(dir, 'outbox'))
  t.teardown(async () => {
    await edge.stop()
    await central.stop()
  })
  let written = 0
  for (const part of ['central', 'edge', 'central'] as const) {
    for (const stop = written + 40; written < stop; ) await edge.outbox.write([reading(++written)])
    if (part === 'central') {
      await central.stop()
      for (const stop = written + 10; written < stop; ) await edge.outbox.write([reading(++written)])
      await until(() => edge.state().reason !== undefined, 'the edge has noticed')
      t.regex(edge.state().reason ?? '', /does not answer: /)
      central = await startCentral(join(dir, 'central'), { token: TOKEN, port })
    } else {
      await edge.stop()
      edge = await startLocalEdge(url, join(dir, 'outbox'))
    }
  }
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    central.samples().map(({ v }) => v),
    upTo(written),
  )
  t.is(edge.state().reason, undefined)
})

test('a central that has lost its workspace gets what is left, and the model again', async t => {
  const dir = folder(t)
  const first = await startCentral(join(dir, 'central'), { token: TOKEN })
  const edge = await startLocalEdge(first.url, join(dir, 'outbox'))
  t.teardown(edge.stop)
  for (let n = 1; n <= 5; n++) await edge.outbox.write([reading(n)])
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  await first.stop()
  const second = await startCentral(join(dir, 'other'), { token: TOKEN, port: first.port })
  t.teardown(second.stop)
  await edge.outbox.write([reading(6)])
  await until(() => second.samples().length === 6, 'everything that is left arrives')
  t.is(second.model.points('building-A').length, 2)
})

test('a token that central does not take, and a port that is another program’s, are told and lose nothing', async t => {
  const dir = folder(t)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  const stranger = await startLocalEdge(central.url, join(dir, 'stranger'), { token: 'x'.repeat(32) })
  t.teardown(stranger.stop)
  await stranger.outbox.write([reading(1)])
  await until(() => stranger.state().reason !== undefined, 'the refusal is told')
  t.regex(stranger.state().reason ?? '', /answers 401: The token is not valid/)
  t.is(stranger.state().backlog, 1)

  for (const [said, why] of [
    ['<html>printer</html>', /the answer of central is not readable: through_seq must be/],
    ['x'.repeat(1024 * 1024), /more than 262144 bytes/],
  ] as const) {
    const other = createServer((_request, response) => response.end(said)).listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.teardown(() => other.close())
    const lost = await startLocalEdge(
      `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
      join(dir, `lost-${said.length}`),
    )
    t.teardown(lost.stop)
    await lost.outbox.write([reading(1)])
    await until(() => lost.state().reason !== undefined, 'it is told')
    t.regex(lost.state().reason ?? '', why)
    t.like(lost.state(), { state: 'connecting', backlog: 1 })
  }
})

test('what central refuses is kept aside with its reason, and the rest arrives', async t => {
  const dir = folder(t)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  const edge = await startLocalEdge(central.url, join(dir, 'outbox'))
  t.teardown(edge.stop)
  await edge.outbox.write([{ ...reading(1), id: 'nobody' }, reading(2)])
  await edge.outbox.write([reading(3)])
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    central.samples().map(({ v }) => v),
    [2, 3],
  )
  t.is(edge.state().rejected, 1)
})

test('a point that is new to the edge is told to central before its first reading', async t => {
  const dir = folder(t)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  const outbox = await testOutbox(join(dir, 'outbox'), ['central'])
  const [whole, edge] = [edgeModel('A'), edgeSelf('A', 'e1')]
  let model = { ...whole, points: whole.points.filter(({ point_id }) => point_id === 'p1') }
  const parts = { outbox, edge: { ...edge, model: () => model }, clock: wallClock, log: silent }
  const publisher = new LocalPublisher({ ...parts, central: { url: central.url, token: TOKEN } })
  await publisher.start()
  t.teardown(async () => {
    await publisher.stop()
    await outbox.close()
  })
  await outbox.write([reading(1)])
  await until(() => central.samples().length === 1, 'the first reading')
  t.is(central.model.points('building-A').length, 1)
  model = whole
  await outbox.write([reading(2), { ...reading(3), id: 'p2' }])
  await until(() => publisher.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    central.samples().map(({ id, v }) => `${id} ${v}`),
    ['p1 1', 'p1 2', 'p2 3'],
  )
  t.is(publisher.state().rejected, 0)
})

test('both ways to the same central, with restarts of broker, central and edge: everything is stored once', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  let broker = await startBroker(join(dir, 'pki'))
  const place = { host: '127.0.0.1', port: broker.port() }
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: place.host, broker_port: place.port })
  const startBoth = async (port: number) => {
    const central = await startCentral(join(dir, 'central'), { token: TOKEN, port })
    const files = await readCentralFiles(join(dir, 'pki'))
    const hears = createMqttSubscriber({
      files: unchanging(files),
      ingestService: central.ingestService,
      monitor: new MqttMonitor(Date.now),
      broker: place,
      log: silent,
    })
    await hears.start()
    return {
      ...central,
      stop: async () => {
        await hears.stop()
        await central.stop()
      },
    }
  }
  const startEdge = async (url: string) => {
    const outbox = await testOutbox(join(dir, 'outbox'), ['hub', 'central'])
    const parts = { outbox, edge: edgeSelf('A', 'e1'), clock: wallClock, log: silent }
    const [mqtt, local] = [
      new MqttPublisher({ ...parts, kits: kitsOf(kit, dir) }),
      new LocalPublisher({ ...parts, central: { url, token: TOKEN } }),
    ]
    await mqtt.start()
    await local.start()
    return {
      outbox,
      backlog: () => mqtt.state().backlog + local.state().backlog,
      stop: async () => {
        await mqtt.stop()
        await local.stop()
        await outbox.close()
      },
    }
  }
  let central = await startBoth(0)
  const { port, url } = central
  let edge = await startEdge(url)
  t.teardown(async () => {
    await edge.stop()
    await central.stop()
    await broker.stop()
  })
  let [written, stored] = [0, 0]
  for (const part of ['broker', 'central', 'edge', 'central'] as const) {
    for (const stop = written + 40; written < stop; ) await edge.outbox.write([reading(++written)])
    if (part === 'broker') {
      await broker.stop()
      broker = await startBroker(join(dir, 'pki'), place.port)
    } else if (part === 'central') {
      await central.stop()
      stored += central.ingestService.counters().ingest_ok
      central = await startBoth(port)
    } else {
      await edge.stop()
      edge = await startEdge(url)
    }
  }
  await until(() => edge.backlog() === 0, 'both ways have everything acknowledged', 60_000)
  t.deepEqual(
    central.samples().map(({ v }) => v),
    upTo(written),
  )
  t.is(stored + central.ingestService.counters().ingest_ok, written)
})

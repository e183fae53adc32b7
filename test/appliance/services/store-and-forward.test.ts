import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { folder, until } from '../../support/folders.ts'
import {
  makeAuthority,
  openHubSite,
  page,
  reading,
  startBroker,
  startEdge,
  startHub,
  testOutbox,
} from '../../support/sites/transport-site.ts'

test('readings and their building arrive while everything runs, and the outbox forgets them', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)

  for (let n = 1; n <= 120; n++) await edge.outbox.write([reading(n)])
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: 120 }, (_, i) => i + 1),
  )
  await until(() => hub.edges.get('A', 'e1')?.online === true, 'the session is known')
  t.is(hub.edges.get('A', 'e1')?.building_id, 'building-A')
  t.is(hub.model.points('building-A').length, 2)
  await until(() => hub.edges.get('A', 'e1')?.last_data_at === reading(120).t, 'freshness is known')
  t.is(edge.state().state, 'up')
  t.is(hub.counters().ingest_ok, 120)

  await edge.stop()
  await until(() => hub.edges.get('A', 'e1')?.online === false, 'the good-bye is known')
  const offset = hub.edges.get('A', 'e1')?.status_body['clock_offset_ms'] as number
  t.true(Math.abs(offset) < 5_000, `one machine has one clock: ${offset} ms`)
})

test('a hub that cannot write what it knows of edges goes on, and writes it when it can', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  await edge.outbox.write([reading(1)])
  await until(() => hub.edges.get('A', 'e1')?.last_data_at === reading(1).t, 'freshness is known')

  let refused = 0
  hub.db.function('refuse', () => {
    refused++
    throw new Error('database or disk is full')
  })
  hub.db.exec('CREATE TEMP TRIGGER full BEFORE UPDATE ON edges BEGIN SELECT refuse(); END')
  await edge.outbox.write([reading(2)])
  await until(() => refused >= 2, 'the hub has tried twice')
  t.is(hub.samples().length, 2)
  t.is(hub.edges.get('A', 'e1')?.last_data_at, reading(1).t)
  hub.db.exec('DROP TRIGGER full')
  await until(() => hub.edges.get('A', 'e1')?.last_data_at === reading(2).t, 'freshness is known again')
})

test('after an outage the newest readings are shown before the backlog has arrived', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const outbox = await testOutbox(join(dir, 'outbox'), ['hub'])
  const count = 80
  await Promise.all(Array.from({ length: count }, (_, i) => outbox.write([reading(i + 1)])))
  await outbox.close()
  let storedBefore: number | undefined
  const { live } = hub.ingestService.ingest
  const record = live.record.bind(live)
  live.record = (...shown) => {
    storedBefore ??= hub.samples().length
    record(...shown)
  }
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.is(storedBefore, 0)
  t.like(live.of('building-A', 'p1', Date.now()), { v: 42 })
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: count }, (_, i) => i + 1),
    'what was shown is not stored',
  )
})

test('a certificate that is revoked while a backlog drains ends it, and with another one the rest arrives: each once', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const hub = await startHub(certs, join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  const kitOf = () => pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const outbox = await testOutbox(join(dir, 'outbox'), ['hub'])
  const pages = 400
  for (let n = 0; n < pages; n++) await outbox.write(page(n))
  await outbox.close()
  const values = () => hub.samples().map(({ v }) => v)
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n).join()

  const edge = await startEdge(await kitOf(), join(dir, 'outbox'))
  await until(() => hub.counters().ingest_ok > 0, 'the first page is stored', 20_000)
  await pki.revoke((await pki.list()).find(({ cn }) => cn === 'edge:A:e1')!.serial)
  await until(() => !broker.sessions().includes('edge:A:e1'), 'its session has ended', 20_000)
  await until(() => edge.state().state === 'connecting', 'the edge says so', 20_000)
  const waiting = edge.state().backlog
  t.true(waiting > 0, 'it was in the middle')
  await edge.stop()
  const before = values()
  t.true(before.length < pages * 500)
  t.is(before.join(), upTo(before.length), 'what is stored has no gap')

  const again = await startEdge(await kitOf(), join(dir, 'outbox'))
  t.teardown(again.stop)
  await until(() => again.state().backlog === 0, 'the rest is acknowledged', 60_000)
  t.is(values().join(), upTo(pages * 500))
  t.like(again.state(), { dropped: 0, rejected: 0 })
})

test('broker, hub and edge start again at random: nothing is lost, nothing is doubled, in order', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  let broker = await startBroker(join(dir, 'pki'))
  const port = broker.port()
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port })
  let edge = await startEdge(kit, join(dir, 'outbox'))
  let hub = await startHub(join(dir, 'pki'), join(dir, 'hub'), port)
  t.teardown(async () => {
    await edge.stop()
    await hub.stop()
    await broker.stop()
  })
  const restart = {
    broker: async () => {
      await broker.stop()
      broker = await startBroker(join(dir, 'pki'), port)
    },
    hub: async () => {
      await hub.stop()
      hub = await startHub(join(dir, 'pki'), join(dir, 'hub'), port)
    },
    edge: async () => {
      await edge.stop()
      edge = await startEdge(kit, join(dir, 'outbox'))
    },
  }
  let written = 0
  for (const part of ['hub', 'broker', 'edge', 'broker', 'hub', 'edge'] as const) {
    for (const upTo = written + 60; written < upTo; ) await edge.outbox.write([reading(++written)])
    await restart[part]()
  }
  await edge.outbox.write([reading(++written)])
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: written }, (_, i) => i + 1),
  )
})

test('an edge that is killed while it writes and sends loses nothing that it had written', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  await writeKit(kit, join(dir, 'kit'))
  const script = new URL('edge-process.ts', import.meta.url).pathname
  let written = 0
  for (const rounds of [30, 90, 45]) {
    const child: ChildProcess = spawn(process.execPath, [script, join(dir, 'kit'), join(dir, 'outbox'), String(written)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    const wanted = written + rounds
    for await (const line of createInterface({ input: child.stdout! })) {
      written = Number(line)
      if (written >= wanted) child.kill('SIGKILL')
    }
    await ended
  }
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  await until(() => edge.state().backlog === 0 && edge.state().last_ack_at !== null, 'everything acknowledged')
  const stored = hub.samples().map(({ v }) => v)
  t.deepEqual(
    stored.slice(0, written),
    Array.from({ length: written }, (_, i) => i + 1),
  )
  t.is(new Set(stored).size, stored.length)
})

test('a hub that is killed while it stores loses nothing that it acknowledged, and stores nothing twice', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const broker = await startBroker(join(dir, 'pki'))
  t.teardown(broker.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  const script = new URL('../../hub/broker/hub-process.ts', import.meta.url).pathname
  let written = 0
  for (const more of [40, 110, 75]) {
    const child = spawn(process.execPath, [script, join(dir, 'pki'), join(dir, 'hub'), String(broker.port())], {
      stdio: 'inherit',
    })
    const ended = once(child, 'exit')
    const acked = written - edge.state().backlog
    for (const upTo = written + 200; written < upTo; ) await edge.outbox.write([reading(++written)])
    await until(() => written - edge.state().backlog >= acked + more, 'some are acknowledged')
    child.kill('SIGKILL')
    await ended
  }
  const hub = await startHub(join(dir, 'pki'), join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: written }, (_, i) => i + 1),
  )
})

test('a hub that is down from the start holds up nothing; what was measured arrives when it comes', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const first = await startBroker(join(dir, 'pki'))
  const port = first.port()
  await first.stop()
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port })
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  for (let n = 1; n <= 20; n++) await edge.outbox.write([reading(n)])
  await until(() => edge.state().reason !== undefined, 'the reason is shown')
  t.is(edge.state().state, 'connecting')
  t.is(edge.state().backlog, 20)
  t.regex(edge.state().reason ?? '', /ECONNREFUSED/)

  const broker = await startBroker(join(dir, 'pki'), port)
  t.teardown(broker.stop)
  await until(() => edge.state().state === 'up', 'connected without a hub')
  t.is(edge.state().backlog, 20)
  const hub = await startHub(join(dir, 'pki'), join(dir, 'hub'), port)
  t.teardown(hub.stop)
  await until(() => edge.state().backlog === 0, 'everything acknowledged')
  t.is(hub.samples().length, 20)
})

test('what was thinned for want of room is counted, and the rest arrives in a new stream: a value of every quarter of an hour', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const broker = await startBroker(join(dir, 'pki'))
  t.teardown(broker.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const small = 256 * 1024
  const before = await startEdge(kit, join(dir, 'outbox'), small)
  const early = await startHub(join(dir, 'pki'), join(dir, 'hub'), broker.port())
  await before.outbox.write([reading(0)])
  await until(() => before.state().backlog === 0 && before.state().last_ack_at !== null, 'the first is stored')
  await early.stop()

  const many = Array.from({ length: 500 }, (_, i) => i)
  for (let n = 0; n < 20; n++) await before.outbox.write(many.map(i => reading(1 + n * 500 + i)))
  const { dropped, thinned, backlog } = before.state()
  t.is(dropped, 0)
  t.true(thinned > 0 && thinned < 20 && backlog > 20 - thinned, `${thinned} thinned, ${backlog} left`)
  const hub = await startHub(join(dir, 'pki'), join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  t.teardown(before.stop)
  await until(() => before.state().backlog === 0, 'the rest is acknowledged')
  const stored = hub.samples().map(({ v }) => v)
  const live = (20 - thinned) * 500
  t.deepEqual(
    stored.slice(-live),
    Array.from({ length: live }, (_, i) => 10_001 - live + i),
  )
  const quarters = new Set(stored.map(second => Math.floor(second / 900)))
  t.is(quarters.size, Math.floor(10_000 / 900) + 1)
  t.true(stored.length < live + 50, `${stored.length} of 10,001 are stored`)
})

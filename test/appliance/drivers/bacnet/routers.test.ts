/** Devices behind routers: several networks with equal addresses, small and slow ones, and a router that refuses. */
import test, { type ExecutionContext } from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { createInvokeIds } from '#appliance/drivers/bacnet/core/invoke-ids.ts'
import type { ReadRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import type { Interface } from '#appliance/drivers/bacnet/interfaces.ts'
import type { RequestOutcome } from '#appliance/drivers/bacnet/outcome.ts'
import { createSlotQueue } from '#appliance/drivers/bacnet/slot-queue.ts'
import { CANCELLED, Transaction } from '#appliance/drivers/bacnet/transaction.ts'
import { openBacnetRouter, type Station, type Trunk } from '#scripts/simulator/bacnet/router.ts'
import { inputs, never, openTransport, patient, range } from './harness.ts'
import { datagram, hex } from '../../../support/wire.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'

const question: ReadRequest = { service: 12, targets: [{ type: 0, instance: 1, property: 85 }] }

const station = (device_instance: number, mac: number[], holds: number, maxApdu = 480): Station => ({
  device_instance,
  name: `VAV-${device_instance}`,
  maxApdu,
  mac,
  objects: range(40).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => holds + instance })),
})

async function openRouter(t: ExecutionContext, trunks: Trunk[], answerMs?: number) {
  const router = await openBacnetRouter(trunks, answerMs === undefined ? {} : { answerMs })
  t.teardown(() => router.close())
  const peerAt = (network: number, mac: number[]) => ({
    host: router.host,
    port: router.port,
    station: { network, mac: Buffer.from(mac) },
  })
  return { router, peerAt }
}

test('devices of one instance and one address on two networks give their own values', async t => {
  const trunks = [1, 2].map(network => ({ network, stations: [station(7, [3], 1000 * network)] }))
  const long = { network: 3, stations: [station(7, [10, 0, 0, 7, 0xba, 0xc0], 3000)] }
  const { peerAt } = await openRouter(t, [...trunks, long])
  const transport = await openTransport(t)
  const places = [peerAt(1, [3]), peerAt(2, [3]), peerAt(3, [10, 0, 0, 7, 0xba, 0xc0])]
  const drivers = places.map(
    peer => new BacnetDriver(transport, peer, patient, firstBatch(480), () => 1_000, { device_instance: 7 }),
  )
  const read = await Promise.all(drivers.map(driver => driver.read(inputs(1, 2), never)))
  t.deepEqual(
    read.map(readings => readings.map(({ v }) => v)),
    [
      [1001, 1002],
      [2001, 2002],
      [3001, 3002],
    ],
  )
})

for (const maxApdu of [50, 128, 206, 480]) {
  test(`all points of a device that takes ${maxApdu} bytes are read`, async t => {
    const { peerAt } = await openRouter(t, [{ network: 5, stations: [station(9, [1], 0, maxApdu)] }])
    const device = { device_instance: 9, apdu: { ask: true as const, most: undefined } }
    const driver = new BacnetDriver(await openTransport(t), peerAt(5, [1]), patient, firstBatch(480), () => 1_000, device)
    const readings = await driver.read(inputs(...range(40)), never)
    t.is(readings.filter(({ q }) => q === 'good').length, 40)
    t.is(driver.report().point_error, null)
  })
}

test('a trunk that takes more than a second for an answer is not asked more than it answers', async t => {
  const stations = range(4).map(mac => station(mac, [mac], 100 * mac))
  const { router, peerAt } = await openRouter(t, [{ network: 5, stations }], 1400)
  const transport = await openTransport(t)
  t.is((await transport.request(peerAt(5, [0]), question, patient, never)).state, 'results')
  const others = range(3).map(i => transport.request(peerAt(5, [i + 1]), question, patient, never))
  t.deepEqual(
    (await Promise.all(others)).map(({ state }) => state),
    ['results', 'results', 'results'],
  )
  t.is(router.together(), 1)
})

test('of hundreds of devices behind one router only the one that is asked has an invoke id', t => {
  const ids = createInvokeIds<Transaction>()
  const queue = createSlotQueue()
  const busy = queue.enter(1, () => undefined)
  const network = { queue, width: () => 1, pauseMs: () => 0, slotMs: () => 1000, noteAnswer: () => undefined }
  const through = { send: () => undefined } as unknown as Interface
  const context = { ids, now: () => 0, random: () => 0, isCancelled: () => false, rememberFinalAck: () => undefined }
  const outcomes: RequestOutcome[] = []
  const waiting = range(300).map(i => {
    const peer = { host: '10.0.0.1', port: 47_808, station: { network: 5, mac: Buffer.of(i >> 8, i & 0xff) } }
    const path = { through, network, device: createSlotQueue() }
    const resolve = (outcome: RequestOutcome) => void outcomes.push(outcome)
    const transaction = new Transaction({ ...context, path }, { peer, question, retryPolicy: patient, resolve })
    transaction.start()
    return transaction
  })
  t.is(ids.all().length, 0)
  busy.leave()
  t.is(ids.all().length, 1)
  t.is(ids.all()[0], waiting[0])
  for (const one of waiting.toReversed()) one.finish(CANCELLED)
  t.deepEqual([ids.all().length, outcomes.length], [0, 300])
})

test('a router that knows no way to a network is named, and a repetition after its restart is answered', async t => {
  const { router, peerAt } = await openRouter(t, [{ network: 5, stations: [station(9, [1], 0)] }])
  const transport = await openTransport(t)
  router.isConnected(false)
  const refused = await transport.request(peerAt(5, [1]), question, { timeoutMs: 100, retries: 1 }, never)
  const reason =
    'router 127.0.0.1 refuses messages to network 5: it knows no way to that network; check its routing table and its connection there'
  t.deepEqual(refused, { state: 'silent', reason })
  const again = transport.request(peerAt(5, [1]), question, { timeoutMs: 1500, retries: 2 }, never)
  setTimeout(() => router.isConnected(true), 500)
  t.is((await again).state, 'results')
})

for (const [what, message] of [
  ['of another network', '810a 000a 0180 0301 0006'],
  ['by broadcast', '810b 000a 0180 0301 0005'],
  ['that is cut off', '810a 0009 0180 0301 00'],
  ['with bytes left over', '810a 000b 0180 0301 000500'],
  ['of another kind', '810a 000a 0180 0001 0005'],
] as const) {
  test(`a refusal ${what} is not that of the network`, async t => {
    const router = await openUdpPeer(t, (_, __, send) => send(hex(message)))
    const peer = { host: router.host, port: router.port, station: { network: 5, mac: Buffer.of(1) } }
    const outcome = await (await openTransport(t)).request(peer, question, { timeoutMs: 200, retries: 0 }, never)
    t.regex('reason' in outcome ? outcome.reason : '', /no answer from/)
  })
}

for (const [what, message] of [
  ['I-Am-Router-To-Network', '810b 0009 0180 01 0005'],
  ['the same through a broadcast manager', '8104 000f 0a000001bac0 0180 01 0005'],
  ['the same of another network', '810b 0011 01a8 ffff00 0007 01 03 fe 01 0009'],
  ['What-Is-Network-Number', '810a 0007 0180 12'],
] as const) {
  test(`a message between routers is no malformed datagram: ${what}`, async t => {
    const router = await openUdpPeer(t, (_, __, send) => send(hex(message)))
    const transport = await openTransport(t)
    await transport.request(router, question, { timeoutMs: 200, retries: 0 }, never)
    t.like(transport.counters(), { received: 1, malformed: 0, unmatched: 1 })
  })
}

test('an answer with another invoke id is nobody’s', async t => {
  const router = await openUdpPeer(t, (request, _, send) => {
    const { invokeId } = request
    send(datagram(Buffer.of(0x60, (invokeId + 1) & 0xff, 9), { network: 5, mac: [1] }))
  })
  const peer = { host: router.host, port: router.port, station: { network: 5, mac: Buffer.of(1) } }
  const transport = await openTransport(t)
  t.is((await transport.request(peer, question, { timeoutMs: 100, retries: 0 }, never)).state, 'silent')
  t.is(transport.counters().unmatched, 1)
})

/** Who is asked when: one request at a time for a device and a trunk, many devices at once, and never too fast. */
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import type { ReadRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import type { RequestOutcome, Peer } from '#appliance/drivers/bacnet/outcome.ts'
import { openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { good, held, inputs, never, openTransport, patient, range } from './harness.ts'
import { SILENT } from '../../../support/sites/catalogue-site.ts'
import { type UdpPeer, openUdpPeer } from '../../../support/udp-peer.ts'
import { answer, datagram, readRequest } from '../../../support/wire.ts'

const question = (instance: number): ReadRequest => ({ service: 12, targets: [{ type: 0, instance, property: 85 }] })
const valueOf = (outcome: RequestOutcome): unknown => {
  const [result] = outcome.state === 'results' ? outcome.results : []
  return result && 'values' in result ? result.values : outcome
}
const real = (value: number) => [{ type: 'real', value }]

/** Answers a little later, and counts its concurrent requests. */
async function openCrowdedDevice(t: ExecutionContext) {
  let [inside, most] = [0, 0]
  const peer = await openUdpPeer(t, (request, reply) => {
    most = Math.max(most, ++inside)
    setTimeout(() => {
      inside--
      reply(answer(request, held))
    }, 5)
  })
  return { peer, most: () => most }
}

for (const [concurrency, wanted] of [
  [undefined, 1],
  [3, 3],
] as const) {
  test(`a device that takes ${wanted} at a time is never asked more`, async t => {
    const { peer, most } = await openCrowdedDevice(t)
    const transport = await openTransport(t)
    // Objects of their own, as discovery and polling have them: the device is the same.
    const outcomes = await Promise.all(
      range(20).map(i => transport.request({ ...peer, ...(concurrency && { concurrency }) }, question(i), patient, never)),
    )
    t.deepEqual(
      outcomes.map(valueOf),
      range(20).map(i => real(held(i))),
    )
    t.is(most(), wanted)
  })
}

test('a device that takes four batches at a time is read in four at a time, after its first answer', async t => {
  let [inside, most] = [0, 0]
  const peer = await openUdpPeer(t, (request, reply) => {
    const among = ++inside
    most = Math.max(most, among)
    if (peer.asked.length === 1) t.is(among, 1)
    setTimeout(() => {
      inside--
      reply(answer(request, held))
    }, 5)
  })
  const driver = new BacnetDriver(await openTransport(t), { ...peer, concurrency: 4 }, patient, firstBatch(480), () => 1_000)
  const readings = await driver.read(inputs(...range(300)), never)
  const byId = new Map(readings.map(reading => [reading.id, reading]))
  t.deepEqual(
    range(300).map(i => byId.get(`ai-${i}`)),
    range(300).map(i => good(i, held(i))),
  )
  t.deepEqual([readings.length, most, peer.asked.length], [300, 4, Math.ceil(300 / 29)])
})

test('of several requests at a time, each that fails leaves its own points bad', async t => {
  const peer = await openUdpPeer(t, (request, reply) => {
    if (request.instances.some(i => i === 60 || i === 90)) return
    reply(answer(request, held))
  })
  const transport = await openTransport(t)
  const driver = new BacnetDriver(
    transport,
    { ...peer, concurrency: 4 },
    { timeoutMs: 600, retries: 0 },
    firstBatch(480),
    () => 1_000,
  )
  const readings = await driver.read(inputs(...range(200)), never)
  const ids = readings.map(({ id }) => id)
  t.deepEqual([ids.length, new Set(ids).size], [200, 200])
  const values = new Map(readings.map(({ id, v, q }) => [id, q === 'good' ? v : q]))
  t.deepEqual(
    ['ai-0', 'ai-28', 'ai-60', 'ai-90'].map(id => values.get(id)),
    [0, 280, 'bad', 'bad'],
  )
  t.true(readings.every(({ id, v, q }) => q === 'bad' || v === held(Number(id.slice(3)))))
})

test('fifty devices are asked before the first answers', async t => {
  const waiting: (() => void)[] = []
  const transport = await openTransport(t)
  const devices = await Promise.all(
    range(50).map(k =>
      openUdpPeer(t, (request, reply) => {
        waiting.push(() => reply(answer(request, () => k)))
        if (waiting.length === 50) for (const go of waiting) go()
      }),
    ),
  )
  const outcomes = await Promise.all(devices.map(peer => transport.request(peer, question(1), patient, never)))
  t.deepEqual(outcomes.map(valueOf), range(50).map(real))
})

/** A router with stations behind it, and what it was asked: network and station of each request, in order. */
async function openRouter(t: ExecutionContext, behave: (network: number, mac: number, reply: () => void) => void) {
  const asked: string[] = []
  const router: UdpPeer = await openUdpPeer(t, (_, __, send) => {
    const bytes = router.raw.at(-1)!
    const network = bytes.readUInt16BE(6)
    const mac = bytes.readUInt8(9)
    const request = readRequest(Buffer.concat([bytes.subarray(0, 6), bytes.subarray(11)]))
    asked.push(`${network}/${mac}`)
    behave(network, mac, () =>
      send(
        datagram(
          answer(request, () => mac),
          { network, mac: [mac] },
        ),
      ),
    )
  })
  const stationAt = (network: number, mac: number): Peer => {
    const { host, port } = router
    return { host, port, station: { network, mac: Buffer.of(mac) } }
  }
  return { router, asked, stationAt }
}

test('the devices of a trunk are asked one after the other, two trunks at once', async t => {
  const replies: (() => void)[] = []
  const { router, asked, stationAt } = await openRouter(t, (_, __, reply) => replies.push(reply))
  const transport = await openTransport(t)
  const stations = [stationAt(1, 11), stationAt(1, 12), stationAt(2, 11), stationAt(1, 13), stationAt(2, 12)]
  const asking = Promise.all(stations.map(peer => transport.request(peer, question(1), patient, never)))
  for (const wanted of [2, 4, 5]) {
    while (asked.length < wanted) await once(router.socket, 'message')
    for (const reply of replies.splice(0)) reply()
  }
  t.deepEqual((await asking).map(valueOf), [11, 12, 11, 13, 12].map(real))
  t.deepEqual(asked.slice(0, 2), ['1/11', '2/11'])
  t.deepEqual(asked.slice(2, 4).toSorted(), ['1/12', '2/12'])
  t.is(asked[4], '1/13')
})

test('a dead device on a trunk keeps the others waiting for a second, not for its timeouts', async t => {
  const { stationAt } = await openRouter(t, (_, mac, reply) => mac === 66 || reply())
  const transport = await openTransport(t)
  const giveUp = new AbortController()
  const dead = transport.request(stationAt(1, 66), question(1), { timeoutMs: 600_000, retries: 2 }, giveUp.signal)
  t.deepEqual(valueOf(await transport.request(stationAt(1, 11), question(1), patient, never)), real(11))
  giveUp.abort()
  t.is((await dead).state, 'cancelled')
})

test('a request that is given up while it waits for its turn is never sent', async t => {
  const replies: (() => void)[] = []
  const peer = await openUdpPeer(t, (request, reply) => void replies.push(() => reply(answer(request, held))))
  const transport = await openTransport(t)
  const giveUp = new AbortController()
  const first = transport.request(peer, question(1), patient, never)
  const second = transport.request(peer, question(2), patient, giveUp.signal)
  const third = transport.request(peer, question(3), patient, never)
  giveUp.abort()
  t.deepEqual(await second, { state: 'cancelled', reason: 'cancelled' })
  for (const wanted of [1, 2]) {
    while (peer.asked.length < wanted) await once(peer.socket, 'message')
    replies.shift()!()
  }
  t.deepEqual([await first, await third].map(valueOf), [real(10), real(30)])
  t.deepEqual(
    peer.asked.map(({ instances }) => instances),
    [[1], [3]],
  )
})

test('a request that fits no datagram ends, and the next is asked', async t => {
  const peer = await openUdpPeer(t, (request, reply) => reply(answer(request, held)))
  const transport = await openTransport(t)
  const targets = range(200).map(instance => ({ type: 0, instance, property: 85 }))
  const [tooLong, next] = await Promise.all([
    transport.request(peer, { service: 14, targets }, patient, never),
    transport.request(peer, question(3), patient, never),
  ])
  t.is(tooLong.state, 'garbled')
  t.deepEqual(valueOf(next), real(30))
})

test('what waits when the transport closes is cancelled', async t => {
  const peer = await openUdpPeer(t, () => undefined)
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0 }, () => 1_000, SILENT)
  const asking = Promise.all(range(300).map(i => transport.request(peer, question(i), patient, never)))
  await transport.close()
  t.true((await asking).every(({ state }) => state === 'cancelled'))
  t.is((await transport.request(peer, question(1), patient, never)).state, 'cancelled')
  t.is(transport.counters().sent, 1)
})

test('more requests than there are invoke ids wait for one', async t => {
  const waiting: (() => void)[] = []
  const transport = await openTransport(t)
  const peer = await openUdpPeer(t, (request, reply) => {
    waiting.push(() => reply(answer(request, held)))
    if (waiting.length < 255) return
    for (const go of waiting) go()
  })
  const wide = { ...peer, concurrency: 1000 }
  const retryPolicy = { timeoutMs: 30_000, retries: 0 }
  // As many as go at once into a network, with a few that find no id and look again.
  const outcomes = await Promise.all(range(256).map(i => transport.request(wide, question(i), retryPolicy, never)))
  t.deepEqual(
    outcomes.map(valueOf),
    range(256).map(i => real(held(i))),
  )
})

test('a network is not asked faster than its bound', async t => {
  const peer = await openUdpPeer(t, (request, reply) => reply(answer(request, held)))
  const bind = { address: '127.0.0.1', port: 0, maxRequestsPerSecond: 50 }
  const transport = await openBacnetTransport(bind, () => 1_000, SILENT)
  t.teardown(() => transport.close())
  const before = performance.now()
  for (const i of range(15)) await transport.request(peer, question(i), patient, never)
  // 15 at 50 a second take 300 ms, of which a burst makes up for 100; timers may fire a millisecond early.
  t.true(performance.now() - before > 185)
})

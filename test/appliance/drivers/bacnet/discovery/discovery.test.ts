/** Discovery against devices on real sockets, good and bad: each has an outcome with its reason, and every scan ends. */
import test from 'ava'
import { findDuplicateInstances } from '#appliance/drivers/bacnet/core/discovery/heard-devices.ts'
import { wallClock } from '#shared/node/clock.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DISCOVERY_DEFAULTS } from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { bacnetDiscovery } from '#appliance/drivers/bacnet/discovery/discovery-wire.ts'
import { answererOf, iAm } from '#scripts/simulator/bacnet/device.ts'
import { type PartsSender, sendInParts } from '#scripts/simulator/bacnet/segmented-reply.ts'
import { contextId, contextUnsigned, enclosed, objectId } from '#scripts/simulator/bacnet/wire.ts'
import { SILENT } from '../../../../support/sites/catalogue-site.ts'
import { openBacnetRouter } from '#scripts/simulator/bacnet/router.ts'
import { inputs, never, openTransport, patient } from '../harness.ts'
import { discoverAt, objects, openDevice } from './harness.ts'
import { openUdpPeer } from '../../../../support/udp-peer.ts'
import { answer, datagram, hex } from '../../../../support/wire.ts'

/** Enough for a device that answers, and soon over with one that does not. */
const brief = { timeoutMs: 700, retries: 1 }
const texts = (log: { text: string }[]) => log.map(({ text }) => text)

test('a device is found with names, units and state texts', async t => {
  const device = await openDevice(t, { device_instance: 1001, name: 'AHU-1', objects: objects(10) })
  const { devices, state, log } = await discoverAt(t, [device])
  const [found] = devices
  t.is(state, 'done')
  t.is(devices.length, 1)
  t.like(found, {
    device_instance: 1001,
    outcome: 'found',
    reason: null,
    name: 'AHU-1',
    vendor: 'Simulated',
    listed: 11,
    vendor_id: 999,
  })
  t.deepEqual(found!.others, { device: 1 })
  t.deepEqual(found!.objects[0], { type: 0, instance: 0, name: 'Zone 0 Temp', units: 64 })
  t.deepEqual(found!.objects[8], { type: 5, instance: 8, name: 'Fan 8', texts: ['off', 'on'] })
  t.deepEqual(found!.objects[9], { type: 19, instance: 9, name: 'Mode 9', texts: ['Off', 'Heat', 'Cool'] })
  t.regex(
    texts(log).join('\n'),
    /Who-Is from 127\.0\.0\.1 to 127\.0\.0\.1:\d+[\s\S]*I-Am of device 1001[\s\S]*"AHU-1": found, 10 points/,
  )
})

test('an object list of 2,000 entries is read in parts, whole and right, in a bounded number of requests', async t => {
  const all = objects(2000)
  const device = await openDevice(t, { device_instance: 7, name: 'large', objects: all })
  const { devices } = await discoverAt(t, [device], { requests_per_second: 100 })
  const [found] = devices
  t.like(found, { outcome: 'found', listed: 2001, multiple: true })
  t.deepEqual(
    found!.objects.map(({ type, instance, name }) => ({ type, instance, name })),
    all.map(({ type, instance, name }) => ({ type, instance, name })),
  )
  t.true(found!.requests < 400, `${found!.requests} requests`)
})

test('a device with a small APDU and without ReadPropertyMultiple is read one by one', async t => {
  const device = await openDevice(t, { device_instance: 8, name: 'old', objects: objects(10), maxApdu: 50, rpm: false })
  const { devices } = await discoverAt(t, [device])
  t.like(devices[0], { outcome: 'found', listed: 11, multiple: false })
  t.deepEqual(devices[0]!.objects[9]!.texts, ['Off', 'Heat', 'Cool'])
})

test('a device that refuses its object list is told as refused, with its own reason', async t => {
  const peer = await openUdpPeer(t, (request, reply) => {
    if (request.body.length === 0) return
    reply(Buffer.from([0x50, request.invokeId, request.service, 0x91, 2, 0x91, 27]))
  })
  peer.socket.on('message', (bytes, from) => {
    if (bytes[6] === 0x10) peer.socket.send(hex('810a0014 0100 1000 c402000009 2201e0 9103 21ff'), from.port, from.address)
  })
  const { devices } = await discoverAt(t, [peer])
  t.like(devices[0], {
    device_instance: 9,
    outcome: 'refused',
    reason: 'it does not list its objects: error read-access-denied (class 2)',
  })
})

test('a device that stops in the middle is partial, and what was read is kept without the rest', async t => {
  const device = await openDevice(t, { device_instance: 10, name: 'tired', objects: objects(300), silentAfter: 24 })
  const { devices } = await discoverAt(t, [device], { retryPolicy: brief })
  const [found] = devices
  t.is(found!.outcome, 'partial')
  const [, read] = /^broke off with (\d+) of 300 points read: no answer from /.exec(found!.reason!) ?? []
  t.is(found!.objects.length, Number(read))
  t.true(found!.objects.length > 0 && found!.objects.every(({ name }) => name !== undefined))
  t.is(found!.listed, 301)
})

test('a device that is silent to one object gives all others, and is told as partial', async t => {
  const silentTo = hex('0c 00000096')
  const device = await openDevice(t, {
    device_instance: 12,
    name: 'one bad',
    objects: objects(200),
    ignores: apdu => apdu.includes(silentTo),
  })
  const { devices } = await discoverAt(t, [device], { retryPolicy: brief })
  const [found] = devices
  t.is(found!.outcome, 'partial')
  t.regex(found!.reason!, /^1 object gave no name; it did not answer \d reads?$/)
  t.is(found!.objects.length, 200)
  t.deepEqual(
    found!.objects.filter(({ name }) => name === undefined).map(({ instance }) => instance),
    [150],
  )
  t.true(found!.requests < 120, `${found!.requests} requests`)
})

test('entries that a device declines make its list partial, and the others are read', async t => {
  const answers = answererOf({ device_instance: 16, name: 'gaps', objects: objects(40), maxApdu: 128 })
  const peer = await openUdpPeer(t, () => undefined)
  peer.socket.on('message', (bytes, from) => {
    const apdu = bytes.subarray(6)
    const send = (reply: Buffer) => peer.socket.send(datagram(reply), from.port, from.address)
    if (apdu[0] === 0x10) return send(iAm(16, 128))
    // Any request that holds entry 5 of the list is declined as a whole.
    send(apdu.includes(hex('09 4c 19 05')) ? Buffer.of(0x60, apdu[2]!, 0) : answers(apdu))
  })
  const { devices } = await discoverAt(t, [peer])
  t.like(devices[0], { outcome: 'partial', reason: 'it did not give 1 of the 41 entries of its list', listed: 41 })
  t.is(devices[0]!.objects.length, 39)
  t.true(devices[0]!.objects.every(({ name }) => name !== undefined))
})

test('a device that only answers the call is told as timeout', async t => {
  const device = await openDevice(t, { device_instance: 11, name: 'gone', objects: objects(3), silentAfter: 0 })
  const { devices } = await discoverAt(t, [device], { retryPolicy: brief })
  t.is(devices[0]!.outcome, 'timeout')
  t.regex(devices[0]!.reason!, /no answer from .* though it answered the call/)
})

test('devices behind a router keep network and address, and are asked one at a time', async t => {
  const station = (mac: number) => ({
    device_instance: 2000 + mac,
    name: `VAV-${mac}`,
    objects: objects(20),
    maxApdu: 480,
    mac: [mac],
  })
  const router = await openBacnetRouter([{ network: 2001, stations: [station(3), station(4), station(5)] }])
  t.teardown(() => router.close())
  const { devices } = await discoverAt(t, [router])
  t.deepEqual(
    devices.map(({ device_instance, network, mac, name, outcome }) => [device_instance, network, mac, name, outcome]),
    [3, 4, 5].map(mac => [2000 + mac, 2001, `0${mac}`, `VAV-${mac}`, 'found']),
  )
  t.is(router.together(), 1)
})

test('two devices with one instance are both told, and named as a conflict', async t => {
  const one = await openDevice(t, { device_instance: 12, name: 'one', objects: objects(2), host: '127.0.0.1' })
  const two = await openDevice(t, { device_instance: 12, name: 'two', objects: objects(2), host: '127.0.0.2' })
  const { devices, log } = await discoverAt(t, [one, two])
  t.deepEqual(devices.map(({ name }) => name).toSorted(), ['one', 'two'])
  t.is(findDuplicateInstances(devices).get(12)!.length, 2)
  t.regex(texts(log).join('\n'), /instance 12 answers from .* and .*: an instance belongs to one device/)
})

test('answers beyond the bounds, malformed ones and repetitions are counted, never dropped in silence', async t => {
  const device = await openDevice(t, { device_instance: 13, name: 'inside', objects: [] })
  const noisy = await openUdpPeer(t, () => undefined)
  noisy.socket.on('message', (_, from) => {
    for (const apdu of [iAm(99_999, 480), hex('1000 c402000009')]) {
      const bytes = Buffer.concat([Buffer.from([0x81, 0x0a, 0, 6 + apdu.length, 1, 0]), apdu])
      noisy.socket.send(bytes, from.port, from.address)
    }
  })
  const { devices, ignored, i_ams } = await discoverAt(t, [device, noisy], { low: 1, high: 100 })
  t.deepEqual(
    devices.map(({ device_instance }) => device_instance),
    [13],
  )
  const reasons = ignored.map(({ device_instance, reason, count }) => [device_instance, reason, count])
  t.deepEqual(reasons, [
    [99_999, 'its instance is not in 1 to 100', 2],
    [null, 'it is malformed: ends too early', 2],
  ])
  t.deepEqual(i_ams, { heard: 6, taken: 1, repeated: 1 })
})

test('a discovery that is stopped ends at once and says how far it came', async t => {
  const stop = new AbortController()
  const device = await openUdpPeer(t, request => {
    if (request.service === 12) stop.abort()
  })
  device.socket.on('message', (bytes, from) => {
    const apdu = iAm(14, 480)
    if (bytes[6] === 0x10)
      device.socket.send(Buffer.concat([Buffer.from([0x81, 0x0a, 0, 6 + apdu.length, 1, 0]), apdu]), from.port, from.address)
  })
  const { state, devices } = await discoverAt(t, [device], {
    signal: stop.signal,
    seconds: 120,
    retryPolicy: { timeoutMs: 60_000, retries: 5 },
  })
  t.is(state, 'stopped')
  t.like(devices[0], { outcome: 'partial', reason: 'stopped before its objects were known' })
})

test('polling goes on while a large device is read over the same transport', async t => {
  const transport = await openTransport(t)
  const large = await openDevice(t, { device_instance: 15, name: 'large', objects: objects(500) })
  const polled = await openUdpPeer(t, (request, reply) => reply(answer(request, i => 10 * i)))
  const driver = new BacnetDriver(transport, polled, patient, firstBatch(1476), wallClock.now)
  let isOver = false
  const discovering = discoverAt(t, [large], { transport }).finally(() => {
    isOver = true
  })
  let reads = 0
  for (; !isOver; reads++) {
    const readings = await driver.read(inputs(1, 2), never)
    t.deepEqual(
      readings.map(({ v, q }) => [v, q]),
      [
        [10, 'good'],
        [20, 'good'],
      ],
    )
  }
  const { devices } = await discovering
  t.is(devices[0]!.outcome, 'found')
  t.true(reads > 1)
})

test('a port that another process has is named with its holder, and polling is not touched', async t => {
  const holder = await openUdpPeer(t, () => undefined)
  const bind = { address: '127.0.0.1', port: holder.port }
  const bacnet = bacnetProtocol({ bind, now: Date.now, log: SILENT })
  const catalogue = { current: () => ({ devices: [] }), change: async () => t.fail() as never }
  const service = bacnetDiscovery({ enabled: true, bind, bacnet, catalogue })
  const discovery = service.begin({ ...DISCOVERY_DEFAULTS, seconds: 1 })
  await service.stop()
  t.is(discovery.state, 'failed')
  t.regex(discovery.error!, new RegExp(`UDP port ${holder.port} of 127\\.0\\.0\\.1`))
  const why = service.why()!
  t.regex(why.holder!, new RegExp(`process ${process.pid} `))
  t.regex(why.next_steps[0]!, /is held by process/)
})

test('a whole object list that comes in parts takes one request', async t => {
  const instance = 77
  const list = objects(900).map(one => objectId(one.type, one.instance))
  const answers = answererOf({ device_instance: instance, name: 'parts', objects: objects(900), maxApdu: 65_535 })
  let sending: PartsSender | undefined
  const peer = await openUdpPeer(t, () => undefined)
  peer.socket.on('message', (bytes, from) => {
    const apdu = bytes.subarray(6)
    const send = (reply: Buffer) => peer.socket.send(datagram(reply), from.port, from.address)
    if (apdu[0] === 0x10) return send(iAm(instance, 1476))
    if (sending?.take(apdu) || apdu[0]! >> 4 !== 0) return
    const isList = apdu[3] === 12 && apdu.includes(Buffer.of(0x19, 76)) && apdu.length === 11
    if (!isList) return send(answers(apdu))
    const body = Buffer.concat([contextId(0, 8, instance), contextUnsigned(1, 76), enclosed(3, Buffer.concat(list))])
    sending = sendInParts(apdu[2]!, 12, body, { partBytes: 1000, window: 4, resendMs: 300, send })
  })
  t.teardown(() => sending?.close())
  const { devices } = await discoverAt(t, [peer])
  t.like(devices[0], { outcome: 'found', listed: 900 })
  t.false(
    peer.raw.some(bytes => bytes.length === 19 && bytes.includes(Buffer.of(0x19, 76))),
    'no entry was asked for by its index',
  )
})

/** Answers in parts, from devices on real sockets that send them well and badly. */
import { once } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { readFrame } from '#appliance/drivers/bacnet/core/frame.ts'
import type { ServiceRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import type { RequestOutcome, Peer } from '#appliance/drivers/bacnet/outcome.ts'
import { type PartsOptions, type PartsSender, sendInParts } from '#scripts/simulator/bacnet/segmented-reply.ts'
import { apduOf, contextId, contextUnsigned, datagram, enclosed, objectId } from '#scripts/simulator/bacnet/wire.ts'
import { hasty, never, openTransport, patient, range } from './harness.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'
import { datagram as routedDatagram, hex, seeded } from '../../../support/wire.ts'

const DEVICE = 8
const OBJECT_LIST = 76
const objectList = (instance: number): ServiceRequest => ({
  service: 12,
  targets: [{ type: DEVICE, instance, property: OBJECT_LIST }],
})
/** A device object with `count` analog inputs from `first` on. */
const listOf = (instance: number, first: number, count: number): Buffer =>
  Buffer.concat([
    contextId(0, DEVICE, instance),
    contextUnsigned(1, OBJECT_LIST),
    enclosed(3, Buffer.concat(range(count).map(i => objectId(0, first + i)))),
  ])
const instancesIn = (outcome: RequestOutcome): number[] => {
  const [result] = outcome.state === 'results' ? outcome.results : []
  if (!result || !('values' in result)) return []
  return result.values.map(value => (value.type === 'object' ? value.object.instance : -1))
}

type Options = Partial<PartsOptions> & {
  host?: string
  /** Says of each datagram, in either direction, whether it is lost. */
  isLost?: (apdu: Buffer) => boolean
}

/** A device that answers every request with `body`, in parts. `heard`: messages that it received besides requests. */
async function openPartsDevice(t: ExecutionContext, body: Buffer, options: Options = {}) {
  const { host, isLost = () => false, ...parts } = options
  const senders = new Map<number, PartsSender>()
  const heard: Buffer[] = []
  const peer = await openUdpPeer(
    t,
    ({ invokeId, service }, _, send, from) => {
      const apdu = apduOf(peer.raw.at(-1)!)!
      if (isLost(apdu)) return
      if (apdu.readUInt8(0) >> 4 !== 0) {
        heard.push(apdu)
        senders.get(apdu.readUInt8(1))?.take(apdu)
        return
      }
      const toClient = (reply: Buffer) => void (isLost(reply) || send(datagram(reply)))
      const sender = sendInParts(invokeId, service, body, { partBytes: 480, window: 6, resendMs: 80, send: toClient, ...parts })
      senders.set(invokeId, sender)
      t.teardown(() => sender.close())
      t.is(from.address, '127.0.0.1')
    },
    host,
  )
  return { peer, heard, senders }
}

test('an object list of two thousand entries comes in parts and is whole', async t => {
  const { peer, heard } = await openPartsDevice(t, listOf(7, 0, 2000), { partBytes: 1470, resendMs: 30_000 })
  const transport = await openTransport(t)
  const outcome = await transport.request(peer, objectList(7), patient, never)
  t.deepEqual(instancesIn(outcome), range(2000))
  t.is(transport.counters().garbled, 0)
  if (heard.length < 2) await once(peer.socket, 'message')
  // Seven parts: the first alone, then six at once. No server bit, our id, the part, its window.
  t.deepEqual(
    heard.map(apdu => apdu.toString('hex')),
    ['40010006', '40010606'],
  )
})

test('two devices that send in parts at once, with the same invoke id, are not mixed up', async t => {
  const bodies = [listOf(1, 0, 2000), listOf(2, 100_000, 2000)]
  const [one, two] = await Promise.all(bodies.map((body, i) => openPartsDevice(t, body, { host: `127.0.0.${i + 1}` })))
  const transport = await openTransport(t)
  const [first, second] = await Promise.all([
    transport.request(one!.peer, objectList(1), patient, never),
    transport.request(two!.peer, objectList(2), patient, never),
  ])
  t.deepEqual([...one!.senders.keys()], [...two!.senders.keys()])
  t.deepEqual(instancesIn(first), range(2000))
  t.deepEqual(
    instancesIn(second),
    range(2000).map(i => 100_000 + i),
  )
})

test('what is lost, doubled or overtaken on the way is made up for', async t => {
  const random = seeded(3)
  const transport = await openTransport(t)
  const devices = await Promise.all(
    range(6).map(k => openPartsDevice(t, listOf(k, 1000 * k, 1000), { isLost: apdu => apdu[0]! >> 4 !== 0 && random() < 0.1 })),
  )
  const long = { ...patient, timeoutMs: 20_000 }
  const lists = await Promise.all(devices.map(({ peer }, k) => transport.request(peer, objectList(k), long, never)))
  t.deepEqual(
    lists.filter(({ state }) => state !== 'results'),
    [],
  )
  for (const [k, outcome] of lists.entries())
    t.deepEqual(
      instancesIn(outcome),
      range(1000).map(i => 1000 * k + i),
    )
  t.true(
    devices.some(({ heard }) => heard.some(apdu => apdu[0] === 0x42)),
    'a gap was reported',
  )
})

test('the last acknowledgement is said again to a device that has not heard it', async t => {
  let lost = 0
  const isLost = (apdu: Buffer) => apdu[0] === 0x40 && apdu[2] === 2 && lost++ === 0
  const { peer, senders } = await openPartsDevice(t, listOf(7, 0, 200), { isLost, partBytes: 400, resendMs: 40 })
  const transport = await openTransport(t)
  const outcome = await transport.request(peer, objectList(7), patient, never)
  t.deepEqual(instancesIn(outcome), range(200))
  const [sender] = senders.values()
  while (!sender!.isDone) await once(peer.socket, 'message')
  t.is(lost, 2)
})

/** A peer that sends the given bytes and records messages other than requests. */
async function openSpeaker(t: ExecutionContext, speak: (invokeId: number, service: number) => Buffer[]) {
  const heard: string[] = []
  const peer = await openUdpPeer(t, ({ invokeId, service }, _, send) => {
    const apdu = apduOf(peer.raw.at(-1)!)!
    if (apdu[0]! >> 4 !== 0) return void heard.push(apdu.toString('hex'))
    for (const reply of speak(invokeId, service)) send(datagram(reply))
    return undefined
  })
  return { peer, heard }
}
const begin = (invokeId: number, service: number) => Buffer.of(0x3c, invokeId, 0, 4, service, 0x0c)

test('an answer that breaks off ends with an Abort, and the device can be asked again', async t => {
  let isWell = false
  const body = listOf(7, 0, 3)
  const { peer, heard } = await openSpeaker(t, (invokeId, service) =>
    isWell ? [Buffer.concat([Buffer.of(0x30, invokeId, service), body])] : [begin(invokeId, service)],
  )
  const transport = await openTransport(t)
  const outcome = await transport.request(peer, objectList(7), hasty, never)
  t.deepEqual(outcome, { state: 'silent', reason: `the answer of 127.0.0.1:${peer.port} ended after 1 parts` })
  isWell = true
  t.deepEqual(instancesIn(await transport.request(peer, objectList(7), patient, never)), [0, 1, 2])
  t.deepEqual(heard, ['40010004', '70010a'])
})

test('an answer that is too long is a refusal, so that less is asked for', async t => {
  const { peer, senders } = await openPartsDevice(t, Buffer.alloc(80_000), { partBytes: 1400 })
  const transport = await openTransport(t)
  t.like(await transport.request(peer, objectList(7), patient, never), { state: 'refused', refusal: { by: 'abort', reason: 1 } })
  const [sender] = senders.values()
  while (!sender!.isDone) await once(peer.socket, 'message')
  t.pass('the device was told')
})

test('an answer that begins while its repetition waits for the trunk is not asked for again', async t => {
  const asked: number[] = []
  const whole = (id: number, service: number, body: Buffer) => Buffer.concat([Buffer.of(0x38, id, 1, 4, service), body])
  const router = await openUdpPeer(t, (_, __, send) => {
    const bytes = router.raw.at(-1)!
    const [mac, apdu] = [bytes.readUInt8(9), bytes.subarray(11)]
    const [type, , id = 0, service = 0] = apdu
    const say = (reply: Buffer, from: number) => send(routedDatagram(reply, { network: 7, mac: [from] }))
    if (type! >> 4 === 4) {
      if (apdu[2] === 0) setTimeout(() => say(whole(apdu[1]!, 12, body.subarray(20)), mac), 300)
      return
    }
    asked.push(mac)
    // While the second is asked, the first is to be asked again, then begins to answer.
    if (mac === 2) {
      setTimeout(() => say(Buffer.concat([Buffer.of(0x3c, first, 0, 4, 12), body.subarray(0, 20)]), 1), 150)
      setTimeout(() => say(Buffer.concat([Buffer.of(0x30, id, service), listOf(2, 0, 2)]), 2), 300)
    } else first = id
  })
  let first = 0
  const body = listOf(1, 0, 9)
  const { host, port } = router
  const transport = await openTransport(t)
  const station = (mac: number) => ({ host, port, station: { network: 7, mac: Buffer.of(mac) } })
  const [slow, quick] = await Promise.all([
    transport.request(station(1), objectList(1), { timeoutMs: 1100, retries: 3 }, never),
    transport.request(station(2), objectList(2), patient, never),
  ])
  t.deepEqual([instancesIn(slow), instancesIn(quick)], [range(9), range(2)])
  t.deepEqual(asked, [1, 2])
})

test('a request that is given up in the midst of an answer tells the device', async t => {
  const { peer, heard } = await openSpeaker(t, (invokeId, service) => [begin(invokeId, service)])
  const transport = await openTransport(t)
  const giveUp = new AbortController()
  const asking = transport.request(peer, objectList(7), patient, giveUp.signal)
  while (heard.length < 1) await once(peer.socket, 'message')
  giveUp.abort()
  t.like(await asking, { state: 'cancelled' })
  while (heard.length < 2) await once(peer.socket, 'message')
  t.deepEqual(heard, ['40010004', '700100'])
})

test('a device whose entry says so is told that no parts are accepted, and sends none that count', async t => {
  const { peer, heard } = await openSpeaker(t, (invokeId, service) => [begin(invokeId, service)])
  const transport = await openTransport(t)
  const asked: Peer = { host: peer.host, port: peer.port, segmentation: false }
  const outcome = await transport.request(asked, objectList(7), hasty, never)
  t.is(outcome.state, 'garbled')
  t.true('reason' in outcome && outcome.reason.includes('is segmented'))
  t.deepEqual([peer.raw[0]![6], peer.raw[0]![7], heard], [0x00, 0x05, []])
})

test('parts from another station, another address or to another service are nobody’s', async t => {
  const transport = await openTransport(t)
  const stranger = await openUdpPeer(t, () => undefined, '127.0.0.2')
  const body = listOf(7, 0, 60)
  const peer = await openUdpPeer(t, ({ invokeId, service }, reply, send, from) => {
    if (peer.raw.at(-1)![6]! >> 4 !== 0) return
    const whole = Buffer.concat([Buffer.of(0x38, invokeId, 0, 4, service), listOf(7, 500, 60)])
    stranger.socket.send(datagram(whole), from.port, from.address, () => {
      send(routedDatagram(whole, { network: 9, mac: [1] }))
      reply(Buffer.concat([Buffer.of(0x38, invokeId, 0, 4, 14), body]))
      reply(Buffer.concat([Buffer.of(0x38, invokeId, 0, 4, service), body]))
    })
  })
  t.deepEqual(instancesIn(await transport.request(peer, objectList(7), patient, never)), range(60))
  t.like(transport.counters(), { unmatched: 2, garbled: 1 })
})

test('a device behind a router hears the acknowledgement at its own address', async t => {
  const source = { network: 700, mac: [3, 9] }
  const router = await openUdpPeer(t, (_, __, send) => {
    const apdu = router.raw.at(-1)!.subarray(12)
    if (apdu[0]! >> 4 !== 0) return
    const whole = Buffer.concat([Buffer.of(0x38, apdu[2]!, 0, 4, apdu[3]!), listOf(7, 0, 5)])
    send(routedDatagram(whole, source))
  })
  const transport = await openTransport(t)
  const station = { network: 700, mac: Buffer.of(3, 9) }
  const { host, port } = router
  t.deepEqual(instancesIn(await transport.request({ host, port, station }, objectList(7), patient, never)), range(5))
  if (router.raw.length < 2) await once(router.socket, 'message')
  t.is(router.raw[1]!.toString('hex'), hex('810a0010 0120 02bc 02 0309 ff 40 01 00 04').toString('hex'))
  t.truthy(readFrame(router.raw[1]!))
})

/** The transport besides reads: broadcasts, Who-Is and subscriptions. */
import { once } from 'node:events'
import test from 'ava'
import type { UnconfirmedRequest } from '#appliance/drivers/bacnet/core/frame.ts'
import { never, openTransport, patient } from './harness.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'
import { hex } from '../../../support/wire.ts'

test('a listener hears unconfirmed requests with their sender, until it stops', async t => {
  const transport = await openTransport(t)
  const device = await openUdpPeer(t, ({ invokeId }, reply, send) => {
    send(hex('810b0014 0100 1000 c4020003e9220400910021e7'))
    send(hex('810a0012 0108 02bc 01 03 1002 0901 1a01 2901'))
    send(hex('8104001a c0a80107bac1 0100 1000 c4020003e9220400910021e7'))
    send(hex('810a0008 0100 1008'))
    reply(Buffer.of(0x20, invokeId, 5))
  })
  const heard: UnconfirmedRequest[] = []
  const stop = transport.listen(message => heard.push(message))
  const question = { service: 5, subscription: { processId: 1, object: { type: 0, instance: 3 }, lifetimeSecs: 300 } } as const
  await transport.request(device, question, patient, never)
  const { host, port } = device
  t.deepEqual(heard, [
    { host, port, service: 0, payload: hex('c4020003e9220400910021e7') },
    { host, port, service: 2, payload: hex('0901 1a01 2901'), station: { network: 700, mac: Buffer.of(3) } },
    { host: '192.168.1.7', port: 47_809, service: 0, payload: hex('c4020003e9220400910021e7') },
    { host, port, service: 8, payload: Buffer.alloc(0) },
  ])
  stop()
  await transport.request(device, question, patient, never)
  t.is(heard.length, 4)
  t.is(transport.counters().unconfirmed, 8)
})

test("an answer that somebody passes on in the device's name is nobody's", async t => {
  const transport = await openTransport(t)
  const stranger = await openUdpPeer(t, () => undefined, '127.0.0.2')
  const device = await openUdpPeer(t, ({ invokeId }, reply, _, from) => {
    const forged = Buffer.concat([hex('8104 0013 7f000001 bac0 0100'), Buffer.of(0x50, invokeId, 5), hex('9105 912d')])
    forged.writeUInt16BE(forged.length, 2)
    stranger.socket.send(forged, from.port, from.address, () => reply(Buffer.of(0x20, invokeId, 5)))
  })
  const question = { service: 5, subscription: { processId: 1, object: { type: 0, instance: 3 }, lifetimeSecs: 300 } } as const
  t.like(await transport.request(device, question, patient, never), { state: 'results' })
  t.like(transport.counters(), { unmatched: 1, malformed: 0 })
})

test('a listener that fails ends nothing', async t => {
  const transport = await openTransport(t)
  const device = await openUdpPeer(t, ({ invokeId }, reply, send) => {
    send(hex('810a0008 0100 1008'))
    reply(Buffer.of(0x20, invokeId, 5))
  })
  let heard = 0
  transport.listen(() => {
    throw new Error('cannot read this')
  })
  transport.listen(() => heard++)
  const question = { service: 5, subscription: { processId: 1, object: { type: 0, instance: 3 }, lifetimeSecs: 300 } } as const
  t.like(await transport.request(device, question, patient, never), { state: 'results' })
  t.is(heard, 1)
})

test('a subscription asks for notifications that need no answer, for a time', async t => {
  const transport = await openTransport(t)
  const device = await openUdpPeer(t, ({ invokeId }, reply) => reply(Buffer.of(0x20, invokeId, 5)))
  const subscription = { processId: 4711, object: { type: 2, instance: 9 }, lifetimeSecs: 600 }
  const outcome = await transport.request(device, { service: 5, subscription }, patient, never)
  t.like(outcome, { state: 'results', results: [] })
  t.is(device.raw[0]!.subarray(6).toString('hex'), hex('0275 01 05 0a1267 1c00800009 2900 3a0258').toString('hex'))
})

test('a device that cannot be subscribed to says why', async t => {
  const transport = await openTransport(t)
  const device = await openUdpPeer(t, ({ invokeId }, reply) => reply(Buffer.from([0x50, invokeId, 5, 0x91, 5, 0x91, 45])))
  const subscription = { processId: 1, object: { type: 2, instance: 9 }, lifetimeSecs: 600 }
  const outcome = await transport.request(device, { service: 5, subscription }, patient, never)
  t.like(outcome, { state: 'refused', refusal: { by: 'error', errorClass: 5, errorCode: 45 } })
})

test('Who-Is is sent to one address with its range', async t => {
  const transport = await openTransport(t)
  const device = await openUdpPeer(t, () => undefined)
  const arrived = once(device.socket, 'message')
  await transport.whoIs({ to: 'host', ...device }, { low: 5, high: 4_194_302 })
  await arrived
  t.is(device.raw[0]!.toString('hex'), hex('810a000e 0100 1008 0905 1b3ffffe').toString('hex'))
})

/** A visit only reads: the reader has no other method, and no other request leaves the socket. */
import test from 'ava'
import { APDU_DEFAULT, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE } from '#appliance/drivers/bacnet/core/reply.ts'
import { visitedObjects } from '#appliance/core/priority/visit-objects.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { priorityReader } from '#appliance/priority/priority-reader.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { inputs, never, patient, range } from '../drivers/bacnet/harness.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'
import { openUdpPeer } from '../../support/udp-peer.ts'
import { answer, seeded } from '../../support/wire.ts'
import { answererOf } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'

const COUNT = 60
const answerer = answererOf({
  device_instance: 4001,
  name: 'AHU',
  objects: range(COUNT).map(i => ({ type: OBJECT_TYPES.AO, instance: i + 1, name: `Output ${i + 1}`, value: () => 0 })),
})
const objects = visitedObjects(
  { device_id: 'ahu', device_instance: 4001 },
  range(COUNT).map(i => ({ address: `analog-output,${i + 1}`, name: `Output ${i + 1}` })),
)
const DEVICE = { device_id: 'ahu', device_instance: 4001, objects }

const entryOf = ({ host, port }: { host: string; port: number }): DeviceEntry => ({
  ...{ device_id: 'ahu', name: 'AHU', enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 1, points: [] },
  bacnet: { device_instance: 4001, host, port, max_apdu: 1476 },
})

const protocol = () => bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: () => 0, log: SILENT })

test('the reader can identify and read, and has no other method', t => {
  const reader = priorityReader({ bacnet: protocol(), entryOf: () => undefined, now: () => 0 })
  t.deepEqual(Object.keys(reader), ['identify', 'read'])
})

test('a visit sends only reads of listed objects to the device, whatever it answers', async t => {
  const random = seeded(11)
  const peer = await openUdpPeer(t, ({ invokeId }, reply) => {
    const dice = random()
    if (dice < 0.15) reply(Buffer.of(0x60, invokeId, Math.floor(random() * 10)))
    else if (dice < 0.3) reply(Buffer.of(0x71, invokeId, Math.floor(random() * 12)))
    else reply(answerer(peer.raw.at(-1)!.subarray(6)))
  })
  const reader = priorityReader({ bacnet: protocol(), entryOf: () => entryOf(peer), now: () => 0 })
  let answers = 0
  for (let i = 0; i < 10; i++) for await (const _ of reader.read(DEVICE, objects, never)) answers++
  t.is(answers, 10 * COUNT)
  t.true(peer.raw.length > 50)
  for (const bytes of peer.raw) {
    // Original-Unicast-NPDU with a confirmed request (135-2020 J.2.11, 20.1.2).
    t.is(bytes[1], 0x0a)
    t.is(bytes[6]! & 0xf0, 0)
    t.true([READ_PROPERTY, READ_PROPERTY_MULTIPLE].includes(bytes[9] as never))
  }
})

test('a poll during a visit is sent before the next request of the visit', async t => {
  let poll: (() => void) | undefined
  const peer = await openUdpPeer(t, ({ service }, reply) => {
    if (peer.raw.length === 2) poll?.()
    if (service === READ_PROPERTY_MULTIPLE) reply(answerer(peer.raw.at(-1)!.subarray(6)))
    else reply(answer(peer.asked.at(-1)!, instance => instance))
  })
  const bacnet = protocol()
  const reader = priorityReader({ bacnet, entryOf: () => entryOf(peer), now: () => 0 })
  const { transport, release } = await bacnet.borrow()
  t.teardown(release)
  const driver = new BacnetDriver(transport, peer, patient, { ...firstBatch(APDU_DEFAULT), multiple: false }, () => 0)
  const { promise: polled, resolve } = Promise.withResolvers<unknown>()
  poll = () => resolve(driver.read(inputs(1), never))
  let answers = 0
  for await (const _ of reader.read(DEVICE, objects, never)) answers++
  await polled
  t.is(answers, COUNT)
  t.deepEqual(
    peer.asked.map(({ service }) => service),
    [14, 14, 12, 14, 14, 14, 14],
  )
})

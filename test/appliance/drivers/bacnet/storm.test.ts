/** Many requests at once, slow peers among quick ones, and peers that lose answers. */
import test from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { inputs, never, openTransport, patient, range } from './harness.ts'
import { openFaultyDevice } from '#scripts/simulator/faulty/bacnet.ts'
import { heldBy } from '#scripts/simulator/faulty/exchange.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'
import { answer, seeded } from '../../../support/wire.ts'

test('four hundred reads of slow and quick devices at one address are all right', async t => {
  const transport = await openTransport(t)
  const drivers = await Promise.all(
    range(8).map(async k => {
      const device = await openUdpPeer(t, (request, reply) => {
        const apdu = answer(request, i => 1000 * k + i)
        setTimeout(reply, k % 2 ? 12 : 0, apdu)
      })
      return new BacnetDriver(transport, device, patient, firstBatch(1476), () => 1_000)
    }),
  )
  const reads = range(400).map(async n => {
    const k = n % 8
    const instances = [n, n + 1, n + 2]
    const readings = await drivers[k]!.read(inputs(...instances), never)
    return readings.every(({ v }, i) => v === 1000 * k + instances[i]!)
  })
  const right = await Promise.all(reads)
  t.is(right.filter(Boolean).length, 400)
})

test('two thousand reads of devices that lose one answer in twenty are all right', async t => {
  const transport = await openTransport(t)
  const random = seeded(5)
  const devices = await Promise.all(
    range(4).map(async k => {
      const device = await openFaultyDevice(random, `127.0.3.${k + 1}`)
      t.teardown(() => device.close())
      await device.misbehave('loss_of_5_percent')
      return { ...device, concurrency: 8 }
    }),
  )
  const reads = range(2000).map(async n => {
    const instances = range(5).map(i => (n + 7 * i) % 100)
    const targets = instances.map(instance => ({ type: 0, instance, property: 85 }))
    const outcome = await transport.request(devices[n % 4]!, { service: 14, targets }, { timeoutMs: 200, retries: 8 }, never)
    const wanted = instances.map(instance => ({ values: [{ type: 'real', value: heldBy(instance) }] }))
    return t.deepEqual(outcome.state === 'results' ? (outcome.results as unknown) : outcome, wanted)
  })
  await Promise.all(reads)
  t.true(transport.counters().sent > 2000, 'some were asked again')
})

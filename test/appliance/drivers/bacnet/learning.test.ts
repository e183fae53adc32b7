/** Properties that a driver finds out about a device: batch size, services, and points that fail a batch. */
import test from 'ava'
import { APDU_DEFAULT, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { bad, good, held, inputs, never, openDriver, openTransport, patient, range } from './harness.ts'
import { answer } from '../../../support/wire.ts'

const services = (asked: { service: number; instances: number[] }[]) =>
  asked.map(({ service, instances }) => `${service === 12 ? 'RP' : 'RPM'} ${instances.length}`)
const inOrder = (readings: Reading[]) => readings.toSorted((a, b) => Number(a.v) - Number(b.v))
const wanted = (count: number) => range(count).map(i => good(i, held(i)))

test('an Error that denies the service means ReadProperty from then on', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) =>
    reply(request.service === 14 ? Buffer.from([0x50, request.invokeId, 14, 0x91, 5, 0x91, 29]) : answer(request, held)),
  )
  t.deepEqual(await driver.read(inputs(0, 1), never), wanted(2))
  t.deepEqual(services(peer.asked), ['RPM 2', 'RP 1', 'RP 1'])
  t.is(driver.report().batch_size, 1)
})

test('a device that declines every batch without a usable reason is read one by one', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) =>
    reply(request.service === 14 ? Buffer.of(0x71, request.invokeId, 0) : answer(request, held)),
  )
  t.deepEqual(await driver.read(inputs(...range(8)), never), wanted(8))
  peer.asked.length = 0
  t.deepEqual(await driver.read(inputs(...range(8)), never), wanted(8))
  t.deepEqual(
    services(peer.asked),
    range(8).map(() => 'RP 1'),
  )
})

test('a point that spoils a batch is asked alone from then on', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) =>
    reply(request.service === 14 && request.instances.includes(5) ? Buffer.of(0x71, request.invokeId, 0) : answer(request, held)),
  )
  t.deepEqual(inOrder(await driver.read(inputs(...range(12)), never)), wanted(12))
  peer.asked.length = 0
  t.deepEqual(inOrder(await driver.read(inputs(...range(12)), never)), wanted(12))
  t.deepEqual(services(peer.asked), ['RPM 11', 'RP 1'])
  t.is(driver.report().batch_size, 92)
})

test('a device that declines everything for a while is asked in whole batches again afterwards', async t => {
  let isBusy = true
  const { driver, peer } = await openDriver(t, (request, reply) =>
    reply(isBusy ? Buffer.of(0x71, request.invokeId, 9) : answer(request, held)),
  )
  t.deepEqual(await driver.read(inputs(...range(4)), never), range(4).map(bad))
  t.is(driver.report().point_error, 'analog-input,3: abort out-of-resources')
  isBusy = false
  peer.asked.length = 0
  t.deepEqual(await driver.read(inputs(...range(4)), never), wanted(4))
  t.deepEqual(services(peer.asked), ['RPM 4'])
})

test('a device that drops what is too large for it is found out by a single point', async t => {
  const { driver, peer } = await openDriver(
    t,
    (request, reply) => {
      if (request.instances.length <= 3) reply(answer(request, held))
    },
    { retryPolicy: { timeoutMs: 800, retries: 0 } },
  )
  t.deepEqual(inOrder(await driver.read(inputs(...range(9)), never)), wanted(9))
  // A single point says that the device is there; so the batch is too large, and a quarter of it is not.
  t.deepEqual(services(peer.asked), ['RPM 9', 'RP 1', 'RPM 3', 'RPM 3', 'RPM 3'])
  peer.asked.length = 0
  await driver.read(inputs(...range(4)), never)
  t.deepEqual(services(peer.asked), ['RPM 3', 'RPM 1'])
})

for (const [maxApdu, requests] of [
  [206, 4],
  [1476, 1],
] as const) {
  test(`a device whose APDU nobody said is asked once: ${maxApdu} bytes make ${requests} requests of 40 points`, async t => {
    const objects = range(40).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => held(instance) }))
    const device = await openBacnetDevice({ device_instance: 7, name: 'sim', objects, maxApdu })
    t.teardown(() => device.close())
    const unsaid = { device_instance: 7, apdu: { ask: true, most: undefined } } as const
    const transport = await openTransport(t)
    const driver = new BacnetDriver(transport, device, patient, firstBatch(APDU_DEFAULT), () => 1_000, unsaid)
    t.deepEqual(await driver.read(inputs(...range(40)), never), wanted(40))
    t.is(device.requests(), 1 + requests)
    await driver.read(inputs(...range(40)), never)
    t.is(device.requests(), 1 + 2 * requests)
  })
}

test('a device that does not tell its APDU is taken for a small one', async t => {
  const { peer, transport } = await openDriver(t, (request, reply) => reply(answer(request, held)))
  const unsaid = { device_instance: 7, apdu: { ask: true, most: undefined } } as const
  const driver = new BacnetDriver(transport, peer, patient, firstBatch(APDU_DEFAULT), () => 1_000, unsaid)
  t.deepEqual(await driver.read(inputs(...range(30)), never), wanted(30))
  // Its first batch asks also who it is.
  t.deepEqual(services(peer.asked).slice(1), ['RPM 27', 'RPM 7'])
})

test('a device that has taken the address of another gives no values, neither at first nor after a silence', async t => {
  const open = (device_instance: number, port = 0) =>
    openBacnetDevice({
      device_instance,
      name: 'sim',
      objects: [{ type: 0, instance: 1, name: 'ai', value: () => device_instance }],
      port,
    })
  const first = await open(7)
  const place = { host: first.host, port: first.port }
  const transport = await openTransport(t)
  const driverOf = (device_instance: number) =>
    new BacnetDriver(transport, place, { timeoutMs: 2000, retries: 0 }, firstBatch(APDU_DEFAULT), () => 1_000, {
      device_instance,
    })
  const stranger = { instanceOf: DeviceError, message: /is not device \d/ }
  const driver = driverOf(7)
  t.is((await driver.read(inputs(1), never))[0]!.v, 7)
  await t.throwsAsync(driverOf(8).read(inputs(1), never), stranger)
  await first.close()
  await t.throwsAsync(driver.read(inputs(1), never), { instanceOf: DeviceError })
  const second = await open(8, place.port)
  await t.throwsAsync(driver.read(inputs(1), never), stranger)
  await second.close()
  const again = await open(7, place.port)
  t.teardown(() => again.close())
  t.is((await driver.read(inputs(1), never))[0]!.v, 7)
})

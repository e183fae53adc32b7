/** Another device at the address of a listed one: none of its values counts, and both ways recover by themselves. */
import { createSocket } from 'node:dgram'
import test, { type ExecutionContext } from 'ava'
import { APDU_DEFAULT, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import {
  checkTargets,
  endCheck,
  isCheckDue,
  startIdentity,
  findOtherDevice,
} from '#appliance/drivers/bacnet/core/identity-check.ts'
import { targetKey } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from '#appliance/drivers/bacnet/core/reply.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { type BacnetDeviceOptions, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { inputs, never, openTransport, patient, range } from './harness.ts'
import { datagram, hex } from '../../../support/wire.ts'

const POINTS = range(40)
/** Process 8, device 7, analog-input 1, 600 s left, present value 9. */
const NOTIFICATION = datagram(hex('10 02 09 08 1c 02000007 2c 00000001 3a 0258 4e 09 55 2e 44 41100000 2f 4f'))
const FAULT = { instanceOf: DeviceError, message: /another device answers|is not device/ }

/** Devices that take turns at one address; each holds its instance in all of its analog inputs, or what `holds` says. */
async function place(t: ExecutionContext, options: Partial<BacnetDeviceOptions> = {}, retryPolicy = patient) {
  const open = (device_instance: number, more: Partial<BacnetDeviceOptions> & { holds?: number }, port = 0) =>
    openBacnetDevice({
      device_instance,
      name: 'sim',
      objects: POINTS.map(instance => ({
        type: 0,
        instance,
        name: `ai ${instance}`,
        value: () => more.holds ?? device_instance,
      })),
      port,
      ...options,
      ...more,
    })
  let device = await open(7, {})
  t.teardown(() => device.close())
  const clock = { now: Date.UTC(2026, 0, 5) }
  const at = { host: device.host, port: device.port }
  const object = { device_instance: 7 }
  const transport = await openTransport(t)
  const driver = new BacnetDriver(transport, at, retryPolicy, firstBatch(APDU_DEFAULT), () => clock.now, object)
  const stranger = createSocket('udp4')
  t.teardown(() => stranger.close())
  return {
    driver,
    /** Notifies that analog input 1 of device 7 is 9, as if it were subscribed to. */
    async tell() {
      const { port } = transport.diagnostics().interfaces[0]!
      await new Promise(resolve => stranger.send(NOTIFICATION, port, at.host, resolve))
      // Earlier messages have been received once this is answered.
      await driver.read(inputs(1), never).catch(() => undefined)
    },
    /** @returns the values, each once */
    async poll(afterMs = MINUTE) {
      clock.now += afterMs
      const readings = await driver.read(inputs(...POINTS), never)
      t.true(readings.every(({ q }) => q === 'good'))
      return [...new Set(readings.map(({ v }) => v))]
    },
    silence: () => device.misbehave('silent'),
    async swap(device_instance: number, more: Partial<BacnetDeviceOptions> & { holds?: number } = {}) {
      await device.close()
      device = await open(device_instance, more, at.port)
    },
  }
}

for (const [name, options] of [
  ['asked for many at once', {}],
  ['without ReadPropertyMultiple', { rpm: false }],
  ['with the smallest APDU', { maxApdu: 50 }],
] as const) {
  test(`a device ${name} that is swapped between two polls gives nothing, and is read again when it is back`, async t => {
    const { poll, swap } = await place(t, options)
    t.deepEqual(await poll(), [7])
    t.deepEqual(await poll(), [7])
    await swap(8)
    await t.throwsAsync(poll(), FAULT)
    await t.throwsAsync(poll(5 * SECOND), FAULT)
    await t.throwsAsync(poll(), FAULT)
    await swap(7)
    t.deepEqual(await poll(5 * SECOND), [7])
    await swap(8)
    await t.throwsAsync(poll(), FAULT)
  })
}

test('a device of the same instance and another make gives nothing until it has stayed for ten minutes', async t => {
  const { poll, swap } = await place(t)
  for (let i = 0; i < 3; i++) t.deepEqual(await poll(), [7])
  await swap(7, { model: 'Another', holds: 9 })
  await t.throwsAsync(poll(), { instanceOf: DeviceError, message: /"Another" and was "Simulated controller"/ })
  await t.throwsAsync(poll(9 * MINUTE), { instanceOf: DeviceError, message: /"Another"/ })
  await swap(7)
  t.deepEqual(await poll(), [7])
  await swap(7, { model: 'Another', holds: 9 })
  await t.throwsAsync(poll(9 * MINUTE), { instanceOf: DeviceError })
  t.deepEqual(await poll(10 * MINUTE), [9], 'it was exchanged')
  await swap(7)
  await t.throwsAsync(poll(), { instanceOf: DeviceError })
})

test('after a silence a device is asked who it is at once, not when its minute is over', async t => {
  const { poll, swap, silence } = await place(t, {}, { timeoutMs: 2000, retries: 1 })
  for (let i = 0; i < 3; i++) t.deepEqual(await poll(), [7])
  silence()
  await t.throwsAsync(poll(SECOND), { instanceOf: DeviceError, message: /no answer/ })
  await swap(7, { model: 'Another', holds: 9 })
  await t.throwsAsync(poll(SECOND), { instanceOf: DeviceError, message: /"Another" and was "Simulated controller"/ })
})

test('what another device tells of its own accord does not count either', async t => {
  const { poll, swap, tell, driver } = await place(t, { cov: true })
  const told: Reading[] = []
  const stop = new AbortController()
  const listener = { changed: (readings: Reading[]) => void told.push(...readings), declined: () => undefined }
  const over = driver.watch!(inputs(1), listener, stop.signal)
  const values = () => told.map(({ v }) => v).filter(v => v === 9)
  for (let i = 0; i < 3; i++) await poll()
  await tell()
  t.is(values().length, 1)
  await swap(7, { model: 'Another', holds: 9 })
  await t.throwsAsync(poll(), FAULT)
  await tell()
  await swap(8, { holds: 9 })
  await t.throwsAsync(poll(), FAULT)
  await tell()
  t.is(values().length, 1)
  await swap(7)
  t.deepEqual(await poll(), [7])
  await tell()
  t.is(values().length, 2)
  stop.abort()
  await over
})

for (const periodSecs of [1, 7, 20, 29, 31, 45, 59, 60]) {
  test(`polled every ${periodSecs} s, a device is asked who it is at least once a minute`, t => {
    const identity = startIdentity(7)
    let longest = 0
    let last = 0
    for (let now = 0; now < 20 * MINUTE; now += periodSecs * SECOND) {
      if (!isCheckDue(identity, now)) continue
      longest = Math.max(longest, now - last)
      last = now
      endCheck(identity, new Map(), now)
    }
    t.true(longest <= MINUTE, `${longest} ms`)
    t.true(isCheckDue(identity, 0), 'the clock was set back')
  })
}

const told = (instance: number, vendor: number, model: string) => {
  const results: PropertyResult[] = [
    { values: [{ type: 'object', object: { type: 8, instance } }] },
    { values: [{ type: 'unsigned', value: vendor }] },
    { values: [{ type: 'text', value: model }] },
  ]
  return new Map(checkTargets(startIdentity(7), true).map((target, i) => [targetKey(target), results[i]!]))
}

test('a make that is told once, perhaps by a forger, is not held against the device', t => {
  const identity = startIdentity(7)
  for (const [minute, model] of ['A', 'forged', 'A', 'A'].entries()) {
    t.is(findOtherDevice(identity, told(7, 5, model), minute * MINUTE), undefined)
    endCheck(identity, told(7, 5, model), minute * MINUTE)
  }
  t.deepEqual(identity.make, { vendor_id: 5, model: 'A' })
  t.regex(findOtherDevice(identity, told(7, 5, 'forged'), 5 * MINUTE)!, /"forged" and was "A"/)
  t.true(isCheckDue(identity, 5 * MINUTE), 'the next read asks at once')
  t.is(findOtherDevice(identity, told(7, 5, 'A'), 5 * MINUTE), undefined)
  endCheck(identity, told(7, 5, 'A'), 5 * MINUTE)
  t.regex(findOtherDevice(identity, told(7, 6, 'A'), 16 * MINUTE)!, /vendor 6/, 'the ten minutes begin anew')
})

test('of a device that is asked for one value at a time only the object identifier is asked along', t => {
  t.deepEqual(
    checkTargets(startIdentity(7), false).map(({ property }) => property),
    [75],
  )
})

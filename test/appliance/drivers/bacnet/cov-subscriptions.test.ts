/** Notifications of changes: decoded strictly, accepted from the subscribed device only, subscriptions renewed in time. */
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { APDU_DEFAULT, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { readCovNotification } from '#appliance/drivers/bacnet/core/cov-notification.ts'
import { INSTANCE_MAX } from '#shared/core/bacnet/object.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { type BacnetDeviceOptions, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { good, hasty, held, inputs, never, openTransport, patient, range } from './harness.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'
import { answer, datagram, hex, mutate, seeded } from '../../../support/wire.ts'

const INSTANCE = 7
const PROCESS = INSTANCE + 1

/** Process 8, device 7, analog-input 3, 600 s left, present value 21.5, status flags. */
const NOTIFICATION = hex('09 08 1c 02000007 2c 00000003 3a 0258 4e 09 55 2e 44 41ac0000 2f 09 6f 2e 82 04 00 2f 4f')

test('a notification says who speaks to whom of what', t => {
  t.deepEqual(readCovNotification(NOTIFICATION), {
    processId: 8,
    device_instance: 7,
    object: { type: 0, instance: 3 },
    remainingSecs: 600,
    presentValue: [{ type: 'real', value: 21.5 }],
  })
})
for (const [name, bytes, reason] of [
  ['nothing', '', /ends too early/],
  ['a cut one', NOTIFICATION.subarray(0, -1).toString('hex'), /malformed/],
  ['bytes behind it', `${NOTIFICATION.toString('hex')}00`, /left over/],
  ['a speaker that is no device', NOTIFICATION.toString('hex').replace('02000007', '00000007'), /not a device/],
  ['no present value', NOTIFICATION.toString('hex').replace('0955', '0954'), /0 present values/],
  ['two present values', NOTIFICATION.toString('hex').replace('096f', '0955'), /2 present values/],
  ['a REAL of two bytes', NOTIFICATION.toString('hex').replace('4441ac0000', '4241ac'), /instead of 4/],
  ['an element of the present value', NOTIFICATION.toString('hex').replace('09552e', '095519012e'), /0 present values/],
] as const) {
  test(`a notification with ${name} is refused with the reason`, t => {
    t.regex(readCovNotification(hex(bytes)) as string, reason)
  })
}
test('a notification with priorities, and with more properties, is read', t => {
  const bytes = hex('09 08 1c 02000007 2c 00000003 39 00 4e 09 67 2e 91 00 2f 39 08 09 55 2e 44 41ac0000 2f 39 08 4f')
  t.like(readCovNotification(bytes), { remainingSecs: 0, presentValue: [{ type: 'real', value: 21.5 }] })
})
test('20,000 mutated notifications and 20,000 of noise are read or refused, and nothing is thrown', t => {
  const random = seeded(11)
  const isSound = (said: ReturnType<typeof readCovNotification>) =>
    typeof said === 'string'
      ? said !== ''
      : said.device_instance <= INSTANCE_MAX && said.presentValue.length > 0 && said.remainingSecs >= 0
  const mutated = Array.from({ length: 20_000 }, () => readCovNotification(mutate(NOTIFICATION, random)))
  t.true(mutated.every(isSound))
  const read = mutated.filter(said => typeof said !== 'string').length
  t.true(read > 100 && read < 19_900, `${read} were read`)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), bytes => isSound(readCovNotification(bytes))),
    { numRuns: 20_000 },
  )
})

async function until(t: ExecutionContext, ready: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (ready()) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  t.fail('it did not come to pass within 30 s')
}

type Options = Partial<BacnetDeviceOptions> & { lifetimeSecs?: number; retryPolicy?: typeof patient }

/** A device with analog inputs 0 to 3, and a driver that watches `points` of it. */
async function watching(
  t: ExecutionContext,
  points: number[],
  { lifetimeSecs = 600, retryPolicy = patient, ...options }: Options,
) {
  const values = range(4).map(held)
  const objects = range(4).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => values[instance]! }))
  const device = await openBacnetDevice({ device_instance: INSTANCE, name: 'sim', objects, cov: true, ...options })
  t.teardown(() => device.close())
  const transport = await openTransport(t)
  const driver = new BacnetDriver(transport, device, retryPolicy, firstBatch(1476), () => 1_000, {
    device_instance: INSTANCE,
    lifetimeSecs,
  })
  return { ...listening(t, driver, points), device, values, driver }
}

function listening(t: ExecutionContext, driver: BacnetDriver, points: number[]) {
  const told: Reading[] = []
  const declined: [number, string][] = []
  const stop = new AbortController()
  const over = driver.watch!(
    inputs(...points),
    { changed: readings => void told.push(...readings), declined: (count, reason) => void declined.push([count, reason]) },
    stop.signal,
  )
  const end = async () => {
    stop.abort()
    await over
  }
  t.teardown(end)
  return { told, declined, end }
}

test('after the first answered read a device is subscribed to, and tells at once and at each change', async t => {
  const { told, device, values, driver, end } = await watching(t, [1, 2], {})
  t.deepEqual(device.subscribed(), [])
  await driver.read(inputs(0), never)
  await until(t, () => told.length === 2)
  t.deepEqual(
    device.subscribed(),
    [1, 2].map(instance => ({ processId: PROCESS, type: 0, instance, lifetimeSecs: 600 })),
  )
  t.deepEqual(told, [good(1, 10), good(2, 20)])
  values[2] = 21.5
  device.tell(0, 2)
  await until(t, () => told.length === 3)
  t.deepEqual(told[2], good(2, 21.5))
  values[1] = Number.NaN
  device.tell(0, 1)
  await until(t, () => told.length === 4)
  t.deepEqual(told[3], { id: 'ai-1', t: 1_000, v: null, q: 'bad' })
  await end()
  device.tell(0, 2)
  await driver.read(inputs(0), never)
  t.is(told.length, 4)
})

test('a subscription is renewed before it runs out, under the same number', async t => {
  const { device, driver, declined } = await watching(t, [1], { lifetimeSecs: 1 })
  await driver.read(inputs(0), never)
  await until(t, () => device.subscribed().length >= 3)
  t.is(new Set(device.subscribed().map(({ processId }) => processId)).size, 1)
  t.deepEqual(declined, [])
})

test('a device that was away and forgot is subscribed to anew with the first read', async t => {
  const { told, device, driver } = await watching(t, [1, 2], { retryPolicy: hasty })
  const answered = async () => (await driver.read(inputs(0), never).catch(() => [])).length === 1
  const untilAnswered = async () => {
    while (!(await answered()));
  }
  await untilAnswered()
  await until(t, () => told.length >= 2)
  device.misbehave('silent')
  await t.throwsAsync(driver.read(inputs(0), never), { message: /no answer/ })
  device.reboot()
  device.misbehave('none')
  const before = told.length
  await untilAnswered()
  await until(t, () => told.length >= before + 2)
})

test('a device without SubscribeCOV says so once, and is read all the same', async t => {
  const { told, declined, device, driver } = await watching(t, [1, 2, 3], { cov: false, lifetimeSecs: 1 })
  await driver.read(inputs(0), never)
  await until(t, () => declined.length === 1)
  t.deepEqual(declined, [[3, 'reject unrecognized-service']])
  const before = device.requests()
  t.is(before, 3)
  t.deepEqual(await driver.read(inputs(1), never), [good(1, 10)])
  t.deepEqual(told, [])
})

test('an object that declines is polled alone, the others are told of', async t => {
  const { told, declined, driver } = await watching(t, [1, 9, 2], {})
  await driver.read(inputs(0), never)
  await until(t, () => told.length === 2 && declined.length === 1)
  t.deepEqual(declined, [[1, 'error unknown-object (class 1)']])
  t.deepEqual(
    told.map(({ id }) => id),
    ['ai-1', 'ai-2'],
  )
})

/** A device that accepts every subscription and sends the notifications of the test. */
async function talking(t: ExecutionContext) {
  const peer = await openUdpPeer(t, (request, reply) =>
    reply(request.service === 5 ? Buffer.of(0x20, request.invokeId, 5) : answer(request, held)),
  )
  const transport = await openTransport(t)
  const driver = new BacnetDriver(transport, peer, patient, firstBatch(APDU_DEFAULT), () => 1_000, { device_instance: INSTANCE })
  const { told, declined } = listening(t, driver, [3])
  let to: { port: number; address: string } | undefined
  peer.socket.on('message', (_, from) => {
    to = from
  })
  await driver.read(inputs(0), never)
  await until(t, () => peer.asked.some(({ service }) => service === 5))
  const say = (payload: Buffer, from = peer, service = 2) =>
    new Promise(resolve => {
      from.socket.send(datagram(Buffer.concat([Buffer.of(0x10, service), payload])), to!.port, to!.address, resolve)
    })
  return { peer, say, told, declined, transport, driver }
}

test('what others say, or say to others, or of other objects, is not taken', async t => {
  const { say, told, transport } = await talking(t)
  const stranger = await openUdpPeer(t, () => undefined, '127.0.0.2')
  const text = NOTIFICATION.toString('hex')
  await say(NOTIFICATION, stranger)
  for (const [from, to] of [
    ['0908', '0909'],
    ['02000007', '02000008'],
    ['2c00000003', '2c00000004'],
    ['2c00000003', '2c00800003'],
    ['4441ac0000', '4341ac00'],
  ] as const) {
    await say(hex(text.replace(from, to)))
  }
  await say(NOTIFICATION, undefined, 3)
  await say(NOTIFICATION)
  await until(t, () => told.length > 0)
  t.deepEqual(told, [good(3, 21.5)])
  t.is(transport.counters().unconfirmed, 8)
})

test('a device that tells without end is cut off, said once, and does not keep its reads from being answered', async t => {
  const { say, told, declined, driver } = await talking(t)
  for (let i = 0; i < 1500; i++) void say(NOTIFICATION)
  await until(t, () => declined.length > 0)
  t.deepEqual(await driver.read(inputs(1), never), [good(1, 10)])
  t.true(told.length < 1500)
  t.deepEqual(declined, [[1, 'the device reports more than 100 changes a second']])
})

test('a device that drops subscriptions is said to be polled when that lasts', async t => {
  const peer = await openUdpPeer(t, (request, reply) => {
    if (request.service !== 5) reply(answer(request, held))
  })
  const transport = await openTransport(t)
  const device = { device_instance: INSTANCE, lifetimeSecs: 1 }
  const driver = new BacnetDriver(transport, peer, hasty, firstBatch(APDU_DEFAULT), () => 1_000, device)
  const { declined } = listening(t, driver, [1, 2, 3])
  while ((await driver.read(inputs(0), never).catch(() => [])).length === 0);
  await until(t, () => declined.length === 1)
  t.is(declined[0]![0], 3)
  t.regex(declined[0]![1], /no answer/)
})

/** Bad points among many good ones: the good ones have their values, the bad ones are found, and a dead device costs few requests. */
import test, { type ExecutionContext } from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { heldBy } from '#scripts/simulator/faulty/exchange.ts'
import { type BadPoint, openFaultyPoints } from '#scripts/simulator/faulty/points.ts'
import { inputs, never, openTransport, range } from './harness.ts'
import { seeded } from '../../../support/wire.ts'

/** Short, as each failure costs it, and long for a peer in this process; how many requests it takes is for the pure tests. */
const HASTY = { timeoutMs: 300, retries: 1 }

async function open(t: ExecutionContext, apdu = 1476, retryPolicy = HASTY) {
  const device = await openFaultyPoints(seeded(5))
  t.teardown(() => device.close())
  const clock = { now: Date.UTC(2026, 0, 5) }
  const driver = new BacnetDriver(await openTransport(t), device, retryPolicy, firstBatch(apdu), () => clock.now)
  /** @returns instances with their right value, and those that are bad; fails when a point is missing or wrong */
  const poll = async (points: number[]) => {
    clock.now += MINUTE
    device.sizes.length = 0
    const readings = await driver.read(inputs(...points), never)
    return judge(t, readings, points)
  }
  return { device, driver, clock, poll }
}

function judge(t: ExecutionContext, readings: Reading[], points: number[]) {
  const instanceOf = ({ id }: Reading) => Number(id.slice('ai-'.length))
  t.deepEqual(sorted(readings.map(instanceOf)), sorted(points))
  const good = readings.filter(({ q }) => q === 'good')
  for (const one of good) t.is(one.v, heldBy(instanceOf(one)) as number)
  return { good: good.length, bad: sorted(readings.filter(({ q }) => q === 'bad').map(instanceOf)) }
}
const sorted = (list: number[]) => list.toSorted((a, b) => a - b)

const CASES: [string, [number, BadPoint][]][] = [
  ['a REAL of two bytes', [[250, 'short']]],
  ['no answer to a point, and to what is asked soon after it', [[300, 'mute']]],
  ['five of different kinds', (['silent', 'short', 'stranger', 'large', 'mute'] as const).map((how, i) => [126 * i, how])],
]
for (const [name, bad] of CASES) {
  test(`${name}: 500 points are good and only the bad are bad in the second poll`, async t => {
    const { device, poll } = await open(t)
    device.bad = new Map(bad)
    const points = range(500 + bad.length)
    await poll(points)
    t.deepEqual(await poll(points), { good: 500, bad: bad.map(([i]) => i) })
  })
}

for (const how of ['lonely', 'declined'] as const) {
  test(`points that are ${how} have their values too, for what it costs`, async t => {
    const { device, poll } = await open(t)
    device.bad = new Map([3, 77].map(i => [i, how]))
    await poll(range(200))
    t.deepEqual(await poll(range(200)), { good: 200, bad: [] })
    t.deepEqual(await poll(range(200)), { good: 200, bad: [] })
  })
}

test('on a network that loses every tenth datagram, five bad points hide none of 500 good ones for long', async t => {
  const { device, poll } = await open(t, 1476, { timeoutMs: 100, retries: 2 })
  device.loss = 0.1
  device.bad = new Map([3, 99, 200, 311, 504].map(i => [i, 'silent']))
  let [good, polls] = [0, 0]
  for (; polls < 6; polls++) good += (await poll(range(505))).good
  t.true(good >= 0.97 * 500 * polls, `${good} of ${500 * polls}`)
  device.loss = 0
  await poll(range(505))
  t.deepEqual(await poll(range(505)), { good: 500, bad: [3, 99, 200, 311, 504] })
})

test('a device that falls silent between two requests costs two further requests, and nothing is blamed', async t => {
  const { device, driver, poll } = await open(t)
  t.is((await poll(range(500))).good, 500)
  device.isDown = true
  device.sizes.length = 0
  await t.throwsAsync(driver.read(inputs(...range(500)), never), { instanceOf: DeviceError, message: /no answer/ })
  t.true(device.sizes.length <= 2 * (1 + HASTY.retries), device.sizes.join(' '))
  device.isDown = false
  t.is((await poll(range(500))).good, 500)
})

test('a device that falls silent in the midst of a search has nothing blamed on its points', async t => {
  const { device, poll } = await open(t)
  device.bad.set(20, 'silent')
  let requests = 0
  device.forge = () => {
    if (++requests === 8) device.isDown = true
    return undefined
  }
  const { bad } = await poll(range(400))
  t.true(bad.length > 300)
  device.isDown = false
  await poll(range(400))
  t.deepEqual(await poll(range(400)), { good: 399, bad: [20] })
})

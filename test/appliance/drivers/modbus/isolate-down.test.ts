/** Devices that are down, busy or lose answers are distinguished from bad registers, at little cost. */
import test from 'ava'
import { DeviceError } from '#shared/core/poll/device.ts'
import { driverOf, goodOf, never, openQuick, range, spanOf, failingAt } from './isolate-harness.ts'
import { words } from '../../../support/tcp-peer.ts'

test('a device that is down costs one short request per poll, and none of its registers is marked bad', async t => {
  let isDown = false
  const { bus, asked } = openQuick(() => (isDown ? 'silent' : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 500))
  await driver.read(all, never)
  isDown = true
  const costs: number[] = []
  for (let i = 0; i < 4; i++) {
    asked.length = 0
    const error = await t.throwsAsync(driver.read(all, never), { instanceOf: DeviceError })
    t.is((error as DeviceError).kind, 'silent')
    costs.push(asked.length)
  }
  t.true(costs[0]! <= 5, `${costs[0]} requests when it goes`)
  t.deepEqual(costs.slice(1), [1, 1, 1])
  isDown = false
  t.is(goodOf(await driver.read(all, never)).length, 500)
  asked.length = 0
  t.is(goodOf(await driver.read(all, never)).length, 500)
  t.is(asked.length, 4)
})

test('a device that goes down during a search ends it, and is read completely when it returns', async t => {
  let left = Number.POSITIVE_INFINITY
  const isIll = failingAt('silent', 200)
  const { bus, asked } = openQuick(request => (left-- <= 0 ? 'silent' : isIll(request)))
  for (const after of range(1, 30)) {
    left = after
    const driver = driverOf(bus)
    asked.length = 0
    await driver.read(words(...range(0, 500)), never).catch(() => undefined)
    t.true(asked.length <= after + 8, `${asked.length} requests, ${after} of them answered`)
    left = Number.POSITIVE_INFINITY
    for (let poll = 0; poll < 3; poll++) await driver.read(words(...range(0, 500)), never)
    t.is(goodOf(await driver.read(words(...range(0, 500)), never)).length, 499, `gone after ${after}`)
  }
})

test('an unwanted register without an answer is skipped, from the third poll on without a timeout', async t => {
  const { bus, asked } = openQuick(failingAt('silent', 5))
  const driver = driverOf(bus)
  for (let poll = 0; poll < 2; poll++) t.deepEqual(goodOf(await driver.read(words(0, 1, 9, 10), never)), [0, 1, 9, 10])
  asked.length = 0
  t.deepEqual(goodOf(await driver.read(words(0, 1, 9, 10), never)), [0, 1, 9, 10])
  t.deepEqual(
    asked.map(({ address, count }) => [address, count]),
    [
      [0, 2],
      [9, 2],
    ],
  )
})

test('a device that does not answer long reads gets only short ones after four polls', async t => {
  const { bus, asked } = openQuick(({ count }) => (count > 20 ? 'silent' : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 250))
  for (let poll = 0; poll < 4; poll++) t.is(goodOf(await driver.read(all, never)).length, 250)
  asked.length = 0
  t.is(goodOf(await driver.read(all, never)).length, 250)
  t.true(asked.every(({ count }) => count <= 20))
})

test('one lost answer does not change how a device is read', async t => {
  let lost = 0
  const { bus, asked } = openQuick(() => (lost-- > 0 ? 'silent' : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 500))
  await driver.read(all, never)
  lost = 1
  t.is(goodOf(await driver.read(all, never)).length, 500)
  await driver.read(all, never)
  asked.length = 0
  t.is(goodOf(await driver.read(all, never)).length, 500)
  t.is(asked.length, 4)
})

test('a busy device is not searched for bad registers', async t => {
  let isBusy = false
  const { bus, asked } = openQuick(() => (isBusy ? 6 : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 500))
  await driver.read(all, never)
  asked.length = 0
  isBusy = true
  t.is(goodOf(await driver.read(all, never)).length, 0)
  t.true(asked.length <= 8)
  t.regex(driver.report().point_error ?? '', /exception 6/)
  isBusy = false
  t.is(goodOf(await driver.read(all, never)).length, 500)
})

test('the answer to a test request cannot be mistaken for the late answer to the failed one', async t => {
  const { bus, asked } = openQuick(failingAt('silent', 100))
  await driverOf(bus).read(words(...range(0, 10), 100), never)
  t.deepEqual(asked.slice(0, 3).map(spanOf), [
    [0, 10],
    [100, 1],
    [0, 10],
  ])
})

test('occasional lost answers do not split blocks', async t => {
  let lost = 0
  const { bus, asked } = openQuick(() => (lost-- > 0 ? 'silent' : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 500))
  for (let i = 0; i < 5; i++) {
    lost = 1
    t.is(goodOf(await driver.read(all, never)).length, 500)
    for (let well = 0; well < 2; well++) await driver.read(all, never)
  }
  asked.length = 0
  await driver.read(all, never)
  t.is(asked.length, 4)
})

test('a device whose points all rest is still detected when it goes down', async t => {
  let isDown = false
  const { bus, asked } = openQuick(() => (isDown ? 'silent' : 2))
  const driver = driverOf(bus)
  for (let poll = 0; poll < 4; poll++) t.is((await driver.read(words(5, 6), never)).length, 2)
  asked.length = 0
  isDown = true
  await t.throwsAsync(driver.read(words(5, 6), never), { instanceOf: DeviceError })
  t.true(asked.length > 0)
})

test('without a connection one request fails for all points', async t => {
  const { bus, asked } = openQuick(() => 'unreachable')
  const error = await t.throwsAsync(driverOf(bus).read(words(...range(0, 500)), never), { instanceOf: DeviceError })
  t.is((error as DeviceError).kind, 'silent')
  t.is(asked.length, 1)
})

test('a register that makes the device unavailable for a while does not cost other values for long', async t => {
  let isGone = false
  const isIll = failingAt('silent', 330)
  const { bus } = openQuick(request => {
    if (!isGone && isIll(request)) isGone = true
    return isGone ? 'silent' : undefined
  })
  const driver = driverOf(bus)
  const all = [...range(0, 20), ...range(300, 340), ...range(600, 620)]
  const counts: number[] = []
  for (let poll = 0; poll < 16; poll++) {
    isGone = false
    counts.push(goodOf(await driver.read(words(...all), never)).length)
  }
  t.is(counts[1], 40, 'the other blocks are read before the one that does it')
  t.is(counts.at(-1), 79)
})

/** Bad registers are retried at growing intervals, within a bounded time, and do not delay others. */
import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { driverOf, goodOf, never, ONCE, openQuick, others, range, spanOf, failingAt } from './isolate-harness.ts'
import { words } from '../../../support/tcp-peer.ts'

test('a bad register rests between retries, and is read with the others once it answers', async t => {
  let [now, isIll] = [0, true]
  const { bus, asked } = openQuick(request => (isIll ? failingAt('silent', 30)(request) : undefined))
  const driver = driverOf(bus, ONCE, () => now)
  const all = words(...range(0, 60))
  const triesOf = async () => {
    asked.length = 0
    await driver.read(all, never)
    return asked.filter(({ address, count }) => address <= 30 && address + count > 30).length
  }
  t.true((await triesOf()) > 1)
  t.is(await triesOf(), 1, 'the first time it may have been chance')
  let tries = 0
  for (let i = 0; i < 24 * 60; i++) {
    now += MINUTE
    tries += await triesOf()
  }
  t.true(tries > 20 && tries < 32, `${tries} tries in a day`)
  isIll = false
  now += HOUR
  t.is(goodOf(await driver.read(all, never)).length, 60)
  asked.length = 0
  t.is(goodOf(await driver.read(all, never)).length, 60)
  t.deepEqual(asked.map(spanOf), [[0, 60]])
})

test('registers between points are tried again seldom, and read again once the unit has them', async t => {
  let [now, isMissing] = [0, true]
  const { bus, asked } = openQuick(request => (isMissing ? failingAt(2, 5, 105)(request) : undefined))
  const driver = driverOf(bus, ONCE, () => now)
  const all = words(0, 9, 100, 109, 200, 203)
  const poll = async () => {
    asked.length = 0
    t.is(goodOf(await driver.read(all, never)).length, 6)
    return asked.map(spanOf)
  }
  await poll()
  const apart = [
    [0, 1],
    [9, 1],
    [100, 1],
    [109, 1],
    [200, 1],
    [203, 1],
  ]
  t.deepEqual(await poll(), apart)
  let declined = 0
  for (let i = 0; i < 24 * 60; i++) {
    now += MINUTE
    declined += (await poll()).filter(([address, count]) => address! <= 105 && address! + count! > 105).length
  }
  t.true(declined > 20 && declined < 32, `${declined} requests in a day`)
  isMissing = false
  now += HOUR
  t.deepEqual(await poll(), [
    [0, 10],
    [100, 10],
    [200, 4],
  ])
})

test('with many bad registers each good one is read within a few polls', async t => {
  const silent = range(0, 3000).filter(address => address % 30 === 0)
  const { bus, asked } = openQuick(failingAt('silent', ...silent))
  const driver = driverOf(bus)
  const all = range(0, 3000).filter(address => address % 30 === 0 || address % 30 === 20)
  const unseen = new Set(others(all, silent))
  for (let poll = 0; poll < 12; poll++) {
    asked.length = 0
    for (const value of goodOf(await driver.read(words(...all), never))) unseen.delete(value)
    t.true(asked.length <= 2 * all.length)
  }
  t.is(unseen.size, 0)
  t.is(goodOf(await driver.read(words(...all), never)).length, 100)
})

test('a block that failed recently is read last, with one attempt', async t => {
  const { bus, asked } = openQuick(failingAt('silent', 5))
  const driver = driverOf(bus, { timeoutMs: 500, retries: 3 })
  const all = words(0, 9, 300)
  await driver.read(all, never)
  asked.length = 0
  await driver.read(all, never)
  t.deepEqual(
    asked.slice(0, 2).map(({ address, count, retries }) => [address, count, retries]),
    [
      [300, 1, 3],
      [0, 10, 0],
    ],
  )
})

test('a read that ended after too many timeouts is continued by the next one', async t => {
  const silent = range(0, 40).map(i => 100 * i)
  const { bus, asked } = openQuick(failingAt('silent', ...silent))
  const driver = driverOf(bus)
  const all = words(...silent, ...silent.map(address => address + 50))
  await driver.read(all, never)
  asked.length = 0
  await driver.read(all, never)
  t.is(asked[0]!.address, 1550)
})

test('the timeouts of one read are bounded, however many registers are bad', async t => {
  const isSilent = failingAt('silent', ...range(0, 500).filter(address => address % 9 === 0))
  let silences = 0
  const { bus } = openQuick(isSilent, () => silences++)
  const driver = driverOf(bus)
  for (let poll = 0; poll < 12; poll++) {
    silences = 0
    await driver.read(words(...range(0, 500)), never)
    t.true(silences <= 40, `${silences} in poll ${poll}`)
  }
  t.is(goodOf(await driver.read(words(...range(0, 500)), never)).length, 444)
})

test('retries of bad registers without an answer take at most a tenth of the time', async t => {
  let [now, tries] = [0, 0]
  const silent = range(0, 20).map(i => 25 * i)
  const { bus, asked } = openQuick(failingAt('silent', ...silent), () => (now += 3000))
  const driver = driverOf(bus, ONCE, () => now)
  const poll = () => driver.read(words(...range(0, 500)), never)
  for (let i = 0; i < 6; i++) await poll()
  const from = now
  while (now < from + 10 * MINUTE) {
    now += 1000
    asked.length = 0
    await poll()
    tries += asked.filter(({ address, count }) => count === 1 && silent.includes(address)).length
  }
  t.true(tries >= 10 && tries <= 20, `${tries} tries of 3 s in 10 min`)
})

test('a few of the declined registers are tried again in each read', async t => {
  const { bus, asked } = openQuick(failingAt(2, ...range(0, 30)))
  const driver = driverOf(bus)
  await driver.read(words(...range(0, 40)), never)
  asked.length = 0
  await driver.read(words(...range(0, 40)), never)
  t.deepEqual(asked.map(spanOf), [
    [30, 10],
    [0, 1],
    [1, 1],
    [2, 1],
    [3, 1],
  ])
})

/** Registers that make every read fail that contains them: the other registers of the device are still read. */
import test from 'ava'
import {
  driverOf,
  goodOf,
  type Ill,
  never,
  ONCE,
  openQuick,
  openRtu,
  openTcp,
  others,
  range,
  failingAt,
} from './isolate-harness.ts'
import { points, words } from '../../../support/tcp-peer.ts'
import { seeded } from '../../../support/wire.ts'

for (const [wire, open] of [
  ['TCP', openTcp],
  ['a serial line', openRtu],
] as const) {
  for (const retries of [0, 1]) {
    test(`on ${wire} registers after one without an answer are read, with ${retries} retries`, async t => {
      const { bus } = await open(t, failingAt('silent', 100))
      const driver = driverOf(bus, { ...ONCE, retries })
      const asked = words(7, 100, 150, 160)
      const readings = await driver.read(asked, never)
      t.deepEqual(
        goodOf(readings).toSorted((a, b) => a - b),
        [7, 150, 160],
      )
      t.is(readings.length, 4)
      t.regex(driver.report().point_error ?? '', /^holding:100: no answer/)
    })
  }

  for (const [how, culprits] of [
    ['silent', [123]],
    ['garbled', [499]],
    [11, [0, 77, 78, 250, 499]],
    [4, [0, 1, 2, 3, 124]],
  ] as [Ill, number[]][]) {
    test(`on ${wire} 500 registers are good except ${culprits.length} that answer ${how}`, async t => {
      const { bus, asked } = await open(t, failingAt(how, ...culprits))
      const driver = driverOf(bus)
      const all = words(...range(0, 500))
      await driver.read(all, never)
      asked.length = 0
      const readings = await driver.read(all, never)
      t.is(readings.length, 500)
      t.deepEqual(
        goodOf(readings).toSorted((a, b) => a - b),
        others(range(0, 500), culprits),
      )
      t.true(asked.length <= 4 + 3 * culprits.length, `${asked.length} requests`)
    })
  }
}

test('a register that makes the device close the connection costs no other value', async t => {
  const { bus } = await openTcp(t, failingAt('closed', 40))
  const driver = driverOf(bus, { timeoutMs: 60_000, retries: 0 })
  const all = words(...range(0, 60))
  t.deepEqual(
    goodOf(await driver.read(all, never)).toSorted((a, b) => a - b),
    others(range(0, 60), [40]),
  )
})

test('with up to five bad registers anywhere among 500, the second poll has all others in a bounded number of requests', async t => {
  const random = seeded(12)
  const pick = (below: number) => Math.floor(random() * below)
  const ills: Ill[] = ['silent', 'garbled', 1, 2, 3, 4, 6, 10, 11]
  for (let i = 0; i < 400; i++) {
    const culprits = [...new Set(range(0, 1 + pick(5)).map(() => pick(500)))]
    const stride = 1 + pick(30)
    const all = range(0, 500).map(nth => nth * stride)
    const badAddresses = culprits.map(nth => nth * stride)
    const how = ills[pick(ills.length)]
    const { bus, asked } = openQuick(failingAt(how, ...badAddresses))
    const driver = driverOf(bus)
    const title = `${how} at ${badAddresses}`
    await driver.read(words(...all), never)
    t.true(asked.length <= 2 * 500 + 100, `${title}: ${asked.length} requests in the first poll`)
    asked.length = 0
    const readings = await driver.read(words(...all), never)
    t.deepEqual(
      goodOf(readings).toSorted((a, b) => a - b),
      others(all, badAddresses),
      title,
    )
    t.is(readings.length, 500)
  }
})

test('all bits of a missing register are one bad range', async t => {
  const { bus, asked } = openQuick(failingAt(2, 4))
  const driver = driverOf(bus)
  const bits = points('holding:3:uint16', ...range(0, 16).map(bit => `holding:4:bit:${bit}`), 'holding:5:uint16')
  await driver.read(bits, never)
  t.true(asked.length <= 5)
  asked.length = 0
  t.deepEqual(goodOf(await driver.read(bits, never)), [3, 5])
  t.deepEqual(
    asked.map(({ address }) => address),
    [3, 5, 4],
  )
})

test('while one unit is searched, other units are read between its requests', async t => {
  const isIll = failingAt('silent', 3, 77)
  const { bus, asked } = await openRtu(t, request => (request.unit === 1 ? isIll(request) : undefined))
  const searched = driverOf(bus).read(words(...range(0, 120)), never)
  const well = driverOf(bus, ONCE, () => 1_000, 2)
  for (let i = 0; i < 5; i++) t.deepEqual(goodOf(await well.read(words(9), never)), [9])
  t.true(asked.findLastIndex(({ unit }) => unit === 2) < 16)
  t.is(goodOf(await searched).length, 118)
})

test('a cancelled search keeps the readings so far and marks nothing as bad', async t => {
  const giveUp = new AbortController()
  const { bus } = await openTcp(t, request => {
    if (request.address < 200) return undefined
    setTimeout(() => giveUp.abort(), 20)
    return 'silent'
  })
  const readings = await driverOf(bus, { timeoutMs: 60_000, retries: 3 }).read(words(3, 200, 300), giveUp.signal)
  t.deepEqual(readings, [{ id: 'holding:3:uint16', t: 1_000, v: 3, q: 'good' }])
})

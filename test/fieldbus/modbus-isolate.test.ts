/** Registers that spoil every read they are in: the others of the device are read all the same. */
import test, { type ExecutionContext } from 'ava'
import type { Place } from '#shared/core/modbus/point.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { type ModbusBus, modbusBus, type Outcome, type Patience } from '../../appliance/drivers/modbus/bus.ts'
import { modbusDriver } from '../../appliance/drivers/modbus/driver.ts'
import { serialLink } from '../../appliance/drivers/modbus/serial-link.ts'
import { tcpLink } from '../../appliance/drivers/modbus/tcp-link.ts'
import { openRtuLine, rtuAnswer, rtuFrame } from '../sim/modbus-rtu.ts'
import { modbusFrame, openTcpPeer, points, registersOf, words } from './tcp-peer.ts'
import { seeded } from './wire.ts'

const never = new AbortController().signal

/** How a device answers a request: `undefined` is well, a number is an exception. */
type Ill = 'silent' | 'garbled' | 'closed' | 'unreachable' | number | undefined
type Asked = { unit: number; address: number; count: number; retries?: number }
type Device = (asked: Asked) => Ill

/** What spoils each read that one of `addresses` is in. */
const spoiltBy =
  (how: Ill, ...addresses: number[]): Device =>
  ({ address, count }) =>
    addresses.some(one => one >= address && one < address + count) ? how : undefined

type Opened = { bus: ModbusBus; asked: Asked[] }
const spanOf = ({ address, count }: Asked) => [address, count]

/** A bus without a wire beneath it: answers take no time, and silences as long as `wait` says. */
function openQuick(device: Device, wait: () => void = () => undefined): Opened {
  const asked: Asked[] = []
  const answer = (unit: number, { address, count }: Place, { retries }: Patience): Outcome => {
    asked.push({ unit, address, count, retries })
    const ill = device({ unit, address, count })
    if (ill === 'silent') wait()
    if (ill === 'unreachable') return { state: 'unreachable', reason: 'no connection' }
    if (typeof ill === 'number') return { state: 'exception', code: ill, at: 1_000, rttMs: 1 }
    if (ill === 'garbled') return { state: 'garbled', reason: 'garbled' }
    if (ill) return { state: 'silent', reason: 'no answer' }
    const bytes = registersOf({ id: 0, unit, code: 3, address, count }).subarray(2)
    return { state: 'data', bytes, at: 1_000, rttMs: 1 }
  }
  return { asked, bus: { read: async (unit, place, patience) => answer(unit, place, patience), close: async () => undefined } }
}

async function openTcp(t: ExecutionContext, device: Device): Promise<Opened> {
  const peer = await openTcpPeer(t, (request, socket) => {
    const ill = device(request)
    if (ill === 'silent') return
    if (ill === 'closed' || ill === 'unreachable') return void socket.destroy()
    if (ill === 'garbled') return void socket.write(modbusFrame(request, Buffer.of(3, 9, 9)))
    socket.write(modbusFrame(request, ill === undefined ? registersOf(request) : Buffer.of(request.code | 0x80, ill)))
  })
  const bus = modbusBus(tcpLink('127.0.0.1', peer.port), () => 1_000)
  t.teardown(() => bus.close())
  return { bus, asked: peer.asked }
}

async function openRtu(t: ExecutionContext, device: Device): Promise<Opened> {
  const line = await openRtuLine((request, send) => {
    const ill = device(request)
    if (typeof ill === 'number') send(rtuFrame(request.unit, Buffer.of(request.code | 0x80, ill)))
    else if (ill === 'garbled') send(rtuAnswer(request).fill(0x55, 3, 5))
    else if (ill === undefined) send(rtuAnswer({ ...request, address: request.address - 1000 * request.unit }))
  })
  const bus = modbusBus(serialLink({ path: line.path, baud: 115_200, parity: 'even', stopBits: 1 }), () => 1_000)
  t.teardown(async () => {
    await bus.close()
    await line.close()
  })
  return { bus, asked: line.asked }
}

const ONCE: Patience = { timeoutMs: 500, retries: 0 }
const driverOf = (bus: ModbusBus, patience = ONCE, now = () => 1_000, unit_id = 1) =>
  modbusDriver(bus, { unit_id, max_gap: 16, patience, now })
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const goodOf = (readings: Reading[]) => readings.filter(({ q }) => q === 'good').map(({ v }) => v as number)
/** Of `all`, those that are not among `culprits`. */
const others = (all: number[], culprits: number[]) => all.filter(address => !culprits.includes(address))

for (const [wire, open] of [
  ['TCP', openTcp],
  ['a serial line', openRtu],
] as const) {
  for (const retries of [0, 1]) {
    test(`on ${wire} what follows a silent register is read, with ${retries} retries`, async t => {
      const { bus } = await open(t, spoiltBy('silent', 100))
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
    test(`on ${wire} 500 registers are good but for ${culprits.length} that answer ${how}`, async t => {
      const { bus, asked } = await open(t, spoiltBy(how, ...culprits))
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

test('a register that makes the device close the connection costs nobody else a value', async t => {
  const { bus } = await openTcp(t, spoiltBy('closed', 40))
  const driver = driverOf(bus, { timeoutMs: 60_000, retries: 0 })
  const all = words(...range(0, 60))
  t.deepEqual(
    goodOf(await driver.read(all, never)).toSorted((a, b) => a - b),
    others(range(0, 60), [40]),
  )
})

test('wherever up to five of 500 registers spoil their reads, the second poll has all others, in bounded requests', async t => {
  const random = seeded(12)
  const pick = (below: number) => Math.floor(random() * below)
  const ills: Ill[] = ['silent', 'garbled', 1, 2, 3, 4, 6, 10, 11]
  for (let i = 0; i < 400; i++) {
    const culprits = [...new Set(range(0, 1 + pick(5)).map(() => pick(500)))]
    const stride = 1 + pick(30)
    const all = range(0, 500).map(nth => nth * stride)
    const spoilers = culprits.map(nth => nth * stride)
    const how = ills[pick(ills.length)]
    const { bus, asked } = openQuick(spoiltBy(how, ...spoilers))
    const driver = driverOf(bus)
    const title = `${how} at ${spoilers}`
    await driver.read(words(...all), never)
    t.true(asked.length <= 2 * 500 + 100, `${title}: ${asked.length} requests in the first poll`)
    asked.length = 0
    const readings = await driver.read(words(...all), never)
    t.deepEqual(
      goodOf(readings).toSorted((a, b) => a - b),
      others(all, spoilers),
      title,
    )
    t.is(readings.length, 500)
  }
})

test('a device that is down costs one short request a poll, and no register of it is blamed', async t => {
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

test('a device that goes down in the middle of a search ends it, and is read whole when it is back', async t => {
  let left = Number.POSITIVE_INFINITY
  const isIll = spoiltBy('silent', 200)
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

test('a culprit rests between its tries, and is read with the others from when it answers', async t => {
  let [now, isIll] = [0, true]
  const { bus, asked } = openQuick(request => (isIll ? spoiltBy('silent', 30)(request) : undefined))
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

test('a silent register that nobody asked for is read round, from the third poll on without a silence', async t => {
  const { bus, asked } = openQuick(spoiltBy('silent', 5))
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

test('a device that is silent to long reads is asked for short ones alone after four polls', async t => {
  const { bus, asked } = openQuick(({ count }) => (count > 20 ? 'silent' : undefined))
  const driver = driverOf(bus)
  const all = words(...range(0, 250))
  for (let poll = 0; poll < 4; poll++) t.is(goodOf(await driver.read(all, never)).length, 250)
  asked.length = 0
  t.is(goodOf(await driver.read(all, never)).length, 250)
  t.true(asked.every(({ count }) => count <= 20))
})

test('one lost answer changes nothing of how a device is asked', async t => {
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

test('when more registers are silent than one poll has time for, each good one is read within a few polls', async t => {
  const silent = range(0, 3000).filter(address => address % 30 === 0)
  const { bus, asked } = openQuick(spoiltBy('silent', ...silent))
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

test('a device that is busy is not searched for a culprit', async t => {
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

test('the bits of a register that is not there are one culprit', async t => {
  const { bus, asked } = openQuick(spoiltBy(2, 4))
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

test('while one unit of a line is searched the others have their turn between its requests', async t => {
  const isIll = spoiltBy('silent', 3, 77)
  const { bus, asked } = await openRtu(t, request => (request.unit === 1 ? isIll(request) : undefined))
  const searched = driverOf(bus).read(words(...range(0, 120)), never)
  const well = driverOf(bus, ONCE, () => 1_000, 2)
  for (let i = 0; i < 5; i++) t.deepEqual(goodOf(await well.read(words(9), never)), [9])
  t.true(asked.findLastIndex(({ unit }) => unit === 2) < 16)
  t.is(goodOf(await searched).length, 118)
})

test('a read that is given up in a search keeps what it has and calls nothing bad', async t => {
  const giveUp = new AbortController()
  const { bus } = await openTcp(t, request => {
    if (request.address < 200) return undefined
    setTimeout(() => giveUp.abort(), 20)
    return 'silent'
  })
  const readings = await driverOf(bus, { timeoutMs: 60_000, retries: 3 }).read(words(3, 200, 300), giveUp.signal)
  t.deepEqual(readings, [{ id: 'holding:3:uint16', t: 1_000, v: 3, q: 'good' }])
})

test('a block that failed lately comes last, and gets one attempt', async t => {
  const { bus, asked } = openQuick(spoiltBy('silent', 5))
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

test('a read that stops for silences is followed by one that begins where it stopped', async t => {
  const silent = range(0, 40).map(i => 100 * i)
  const { bus, asked } = openQuick(spoiltBy('silent', ...silent))
  const driver = driverOf(bus)
  const all = words(...silent, ...silent.map(address => address + 50))
  await driver.read(all, never)
  asked.length = 0
  await driver.read(all, never)
  t.is(asked[0]!.address, 1550)
})

test('what is asked to see whether a device is there cannot be taken for the late answer of what was silent', async t => {
  const { bus, asked } = openQuick(spoiltBy('silent', 100))
  await driverOf(bus).read(words(...range(0, 10), 100), never)
  t.deepEqual(asked.slice(0, 3).map(spanOf), [
    [0, 10],
    [100, 1],
    [0, 10],
  ])
})

test('answers that are lost now and then, with good reads between, leave blocks whole', async t => {
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

test('however many registers are silent, one read meets a bounded number of silences', async t => {
  const isSilent = spoiltBy('silent', ...range(0, 500).filter(address => address % 9 === 0))
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

test('culprits that do not answer take a tenth of the time, however many they are', async t => {
  let [now, tries] = [0, 0]
  const silent = range(0, 20).map(i => 25 * i)
  const { bus, asked } = openQuick(spoiltBy('silent', ...silent), () => (now += 3000))
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

test('of culprits that decline a few are tried again in each read', async t => {
  const { bus, asked } = openQuick(spoiltBy(2, ...range(0, 30)))
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

test('a device of which every point rests is still seen to go down', async t => {
  let isDown = false
  const { bus, asked } = openQuick(() => (isDown ? 'silent' : 2))
  const driver = driverOf(bus)
  for (let poll = 0; poll < 4; poll++) t.is((await driver.read(words(5, 6), never)).length, 2)
  asked.length = 0
  isDown = true
  await t.throwsAsync(driver.read(words(5, 6), never), { instanceOf: DeviceError })
  t.true(asked.length > 0)
})

test('where there is no connection one request says so for all', async t => {
  const { bus, asked } = openQuick(() => 'unreachable')
  const error = await t.throwsAsync(driverOf(bus).read(words(...range(0, 500)), never), { instanceOf: DeviceError })
  t.is((error as DeviceError).kind, 'silent')
  t.is(asked.length, 1)
})

test('a register after which the device is gone for a while takes no value from the others for long', async t => {
  let isGone = false
  const isIll = spoiltBy('silent', 330)
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

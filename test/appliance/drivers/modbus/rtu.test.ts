/** Modbus RTU over a real terminal device: whatever comes over the line, no point gets another one's value. */
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { DeviceError } from '#shared/core/poll/device.ts'
import { type ModbusBus, SharedBus } from '#appliance/drivers/modbus/bus.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import { modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { explainPort, serialLink } from '#appliance/drivers/modbus/serial-link.ts'
import { openRtuLine, rtuAnswer, type RtuBehaviour, rtuFrame, type RtuLine } from '#scripts/simulator/modbus/rtu.ts'
import { driverConformance } from '../../../conformance/driver.ts'
import { points, values } from '../../../support/tcp-peer.ts'
import { seeded } from '../../../support/wire.ts'

const never = new AbortController().signal
const patient = { timeoutMs: 8000, retries: 1 }
/** What is garbled is known when the time is over; a busy machine needs some for the few bytes. */
const brief = { timeoutMs: 4000, retries: 0 }
const endless = { timeoutMs: 600_000, retries: 0 }

const well: RtuBehaviour = (request, send) => send(rtuAnswer(request))
const portAt = (path: string) => serialLink({ path, baud: 115_200, parity: 'even', stopBits: 1 })
const driverOf = (bus: ModbusBus, retryPolicy: RetryPolicy, unit_id = 1) =>
  modbusDriver(bus, { unit_id, max_gap: 16, retryPolicy, now: () => 1_000 })

async function openLine(t: ExecutionContext, behaviour: RtuBehaviour): Promise<RtuLine & { bus: ModbusBus }> {
  const line = await openRtuLine(behaviour)
  const bus = new SharedBus(portAt(line.path), () => 1_000)
  t.teardown(async () => {
    await bus.close()
    await line.close()
  })
  return { ...line, bus }
}
const words = (...addresses: number[]) => points(...addresses.map(address => `holding:${address}:uint16`))

driverConformance(test, 'Modbus RTU', async t => {
  let isSilent = false
  const { bus } = await openLine(t, (request, send) => {
    const { unit, code, address, count } = request
    if (isSilent) return
    send(address + count > 99 ? rtuFrame(unit, Buffer.of(code | 0x80, 2)) : rtuAnswer(request))
  })
  const conversion = { kind: 'number', scale: 1, offset: -990 } as const
  return {
    driver: driverOf(bus, { timeoutMs: 1500, retries: 0 }),
    address: point_id => {
      const address = point_id === 'missing' ? 99 : Number(point_id.slice(1))
      return {
        address: { table: 'input' as const, address, count: 1, format: 'uint16' as const, order: 'ABCD' as const },
        conversion,
      }
    },
    silence: () => {
      isSilent = true
    },
    now: 1_000,
  }
})

test('all tables are read over a serial line, with long blocks and every byte value', async t => {
  const { bus } = await openLine(t, well)
  const wide = Array.from({ length: 120 }, (_, i) => 250 + i)
  const asked = [...words(...wide), ...points('input:5:uint16', 'coil:3', 'coil:4', 'discrete:9', 'holding:250:bits:1-3')]
  t.deepEqual(values(await driverOf(bus, patient).read(asked, never)), {
    ...Object.fromEntries(wide.map(address => [`holding:${address}:uint16`, 1000 + address])),
    'input:5:uint16': 1005,
    'coil:3': true,
    'coil:4': false,
    'discrete:9': true,
    'holding:250:bits:1-3': (1250 >> 1) & 7,
  })
})

test('units on one line take turns', async t => {
  let [inFlight, most] = [0, 0]
  const { bus } = await openLine(t, (request, send) => {
    most = Math.max(most, ++inFlight)
    setTimeout(() => {
      inFlight--
      send(rtuAnswer(request))
    }, 10)
  })
  const units = [1, 2, 1, 2, 7]
  const reads = units.map(unit => driverOf(bus, patient, unit).read(words(4), never))
  t.deepEqual(
    (await Promise.all(reads)).map(([reading]) => reading?.v),
    units.map(unit => 1000 * unit + 4),
  )
  t.is(most, 1)
})

/**
 * Puts an answer on the line after `waitMs`. What a busy machine would bring later than four timeouts is lost: beyond five
 * the product does not reckon with it.
 */
function answerLate(send: () => void, waitMs: number, timeoutMs: number): void {
  const askedAt = performance.now()
  setTimeout(() => {
    if (performance.now() - askedAt < 4 * timeoutMs) send()
  }, waitMs)
}

for (const [how, factor] of [
  ['a little later than the timeout', 1.4],
  ['later than the silence after it', 2.4],
] as const) {
  test(`no value is wrong when one answer in ten arrives ${how}`, async t => {
    const timeoutMs = 240
    const random = seeded(7)
    const { bus } = await openLine(t, (request, send) => {
      const isLate = random() < 0.1
      if (isLate) answerLate(() => send(rtuAnswer(request)), factor * timeoutMs, timeoutMs)
      else send(rtuAnswer(request))
    })
    const ends = { right: 0, wrong: 0, none: 0 }
    for (let i = 0; i < 60; i++) {
      const unit = 1 + (i % 2)
      const driver = driverOf(bus, { timeoutMs, retries: i % 3 === 0 ? 1 : 0 }, unit)
      const [reading] = await driver.read(words(10 + i), never).catch(() => [])
      if (!reading || reading.v === null) ends.none++
      else ends[reading.v === 1000 * unit + 10 + i ? 'right' : 'wrong']++
    }
    t.log(ends)
    t.is(ends.wrong, 0)
    t.true(ends.right > 0)
  })
}

test('a device that is always slower than its timeout gives no wrong value', async t => {
  const timeoutMs = 300
  let [freeAt, asked, answered] = [0, 0, 0]
  const { bus } = await openLine(t, (request, send) => {
    asked++
    // One after the other, as a device does.
    freeAt = Math.max(freeAt, performance.now()) + 2.6 * timeoutMs
    const answer = () => {
      answered++
      send(rtuAnswer(request))
    }
    answerLate(answer, freeAt - performance.now(), timeoutMs)
  })
  const driver = driverOf(bus, { timeoutMs, retries: 0 })
  for (let i = 0; i < 10; i++) {
    const [reading] = await driver.read(words(10 + i), never).catch(() => [])
    if (reading?.q === 'good') t.is(reading.v, 1010 + i)
  }
  t.true(asked > 1 && answered > 0, `${answered} answers to ${asked} requests`)
})

for (const [name, before] of [
  ['noise', Buffer.from('00ff0103', 'hex')],
  ['an echo of the request', rtuFrame(1, Buffer.from('0300010001', 'hex'))],
  ['the answer of another unit', rtuAnswer({ unit: 2, code: 3, address: 9, count: 1 })],
] as const) {
  test(`${name} before an answer does not invalidate it`, async t => {
    const { bus } = await openLine(t, (request, send) => send(Buffer.concat([before, rtuAnswer(request)])))
    t.deepEqual(values(await driverOf(bus, patient).read(words(1), never)), { 'holding:1:uint16': 1001 })
  })
}

test('an answer in pieces is read correctly', async t => {
  const { bus } = await openLine(t, (request, send) => {
    const frame = rtuAnswer(request)
    send(frame.subarray(0, 3))
    setTimeout(() => send(frame.subarray(3)), 20)
  })
  t.deepEqual(values(await driverOf(bus, patient).read(words(1), never)), { 'holding:1:uint16': 1001 })
})

const spoilt = (at: number): RtuBehaviour => {
  return (request, send) => {
    const frame = rtuAnswer(request)
    frame[(at + frame.length) % frame.length]! ^= 0x40
    send(frame)
  }
}
for (const [name, behaviour, kind, reason] of [
  ['answers nothing', () => undefined, 'silent', /no answer from .*port0 unit 1 in 1 attempts/],
  ['sends a wrong checksum', spoilt(-1), 'fault', /9 bytes arrived, but no complete answer with a valid checksum/],
  ['has a bit turned in its answer', spoilt(4), 'fault', /no complete answer/],
  ['answers as another unit', spoilt(0), 'fault', /no complete answer/],
  ['breaks off in its answer', (request, send) => send(rtuAnswer(request).subarray(0, 6)), 'fault', /6 bytes arrived/],
  ['answers another function', (request, send) => send(rtuAnswer({ ...request, code: 4 })), 'fault', /no complete answer/],
  [
    'sends too few registers',
    (request, send) => send(rtuAnswer({ ...request, count: request.count - 1 })),
    'fault',
    /no complete answer/,
  ],
  ['sends too many registers', (request, send) => send(rtuAnswer({ ...request, count: 9 })), 'fault', /no complete answer/],
] as [string, RtuBehaviour, DeviceError['kind'], RegExp][]) {
  test(`a device on a serial line that ${name} gives no value, and the next read is right`, async t => {
    let isWell = false
    const { bus } = await openLine(t, (request, send) => (isWell ? well : behaviour)(request, send))
    const error = await t.throwsAsync(driverOf(bus, brief).read(words(1, 2), never), { instanceOf: DeviceError })
    t.is((error as DeviceError).kind, kind)
    t.regex(error!.message, reason)
    isWell = true
    const readings = await driverOf(bus, patient).read(words(1, 2), never)
    t.deepEqual(values(readings), { 'holding:1:uint16': 1001, 'holding:2:uint16': 1002 })
  })
}

test('an unplugged port ends the read at once with its name, and is used again when it returns', async t => {
  let isWell = true
  const line = await openLine(t, (request, send) => (isWell ? well(request, send) : void line.unplug()))
  const driver = driverOf(line.bus, endless)
  t.deepEqual(values(await driver.read(words(1), never)), { 'holding:1:uint16': 1001 })
  isWell = false
  await t.throwsAsync(driver.read(words(1), never), { message: /port0 unit 1: the port was unplugged/ })
  await t.throwsAsync(driver.read(words(1), never), { message: /the port does not exist; check that the adapter is plugged in/ })
  isWell = true
  await line.plug()
  t.deepEqual(values(await driver.read(words(1), never)), { 'holding:1:uint16': 1001 })
})

test('a path that is no serial port is refused with the reason', async t => {
  const line = await openLine(t, well)
  const path = join(dirname(line.path), 'a-file')
  await writeFile(path, '')
  await t.throwsAsync(portAt(path).open(100, never), { message: /the port cannot be opened: .*ioctl/i })
  const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  t.regex(explainPort(denied), /no permission; add the user of the service to the group of the port/)
})

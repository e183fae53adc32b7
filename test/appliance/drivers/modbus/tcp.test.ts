/** Servers that break the rules of Modbus TCP, each on a real socket: no crash, no wrong value, and every read ends. */
import test, { type ExecutionContext } from 'ava'
import { DeviceError } from '#shared/core/poll/device.ts'
import { type ModbusBus, SharedBus } from '#appliance/drivers/modbus/bus.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import { modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'
import {
  modbusFrame,
  openTcpPeer,
  registersOf,
  type TcpAsked,
  type TcpBehaviour,
  values,
  well,
  words,
} from '../../../support/tcp-peer.ts'
import { mutate, seeded } from '../../../support/wire.ts'

const never = new AbortController().signal
const patient = { timeoutMs: 8000, retries: 1 }
const hasty = { timeoutMs: 400, retries: 1 }
const ONCE = { timeoutMs: 30_000, retries: 0 }

const driverOf = (bus: ModbusBus, retryPolicy: RetryPolicy) =>
  modbusDriver(bus, { unit_id: 1, max_gap: 16, retryPolicy, now: () => 1_000 })

function openBus(t: ExecutionContext, port: number): ModbusBus {
  const bus = new SharedBus(tcpLink('127.0.0.1', port), () => 1_000)
  t.teardown(() => bus.close())
  return bus
}

/** A right answer whose header is then spoilt. */
const spoilt =
  (spoil: (frame: Buffer) => void): TcpBehaviour =>
  (request, socket) => {
    const frame = modbusFrame(request, registersOf(request))
    spoil(frame)
    socket.write(frame)
  }
const answering =
  (pdu: (request: TcpAsked) => Buffer, head: Partial<TcpAsked> = {}): TcpBehaviour =>
  (request, socket) =>
    void socket.write(modbusFrame({ ...request, ...head }, pdu(request)))

const BAD: { name: string; behaviour: TcpBehaviour; kind: DeviceError['kind']; reason: RegExp; retryPolicy?: RetryPolicy }[] = [
  {
    name: 'answers nothing',
    behaviour: () => undefined,
    kind: 'silent',
    reason: /no answer from 127\.0\.0\.1:\d+ unit 1 in 2 attempts/,
    retryPolicy: hasty,
  },
  {
    name: 'answers with another transaction id',
    behaviour: (request, socket) => void socket.write(modbusFrame({ ...request, id: request.id + 1 }, registersOf(request))),
    kind: 'silent',
    reason: /no answer/,
    retryPolicy: hasty,
  },
  {
    name: 'announces more bytes than it sends',
    behaviour: spoilt(frame => frame.writeUInt16BE(200, 4)),
    kind: 'silent',
    reason: /no answer/,
    retryPolicy: hasty,
  },
  {
    name: 'is cut off in the middle of an answer',
    behaviour: (request, socket) => void socket.end(modbusFrame(request, registersOf(request)).subarray(0, 9)),
    kind: 'silent',
    reason: /closed/,
  },
  {
    name: 'resets the connection',
    behaviour: (_, socket) => void socket.resetAndDestroy(),
    kind: 'silent',
    reason: /reset|closed/i,
  },
  { name: 'closes the connection', behaviour: (_, socket) => void socket.end(), kind: 'silent', reason: /closed/ },
  {
    name: 'speaks another protocol',
    behaviour: (_, socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    kind: 'fault',
    reason: /protocol id 21584 instead of 0/,
  },
  {
    name: 'names another protocol in its header',
    behaviour: spoilt(frame => frame.writeUInt16BE(1, 2)),
    kind: 'fault',
    reason: /protocol id 1 instead of 0/,
  },
  {
    name: 'sends junk before the answer',
    behaviour: (request, socket) =>
      void socket.write(Buffer.concat([Buffer.from('00ff00', 'hex'), modbusFrame(request, registersOf(request))])),
    kind: 'fault',
    reason: /a frame cannot have 256 bytes/,
  },
  {
    name: 'announces an empty frame',
    behaviour: spoilt(frame => frame.writeUInt16BE(0, 4)),
    kind: 'fault',
    reason: /a frame cannot have 0 bytes/,
  },
  {
    name: 'announces 65,535 bytes',
    behaviour: spoilt(frame => frame.writeUInt16BE(65_535, 4)),
    kind: 'fault',
    reason: /a frame cannot have 65535 bytes/,
  },
  {
    name: 'announces fewer bytes than it sends',
    behaviour: spoilt(frame => frame.writeUInt16BE(4, 4)),
    kind: 'fault',
    reason: /1 bytes instead of 6/,
  },
  {
    name: 'sends a byte count that is too small',
    behaviour: spoilt(frame => frame.writeUInt8(0, 8)),
    kind: 'fault',
    reason: /states 0 bytes instead of 6/,
  },
  {
    name: 'sends a byte count that is too large',
    behaviour: spoilt(frame => frame.writeUInt8(250, 8)),
    kind: 'fault',
    reason: /states 250 bytes instead of 6/,
  },
  {
    name: 'sends too few registers',
    behaviour: answering(request => registersOf({ ...request, count: request.count - 1 })),
    kind: 'fault',
    reason: /4 bytes instead of 6/,
  },
  {
    name: 'sends too many registers',
    behaviour: answering(request => registersOf({ ...request, count: 5 })),
    kind: 'fault',
    reason: /10 bytes instead of 6/,
  },
  {
    name: 'answers for another unit',
    behaviour: answering(registersOf, { unit: 2 }),
    kind: 'fault',
    reason: /unit 2 answered for unit 1/,
  },
  {
    name: 'answers another function',
    behaviour: answering(request => registersOf({ ...request, code: 4 })),
    kind: 'fault',
    reason: /function 4 instead of function 3/,
  },
  {
    name: 'sends the exception of another function',
    behaviour: answering(() => Buffer.of(0x84, 2)),
    kind: 'fault',
    reason: /function 132 instead of function 3/,
  },
  {
    name: 'sends an exception without a code',
    behaviour: spoilt(frame => {
      frame.writeUInt16BE(2, 4)
      frame.writeUInt8(0x83, 7)
    }),
    kind: 'fault',
    reason: /a frame cannot have 2 bytes/,
  },
  {
    name: 'sits behind a gateway and does not answer it',
    behaviour: answering(() => Buffer.of(0x83, 11)),
    kind: 'silent',
    reason: /exception 11/,
  },
]

for (const { name, behaviour, kind, reason, retryPolicy = ONCE } of BAD) {
  test(`a device that ${name} gives no value, and the next read is right`, async t => {
    let isWell = false
    const peer = await openTcpPeer(t, (request, socket) => (isWell ? well : behaviour)(request, socket))
    const bus = openBus(t, peer.port)
    const error = await t.throwsAsync(driverOf(bus, retryPolicy).read(words(0, 1, 2), never), { instanceOf: DeviceError })
    t.is((error as DeviceError).kind, kind)
    t.regex(error!.message, reason)
    isWell = true
    const readings = await driverOf(bus, patient).read(words(0, 1, 2), never)
    t.deepEqual(values(readings), { 'holding:0:uint16': 0, 'holding:1:uint16': 1, 'holding:2:uint16': 2 })
  })
}

test('an answer in single bytes, and two answers in one segment, are read correctly', async t => {
  const peer = await openTcpPeer(t, async (request, socket) => {
    const frame = modbusFrame(request, registersOf(request))
    if (request.address === 0) {
      for (const byte of frame) await new Promise<void>(resolve => void socket.write(Buffer.of(byte), () => resolve()))
      return
    }
    const late = modbusFrame({ ...request, id: request.id - 1 }, registersOf({ ...request, address: 900 }))
    socket.write(Buffer.concat([late, frame]))
  })
  const driver = driverOf(openBus(t, peer.port), patient)
  t.deepEqual(values(await driver.read(words(0), never)), { 'holding:0:uint16': 0 })
  t.deepEqual(values(await driver.read(words(7), never)), { 'holding:7:uint16': 7 })
  t.is(peer.connections(), 1)
})

test('bytes after an answer make the next read use a new connection', async t => {
  const peer = await openTcpPeer(t, (request, socket) => {
    const frame = modbusFrame(request, registersOf(request))
    socket.write(peer.asked.length === 1 ? Buffer.concat([frame, Buffer.from('000200', 'hex')]) : frame)
  })
  const driver = driverOf(openBus(t, peer.port), ONCE)
  t.deepEqual(values(await driver.read(words(3), never)), { 'holding:3:uint16': 3 })
  t.deepEqual(values(await driver.read(words(4), never)), { 'holding:4:uint16': 4 })
  t.is(peer.connections(), 2)
})

test('a late answer is never the value of the next read', async t => {
  const late: (() => void)[] = []
  const peer = await openTcpPeer(t, (request, socket) => {
    if (late.length < 2)
      return void late.push(
        () => socket.destroyed || socket.write(modbusFrame(request, registersOf({ ...request, address: 600 }))),
      )
    for (const send of late) send()
    return well(request, socket)
  })
  const bus = openBus(t, peer.port)
  await t.throwsAsync(driverOf(bus, { timeoutMs: 200, retries: 0 }).read(words(0), never))
  await t.throwsAsync(driverOf(bus, { timeoutMs: 200, retries: 0 }).read(words(0), never))
  t.deepEqual(values(await driverOf(bus, patient).read(words(0), never)), { 'holding:0:uint16': 0 })
  t.is(peer.connections(), 2)
})

test('a request ends when its connection closes, not at its timeout', async t => {
  const peer = await openTcpPeer(t, (_, socket) => void socket.destroy())
  const driver = driverOf(openBus(t, peer.port), { timeoutMs: 600_000, retries: 0 })
  await t.throwsAsync(driver.read(words(0), never), { message: /closed|reset/i })
})

test('the pause between attempts to connect grows, and a read that would wait longer than its timeout ends at once', async t => {
  const peer = await openTcpPeer(t, (_, socket) => void socket.destroy())
  const driver = driverOf(openBus(t, peer.port), { timeoutMs: 150, retries: 0 })
  const reasons: string[] = []
  for (let i = 0; i < 8; i++) reasons.push((await t.throwsAsync(driver.read(words(0), never)))!.message)
  t.true(peer.connections() < 8)
  t.true(reasons.some(reason => /next attempt in \d+ s/.test(reason)))
})

test('mutated answers leave no read open and cause no crash', async t => {
  const random = seeded(3)
  const ends = new Set<string>()
  const storm = async () => {
    let isWell = false
    const peer = await openTcpPeer(t, (request, socket) => {
      const answer = modbusFrame(request, registersOf(request))
      socket.write(isWell ? answer : mutate(answer, random))
    })
    const bus = openBus(t, peer.port)
    const driver = driverOf(bus, { timeoutMs: 40, retries: 0 })
    for (let i = 0; i < 100; i++) {
      const end = await driver.read(words(0, 1, 2), never).then(
        () => 'answered',
        error => (error instanceof DeviceError ? error.kind : String(error)),
      )
      ends.add(end)
    }
    isWell = true
    t.deepEqual(values(await driverOf(bus, ONCE).read(words(7), never)), { 'holding:7:uint16': 7 })
  }
  await Promise.all(Array.from({ length: 8 }, storm))
  t.deepEqual(others(ends, ['answered', 'fault', 'silent']), [])
})

for (const unit of [0, 255]) {
  test(`a server that always answers as unit ${unit} gives its values`, async t => {
    const { port } = await openTcpPeer(t, answering(registersOf, { unit }))
    t.deepEqual(values(await driverOf(openBus(t, port), patient).read(words(7), never)), { 'holding:7:uint16': 7 })
  })
}

test('an exception whose header announces a byte too many is known at once, and costs no other value', async t => {
  const { port, asked, connections } = await openTcpPeer(t, (request, socket) => {
    if (request.address !== 1000) return well(request, socket)
    const frame = modbusFrame(request, Buffer.of(0x83, 2))
    frame.writeUInt16BE(4, 4)
    socket.write(frame)
  })
  const driver = driverOf(openBus(t, port), { timeoutMs: 600_000, retries: 0 })
  const readings = await driver.read(words(0, 1000, 2000), never)
  t.deepEqual(readings.map(({ id, v, q }) => [id, v, q]).toSorted(), [
    ['holding:0:uint16', 0, 'good'],
    ['holding:1000:uint16', null, 'bad'],
    ['holding:2000:uint16', 2000, 'good'],
  ])
  t.is(asked.length, 3)
  t.is(connections(), 2)
})

/** Which of the first are not among the second: how often each came is the machine's affair. */
const others = (found: Iterable<string>, expected: readonly string[]) => [...found].filter(end => !expected.includes(end))

test('a device behind a port that the firewall of the box drops says so, and no other', async t => {
  const late = (ports: readonly number[] | undefined, port = 1502) =>
    t.throwsAsync(tcpLink('127.0.0.1', port, () => ports).open(5000, AbortSignal.abort()))
  const alone = /^no connection within 5000 ms$/
  t.regex((await late([502]))!.message, /^no connection within 5000 ms; .* at TCP port 502 alone: modbus_ports of system\.json/)
  t.regex((await late([]))!.message, /lets Modbus out at no TCP port: /)
  for (const ports of [undefined, [502, 1502]]) t.regex((await late(ports))!.message, alone)
  const refused = await t.throwsAsync(tcpLink('127.0.0.1', 1, () => [502]).open(5000, never))
  t.notRegex(refused!.message, /firewall/)
})

test('a device that closes the connection after each answer gives all its values, however many requests they take', async t => {
  const { port, connections } = await openTcpPeer(t, (request, socket) => socket.end(modbusFrame(request, registersOf(request))))
  const driver = driverOf(openBus(t, port), { timeoutMs: 8000, retries: 0 })
  const far = words(0, 1000, 2000, 3000)
  for (let poll = 0; poll < 2; poll++) {
    const readings = await driver.read(far, never)
    t.deepEqual(
      readings.map(({ v, q }) => [v, q]),
      [0, 1000, 2000, 3000].map(v => [v, 'good']),
    )
  }
  t.is(connections(), 8)
})

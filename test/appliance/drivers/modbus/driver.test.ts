/** The driver against servers on real sockets that behave badly: no crash, no wrong value, and every read ends. */
import type { Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { DeviceError } from '#shared/core/poll/device.ts'
import { type ModbusBus, SharedBus } from '#appliance/drivers/modbus/bus.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import { modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'
import { openModbusDevice, type SimRegister } from '#scripts/simulator/modbus/device.ts'
import {
  modbusFrame,
  openTcpPeer,
  points,
  registersOf,
  type TcpBehaviour,
  values,
  well,
  words,
} from '../../../support/tcp-peer.ts'

const never = new AbortController().signal
const patient = { timeoutMs: 8000, retries: 1 }

const driverOf = (bus: ModbusBus, retryPolicy: RetryPolicy, unit_id = 1, max_gap = 16) =>
  modbusDriver(bus, { unit_id, max_gap, retryPolicy, now: () => 1_000 })

function openDriver(t: ExecutionContext, port: number, retryPolicy = patient, unit = 1) {
  const bus = new SharedBus(tcpLink('127.0.0.1', port), () => 1_000)
  t.teardown(() => bus.close())
  return driverOf(bus, retryPolicy, unit)
}

test('values of all tables, formats and orders are decoded correctly', async t => {
  const registers: SimRegister[] = [
    { table: 'holding', address: 0, kind: 'float32', value: () => 21.5 },
    { table: 'holding', address: 2, kind: 'uint32', value: () => 3_000_000_000, wordOrder: 'CDAB' },
    { table: 'holding', address: 4, kind: 'int16', value: () => -100 },
    { table: 'input', address: 7, kind: 'int32', value: () => -70_000 },
    { table: 'coil', address: 11, kind: 'bit', value: () => 1 },
    { table: 'coil', address: 12, kind: 'bit', value: () => 0 },
    { table: 'discrete', address: 3, kind: 'bit', value: () => 1 },
  ]
  const device = await openModbusDevice({ registers, unit_id: 9 })
  t.teardown(() => device.close())
  const driver = openDriver(t, device.port, patient, 9)
  const asked = points(
    'holding:0:float32',
    'holding:2:uint32:CDAB',
    'holding:4:int16',
    'input:7:int32',
    'coil:11',
    'coil:12',
    'discrete:3',
  )
  const readings = await driver.read(asked, never)
  t.deepEqual(values(readings), {
    'holding:0:float32': 21.5,
    'holding:2:uint32:CDAB': 3_000_000_000,
    'holding:4:int16': -100,
    'input:7:int32': -70_000,
    'coil:11': true,
    'coil:12': false,
    'discrete:3': true,
  })
  t.true(readings.every(({ q, t: at }) => q === 'good' && at === 1_000))
  t.is(device.requests(), 4)
})

test('a value is scaled, and NaN makes only its own point bad', async t => {
  const peer = await openTcpPeer(t, (request, socket) => {
    socket.write(modbusFrame(request, Buffer.from([3, 8, 0x7f, 0xc0, 0, 0, 0x41, 0xa8, 0, 0])))
  })
  const [first, second] = points('holding:0:float32', 'holding:2:float32')
  const scaled = { ...second!, address: { ...second!.address, conversion: { kind: 'number' as const, scale: 0.1, offset: -1 } } }
  const readings = await openDriver(t, peer.port).read([first!, scaled], never)
  t.deepEqual(
    readings.map(({ v, q }) => [v, q]),
    [
      [null, 'bad'],
      [21 * 0.1 - 1, 'good'],
    ],
  )
})

/** A device with holding registers 0..39, but for some. */
const without =
  (...missing: number[]): TcpBehaviour =>
  (request, socket) => {
    const { address, count, code } = request
    const hits = missing.some(one => one >= address && one < address + count) || address + count > 40
    socket.write(modbusFrame(request, hits ? Buffer.of(code | 0x80, 2) : registersOf(request)))
  }

test('one missing register among twenty makes its point bad, and is read alone from then on', async t => {
  const peer = await openTcpPeer(t, without(7))
  const driver = openDriver(t, peer.port)
  const twenty = words(...Array.from({ length: 20 }, (_, i) => i))
  const wanted = Object.fromEntries(twenty.map(({ point_id }, i) => [point_id, i === 7 ? null : i]))
  t.deepEqual(values(await driver.read(twenty, never)), wanted)
  t.is(driver.report().point_error, 'holding:7: exception 2 (illegal data address)')
  peer.asked.length = 0
  t.deepEqual(values(await driver.read(twenty, never)), wanted)
  t.deepEqual(
    peer.asked.map(({ address, count }) => [address, count]),
    [
      [0, 7],
      [8, 12],
      [7, 1],
    ],
  )
})

test('a gap of missing registers is skipped', async t => {
  const peer = await openTcpPeer(t, without(3))
  const driver = openDriver(t, peer.port)
  t.deepEqual(values(await driver.read(words(0, 6), never)), { 'holding:0:uint16': 0, 'holding:6:uint16': 6 })
  t.is(peer.asked.length, 3)
  await driver.read(words(0, 6), never)
  t.is(peer.asked.length, 5)
})

test('a device that allows only short reads gets short ones', async t => {
  const peer = await openTcpPeer(t, (request, socket) => {
    const pdu = request.count > 10 ? Buffer.of(request.code | 0x80, 3) : registersOf(request)
    socket.write(modbusFrame(request, pdu))
  })
  const driver = openDriver(t, peer.port)
  const all = words(...Array.from({ length: 32 }, (_, i) => i))
  t.is((await driver.read(all, never)).filter(({ q }) => q === 'good').length, 32)
  peer.asked.length = 0
  await driver.read(all, never)
  t.true(peer.asked.length <= 4)
  t.true(peer.asked.every(({ count }) => count <= 10))
})

test('a device that restarts is read again without an error', async t => {
  const registers: SimRegister[] = [{ table: 'holding', address: 0, kind: 'uint16', value: () => 5 }]
  const first = await openModbusDevice({ registers })
  const driver = openDriver(t, first.port)
  t.deepEqual(values(await driver.read(words(0), never)), { 'holding:0:uint16': 5 })
  await first.close()
  await t.throwsAsync(driver.read(words(0), never), { message: /ECONNREFUSED/ })
  const second = await openModbusDevice({ registers, port: first.port })
  t.teardown(() => second.close())
  t.deepEqual(values(await driver.read(words(0), never)), { 'holding:0:uint16': 5 })
})

test('units behind one gateway take turns on one connection', async t => {
  let inFlight = 0
  let most = 0
  const peer = await openTcpPeer(t, (request, socket) => {
    most = Math.max(most, ++inFlight)
    setTimeout(() => {
      inFlight--
      socket.write(modbusFrame(request, registersOf({ ...request, address: 100 * request.unit })))
    }, 5)
  })
  const bus = new SharedBus(tcpLink('127.0.0.1', peer.port), () => 1_000)
  t.teardown(() => bus.close())
  const units = [1, 2, 3, 4, 5]
  const reads = units.map(unit => driverOf(bus, patient, unit).read(words(0), never))
  t.deepEqual(
    (await Promise.all(reads)).map(([reading]) => reading?.v),
    [100, 200, 300, 400, 500],
  )
  t.is(most, 1)
  t.is(peer.connections(), 1)
})

test('a read ends at once when its caller gives up', async t => {
  const silent: Socket[] = []
  const peer = await openTcpPeer(t, (_, socket) => void silent.push(socket))
  const driver = openDriver(t, peer.port, { timeoutMs: 60_000, retries: 5 })
  const giveUp = new AbortController()
  const reading = driver.read(words(0), giveUp.signal)
  setTimeout(() => giveUp.abort(), 50)
  await t.throwsAsync(reading, { instanceOf: DeviceError })
})

test('only functions 1 to 4 are sent', async t => {
  const peer = await openTcpPeer(
    t,
    (request, socket) => void socket.write(modbusFrame(request, Buffer.of(request.code | 0x80, 4))),
  )
  await openDriver(t, peer.port).read(points('holding:0:int16', 'input:0:int16', 'coil:0', 'discrete:0'), never)
  t.deepEqual([...new Set(peer.asked.map(({ code }) => code))].toSorted(), [1, 2, 3, 4])
})

test('bits of one register are read with one request, and a rounded number is uncertain', async t => {
  const peer = await openTcpPeer(t, (request, socket) => {
    socket.write(modbusFrame(request, Buffer.from('0312a5c300200000000000010020000000000000', 'hex')))
  })
  const asked = points(
    'holding:0:bit:0',
    'holding:0:bit:2',
    'holding:0:bits:4-7',
    'holding:0:bits:4-7:BADC',
    'holding:1:uint64',
    'holding:5:uint64',
  )
  const readings = await openDriver(t, peer.port).read(asked, never)
  t.deepEqual(values(readings), {
    'holding:0:bit:0': 1,
    'holding:0:bit:2': 0,
    'holding:0:bits:4-7': 0xc,
    'holding:0:bits:4-7:BADC': 0xa,
    'holding:1:uint64': 2 ** 53,
    'holding:5:uint64': 2 ** 53,
  })
  const rounded = readings.filter(({ q }) => q === 'uncertain')
  t.deepEqual(
    rounded.map(({ id }) => id),
    ['holding:1:uint64'],
  )
  t.is(peer.asked.length, 1)
})

test('unwanted registers between points are read as far as the entry allows', async t => {
  const peer = await openTcpPeer(t, well)
  const bus = new SharedBus(tcpLink('127.0.0.1', peer.port), () => 1_000)
  t.teardown(() => bus.close())
  const spans = async (max_gap: number) => {
    peer.asked.length = 0
    await driverOf(bus, patient, 1, max_gap).read([...words(0, 1, 4, 10), ...points('input:0:uint16')], never)
    return peer.asked.map(({ code, address, count }) => [code, address, count])
  }
  t.deepEqual(await spans(0), [
    [3, 0, 2],
    [3, 4, 1],
    [3, 10, 1],
    [4, 0, 1],
  ])
  t.deepEqual(await spans(2), [
    [3, 0, 5],
    [3, 10, 1],
    [4, 0, 1],
  ])
  t.deepEqual(await spans(5), [
    [3, 0, 11],
    [4, 0, 1],
  ])
})

test('devices at one host and port share a connection, and the last of them closes it', async t => {
  const peer = await openTcpPeer(t, well)
  const protocol = modbusProtocol({ now: () => 1_000 })
  const linkOf = (unit_id: number) => {
    const point = { point_id: 'p', address: 'holding:3:uint16', name: 'p', unit: 'kW', kind: 'number', poll_secs: 60 } as const
    const modbus = { host: '127.0.0.1', port: peer.port, unit_id }
    const entry = {
      device_id: `unit-${unit_id}`,
      name: 'unit',
      enabled: true,
      protocol: 'modbus',
      modbus,
      points: [point],
    } as const
    const { driver, addresses } = protocol.link({ ...entry, points: [point] })
    const points = [{ point_id: 'p', address: addresses.get('p') }]
    return { read: () => driver.read(points, never), close: () => driver.close() }
  }
  const [first, second] = [linkOf(1), linkOf(2)]
  await first.read()
  await first.close()
  await first.close()
  t.is((await second.read())[0]?.v, 3)
  t.is(peer.connections(), 1)
  await second.close()
  const third = linkOf(3)
  t.is((await third.read())[0]?.v, 3)
  t.is(peer.connections(), 2)
  await protocol.stop()
})

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import test, { type ExecutionContext } from 'ava'
import ModbusRTU from 'modbus-serial'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { openModbusDevice } from '#scripts/simulator/modbus/device.ts'

const bacnet = createRequire(import.meta.url)('node-bacnet/lib/services')
const PRESENT_VALUE = 85

async function openDevice(t: ExecutionContext, count = 3, maxApdu = 1476) {
  const objects = Array.from({ length: count }, (_, instance) => ({
    type: OBJECT_TYPES.AI,
    instance,
    name: `value ${instance}`,
    unit: 'degC',
    value: () => 20 + instance,
  }))
  const device = await openBacnetDevice({ device_instance: 1001, name: 'test device', objects, maxApdu })
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(async () => {
    socket.close()
    await device.close()
  })
  const ask = async (apdu: number[] | Buffer): Promise<Buffer> => {
    const body = Buffer.from(apdu)
    const head = Buffer.from([0x81, 0x0a, 0, body.length + 6, 1, 4])
    head.writeUInt16BE(body.length + 6, 2)
    socket.send(Buffer.concat([head, body]), device.port, device.host)
    const [reply] = (await once(socket, 'message')) as [Buffer]
    t.is(reply.readUInt16BE(2), reply.length)
    return reply.subarray(6)
  }
  return { device, ask }
}

type Wanted = { objectId: { type: number; instance: number }; properties: { id: number; index?: number }[] }
function rpm(wanted: Wanted[]): Buffer {
  const buffer = { buffer: Buffer.alloc(4000), offset: 0 }
  bacnet.readPropertyMultiple.encode(
    buffer,
    wanted.map(({ objectId, properties }) => ({
      objectId,
      properties: properties.map(({ id, index }) => ({ id, index: index ?? 0xffffffff })),
    })),
  )
  return Buffer.concat([Buffer.of(0x00, 0x05, 7, 14), buffer.buffer.subarray(0, buffer.offset)])
}

const object = (instance: number, id: number) => ({ objectId: { type: 0, instance }, properties: [{ id }] })

test('a device answers Who-Is inside its range with I-Am', async t => {
  const { ask } = await openDevice(t)
  const reply = await ask([0x10, 8])
  t.like(bacnet.iAm.decode(reply, 2), { deviceId: 1001, maxApdu: 1476, segmentation: 3 })
})

test('ReadProperty gives the value, and an Error for what is not there', async t => {
  const { ask } = await openDevice(t)
  const read = (instance: number, property: number, ...index: number[]) =>
    ask([0x00, 0x05, 9, 12, 0x0c, 0, 0, 0, instance, 0x19, property, ...(index.length ? [0x29, ...index] : [])])
  const value = await read(2, PRESENT_VALUE)
  t.deepEqual([...value.subarray(0, 3)], [0x30, 9, 12])
  t.is(bacnet.readProperty.decodeAcknowledge(value, 3, value.length - 3).values[0].value, 22)
  t.deepEqual([...(await read(99, PRESENT_VALUE))], [0x50, 9, 12, 0x91, 1, 0x91, 31])
  t.deepEqual([...(await read(2, 200))], [0x50, 9, 12, 0x91, 2, 0x91, 32])
  t.deepEqual([...(await read(2, PRESENT_VALUE, 1))], [0x50, 9, 12, 0x91, 2, 0x91, 50])
})

test('ReadPropertyMultiple answers good ones beside an error for each bad one', async t => {
  const { ask } = await openDevice(t)
  const reply = await ask(rpm([object(0, PRESENT_VALUE), object(50, PRESENT_VALUE), object(1, 1234), object(2, 117)]))
  const { values } = bacnet.readPropertyMultiple.decodeAcknowledge(reply, 3, reply.length - 3)
  const first = values.map((one: { values: { value: { value: unknown }[] }[] }) => one.values[0]!.value[0]!.value)
  t.is(first[0], 20)
  t.like(first[1], { errorClass: 1, errorCode: 31 })
  t.like(first[2], { errorClass: 2, errorCode: 32 })
  t.is(first[3], 62)
})

test('an answer that exceeds the smaller APDU is aborted with reason 4', async t => {
  const { ask } = await openDevice(t, 93)
  const all = Array.from({ length: 93 }, (_, instance) => ({
    objectId: { type: 0, instance },
    properties: [{ id: PRESENT_VALUE }],
  }))
  t.deepEqual([...(await ask(rpm(all)))], [0x71, 7, 4])
  const fits = await ask(rpm(all.slice(0, 92)))
  t.is(fits.length, 1475)
  t.is(fits[0], 0x30)
})

test('a request cut short is rejected and the device lives on', async t => {
  const { ask } = await openDevice(t)
  t.deepEqual([...(await ask([0x00, 0x05, 9, 12, 0x0c, 0, 0]))], [0x60, 9, 4])
  t.deepEqual([...(await ask([0x00, 0x05, 9, 15]))], [0x60, 9, 9])
  t.is((await ask([0x10, 8]))[0], 0x10)
})

test('Modbus registers come back in every kind and order, with exceptions beside them', async t => {
  const device = await openModbusDevice({
    registers: [
      { table: 'holding', address: 0, kind: 'float32', value: () => 21.5 },
      { table: 'holding', address: 2, kind: 'uint32', value: () => 3_000_000_000, wordOrder: 'CDAB' },
      { table: 'input', address: 7, kind: 'int16', value: () => -5 },
      { table: 'coil', address: 1, kind: 'bit', value: () => 1 },
    ],
  })
  const client = new ModbusRTU.default()
  t.teardown(async () => {
    client.close(() => undefined)
    await device.close()
  })
  await client.connectTCP(device.host, { port: device.port })
  client.setTimeout(20_000)
  client.setID(1)
  const { buffer } = await client.readHoldingRegisters(0, 4)
  t.is(buffer.readFloatBE(0), 21.5)
  t.is(buffer.readUInt16BE(6) * 65_536 + buffer.readUInt16BE(4), 3_000_000_000)
  t.is((await client.readInputRegisters(7, 1)).buffer.readInt16BE(0), -5)
  t.true((await client.readCoils(1, 1)).data[0])
  await t.throwsAsync(client.readHoldingRegisters(3, 2), { message: /Illegal data address/ })
  device.misbehave('busy')
  await t.throwsAsync(client.readHoldingRegisters(0, 2), { message: /busy/i })
})

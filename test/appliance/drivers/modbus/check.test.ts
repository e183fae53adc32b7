import test from 'ava'
import { checkModbus, connectionSettings } from '#appliance/drivers/modbus/check.ts'
import type { DeviceEntry, PointEntry } from '#appliance/store/catalogue-schema.ts'

type Modbus = NonNullable<DeviceEntry['modbus']>
const PORT = '/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0'

function entryOf(modbus: Modbus, points: Partial<PointEntry>[] = [], device_id = 'meter'): DeviceEntry {
  const filled = points.map(
    (point, i): PointEntry => ({
      point_id: `p${i}`,
      address: 'holding:0:int16',
      name: 'point',
      unit: 'kW',
      kind: 'number',
      poll_secs: 60,
      ...point,
    }),
  )
  return { device_id, name: 'Meter', enabled: true, protocol: 'modbus', modbus, points: filled }
}

for (const [name, modbus, pointers] of [
  ['neither host nor serial', { unit_id: 1 }, ['/modbus']],
  ['a host with a speed', { host: 'a', unit_id: 1, baud: 9600, parity: 'none' }, ['/modbus/baud', '/modbus/parity']],
  ['both host and serial', { host: 'a', port: 502, serial: PORT, unit_id: 1 }, ['/modbus/host', '/modbus/port']],
  ['a broadcast', { serial: PORT, unit_id: 0 }, ['/modbus/unit_id']],
  ['a unit that no line has', { serial: PORT, unit_id: 248 }, ['/modbus/unit_id']],
  ['a unit of TCP', { host: 'a', unit_id: 255 }, []],
  ['a serial line', { serial: PORT, unit_id: 247 }, []],
] as [string, Modbus, string[]][]) {
  test(`an entry with ${name} has ${pointers.length} complaints`, t => {
    const entry = entryOf(modbus)
    t.deepEqual(
      checkModbus(entry, [entry]).map(({ pointer }) => pointer),
      pointers,
    )
  })
}

test('two devices on one serial port must have the same settings', t => {
  const all = [
    entryOf({ serial: PORT, unit_id: 1, baud: 9600 }, [], 'a'),
    entryOf({ serial: PORT, unit_id: 2 }, [], 'b'),
    entryOf({ serial: PORT, unit_id: 3, baud: 9600, parity: 'even', stop_bits: 1 }, [], 'c'),
  ]
  t.deepEqual(
    all.map(entry => checkModbus(entry, all).map(({ message }) => message)),
    [[], ['19200 baud, parity even, stop bits 1, but a on the same port has 9600 baud, parity even, stop bits 1'], []],
  )
})

test('points that Modbus cannot read are refused with their pointer', t => {
  const entry = entryOf({ host: 'a', unit_id: 1 }, [
    { address: 'holding:0:bits:4-7', kind: 'enum' },
    { address: 'holding:0:bits:4-7', kind: 'bool' },
    { address: 'holding:0:bit:4', kind: 'bool' },
    { address: 'coil:0', kind: 'string' },
    { address: 'holding:0' },
  ])
  t.deepEqual(
    checkModbus(entry, [entry]).map(({ pointer }) => pointer),
    ['/points/1/kind', '/points/3/kind', '/points/4/address'],
  )
})

test('absent settings have the defaults of the standards', t => {
  t.deepEqual(connectionSettings({ host: 'a', unit_id: 1 }), { kind: 'tcp', host: 'a', port: 502 })
  t.deepEqual(connectionSettings({ serial: PORT, unit_id: 1 }), {
    kind: 'serial',
    path: PORT,
    baud: 19_200,
    parity: 'even',
    stopBits: 1,
  })
})

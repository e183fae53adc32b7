/** Registry configurations of VOLTTRON. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { readBacnetRegistry } from '#appliance/drivers/bacnet/core/registry.ts'
import { readModbusRegistry } from '#appliance/drivers/modbus/core/registry.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { planRegistry } from '#appliance/store/catalogue-import.ts'
import { tableOfText } from '../../../support/packages/table-of-text.ts'
import { SILENT, site } from '../../../support/sites/catalogue-site.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'

const ENTRY = { device_id: 'd', name: 'D', enabled: true, points: [] }
const table = (text: string) => tableOfText('registry.csv', text, ',')
const BACNET =
  'Reference Point Name,Volttron Point Name,Units,Unit Details,BACnet Object Type,Property,Writable,Index,Write Priority,Notes\n'
const MODBUS =
  'Reference Point Name,Volttron Point Name,Units,Units Details,Modbus Register,Writable,Point Address,Default Value,Notes,Mixed Endian\n'
const bacnet = (rows: string) => readBacnetRegistry(table(BACNET + rows))
const modbus = (rows: string) => readModbusRegistry(table(MODBUS + rows))

test('BACnet rows are read, whatever they say of writing', t => {
  const { points, refused, notes } = bacnet(
    `CHWR,Return water,degreesFahrenheit,-50.00 to 250.00,analogInput,presentValue,FALSE,3000741,,Primary
F,Flow,usGallonsPerMinute,,analogInput,presentValue,TRUE,3000744,16,
Fan,Fan,Enum,0-1,binaryOutput,presentValue,TRUE,2,8,
Mode,Mode,State,,multiStateValue,presentValue,FALSE,7,,
Oos,Fan out,,,binaryOutput,outOfService,FALSE,2,,
`,
  )
  t.deepEqual(refused, [])
  t.deepEqual(notes, [])
  t.deepEqual(
    points.map(({ name, address, kind, unit }) => [name, address, kind, unit]),
    [
      ['Return water', 'analog-input,3000741', 'number', 'degF'],
      ['Flow', 'analog-input,3000744', 'number', 'gpm'],
      ['Fan', 'binary-output,2', 'bool', 'bool'],
      ['Mode', 'multi-state-value,7', 'enum', 'enum'],
      ['Fan out', 'binary-output,2/out-of-service', 'bool', 'bool'],
    ],
  )
})

for (const [register, writable, mixed, address] of [
  ['>f', 'FALSE', '', 'input:1001:float32:ABCD'],
  ['>f', 'TRUE', '', 'holding:1001:float32:ABCD'],
  ['>f', 'FALSE', 'TRUE', 'input:1001:float32:CDAB'],
  ['<f', 'FALSE', '', 'input:1001:float32:DCBA'],
  ['<f', 'FALSE', 'TRUE', 'input:1001:float32:BADC'],
  ['>H', 'TRUE', '', 'holding:1001:uint16:ABCD'],
  ['<h', 'TRUE', '', 'holding:1001:int16:DCBA'],
  ['!l', 'FALSE', '', 'input:1001:int32:ABCD'],
  ['>Q', 'FALSE', '', 'input:1001:uint64:ABCD'],
  ['>d', 'FALSE', '', 'input:1001:float64:ABCD'],
  ['BOOL', 'FALSE', '', 'discrete:1001'],
  ['bool', 'TRUE', '', 'coil:1001'],
] as const) {
  test(`a Modbus row ${register}, writable ${writable}${mixed && ', mixed endian'}, is ${address}`, t => {
    const { points, refused } = modbus(`R,N,PPM,,${register},${writable},1001,,,${mixed}\n`)
    t.deepEqual(refused, [])
    t.is(points[0]!.address, address)
  })
}

for (const [name, read, row, column, message] of [
  ['no name', modbus, 'R,,PPM,,>f,FALSE,1,,,', 'Volttron Point Name', /empty/],
  ['no format', modbus, 'R,N,PPM,,>4s,FALSE,1,,,', 'Modbus Register', /">4s" is not a format/],
  ['a format that differs from machine to machine', modbus, 'R,N,PPM,,l,FALSE,1,,,', 'Modbus Register', /32 or 64 bits/],
  ['an address that is none', modbus, 'R,N,PPM,,>f,FALSE,4x1,,,', 'Point Address', /"4x1" is not an address/],
  ['an address beyond the last', modbus, 'R,N,PPM,,>f,FALSE,65535,,,', 'Point Address', /beyond the last/],
  ['no object type', bacnet, 'R,N,,,analogue,presentValue,FALSE,1,,', 'BACnet Object Type', /"analogue" is no object type/],
  ['a property that has no one value', bacnet, 'R,N,,,analogInput,all,FALSE,1,,', 'Property', /"all" is no property/],
  ['a whole priority array', bacnet, 'R,N,,,analogOutput,priorityArray,FALSE,1,,', 'Property', /has sixteen values/],
  ['no index', bacnet, 'R,N,,,analogInput,presentValue,FALSE,,,', 'Index', /not written like/],
  ['an index beyond the last', bacnet, 'R,N,,,analogInput,presentValue,FALSE,4194303,,', 'Index', /above 4194302/],
] as const) {
  test(`a registry row with ${name} is refused with its place, and the others are taken`, t => {
    const good =
      read === modbus
        ? ['A,A,F,,>f,FALSE,10,,,', 'B,B,F,,>f,FALSE,12,,,']
        : ['A,A,,,analogInput,presentValue,FALSE,8,,', 'B,B,,,analogInput,presentValue,FALSE,9,,']
    const { points, refused } = read([good[0], row, good[1], ''].join('\n'))
    t.like(refused[0], { file: 'registry.csv', line: 3, column })
    t.regex(refused[0]!.message, message)
    t.is(refused.length, 1)
    t.deepEqual(
      points.map(point => point.name),
      ['A', 'B'],
    )
  })
}

test('the same register twice is refused, and a unit that is not known is noted', t => {
  const { points, refused, notes } = modbus('A,A,furlongs,,>f,FALSE,1,,,\nB,B,F,,>f,FALSE,1,,,\n')
  t.like(refused[0], { line: 3, message: 'input:1:float32:ABCD is already on line 2' })
  t.like(notes[0], { line: 2, column: 'Units' })
  t.is(points[0]!.unit, 'count')
})

test('a table without the columns is refused by their names', t => {
  const { points, refused } = readModbusRegistry(table('Name,Address\na,1\n'))
  t.deepEqual(points, [])
  t.deepEqual(
    refused.map(({ line, column }) => [line, column]),
    [
      [1, 'Volttron Point Name'],
      [1, 'Modbus Register'],
      [1, 'Point Address'],
    ],
  )
})

test("a registry's points go to a new device or are added to one that is there, each once", t => {
  const device: DeviceEntry = {
    device_id: 'rtu-1',
    name: 'Rooftop',
    enabled: true,
    protocol: 'modbus',
    modbus: { host: '10.0.0.4', unit_id: 1 },
    points: [],
  }
  const registry = modbus('A,Temp,F,,>f,FALSE,1,,,\nB,Temp,F,,>f,FALSE,3,,,\nC,Fan,,,BOOL,FALSE,1,,,\n')
  const { catalogue, devices } = planRegistry({ devices: [] }, registry, device, 120)
  t.like(devices[0], { state: 'new', where: '10.0.0.4 unit 1' })
  t.deepEqual(
    catalogue.devices[0]!.points.map(({ point_id, poll_secs }) => [point_id, poll_secs]),
    [
      ['rtu-1.Temp.input-1-float32-ABCD', 120],
      ['rtu-1.Temp.input-3-float32-ABCD', 120],
      ['rtu-1.Fan', 120],
    ],
  )
  t.deepEqual(planRegistry(catalogue, registry, device, 60).catalogue, catalogue)
  const [first, ...others] = registry.points
  const scaled = { ...registry, points: [{ ...first!, scale: 0.1, offset: -40 }, ...others] }
  const [point, plain] = planRegistry({ devices: [] }, scaled, device, 60).catalogue.devices[0]!.points
  t.like(point, { scale: 0.1, offset: -40 })
  t.deepEqual(Object.keys(plain!), ['point_id', 'address', 'name', 'unit', 'kind', 'poll_secs'])
})

const mostly = (good: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: fc.string({ maxLength: 300 }) })
const name = fc.oneof(
  fc.constantFrom('Temp', 'temp', 'Temp.', 'Temp.analog-input-1', 'x'.repeat(300)),
  fc.string({ maxLength: 300 }),
)
const number = fc.integer({ min: 0, max: 12 }).map(String)
const flag = fc.constantFrom('TRUE', 'FALSE', '')
const units = fc.constantFrom('degreesFahrenheit', 'kilojoules', '%', 'furlongs', '')
const ROWS = {
  bacnet: [
    name,
    fc.constantFrom('analogInput', 'binaryValue', 'multiStateValue', 'characterstringValue', 'loop', 'schedule'),
    fc.constantFrom('presentValue', 'presentValue', 'outOfService', 'description', 'priorityArray', ''),
    number,
    units,
    flag,
  ],
  modbus: [
    name,
    fc.constantFrom('>f', '<h', '>Q', 'BOOL', '!l', 'l', '>4s'),
    fc.oneof(number, fc.constant('65535')),
    flag,
    units,
    flag,
  ],
}
const HEADERS = {
  bacnet: ['Volttron Point Name', 'BACnet Object Type', 'Property', 'Index', 'Units', 'COV Flag'],
  modbus: ['Volttron Point Name', 'Modbus Register', 'Point Address', 'Writable', 'Units', 'Mixed Endian'],
}
const DEVICES: Record<'bacnet' | 'modbus', DeviceEntry> = {
  bacnet: { ...ENTRY, protocol: 'bacnet', bacnet: { device_instance: 1, host: '10.0.0.1' } },
  modbus: { ...ENTRY, protocol: 'modbus', modbus: { host: '10.0.0.1', unit_id: 1 } },
}

for (const protocol of ['bacnet', 'modbus'] as const) {
  test(`whatever a ${protocol} registry holds, what is proposed can be kept`, async t => {
    const dir = await mkdtemp(join(tmpdir(), 'plenum-registry-'))
    t.teardown(() => rm(dir, { recursive: true }))
    const bind = { address: '127.0.0.1', port: 0 }
    const protocols = [bacnetProtocol({ bind, now: Date.now, log: SILENT }), modbusProtocol({ now: Date.now })]
    const { check } = await openCatalogue(dir, site, protocols)
    const row = fc.tuple(...ROWS[protocol].map(mostly))
    const holds = (body: string[][]) => {
      const cells = [HEADERS[protocol], ...body]
      const whole = { file: 'r', rows: cells.map((one, i) => ({ line: i + 1, cells: one })) }
      const registry = protocol === 'bacnet' ? readBacnetRegistry(whole) : readModbusRegistry(whole)
      const { catalogue } = planRegistry({ devices: [] }, registry, DEVICES[protocol], 60)
      check(catalogue)
      assert.deepEqual(planRegistry(catalogue, registry, DEVICES[protocol], 60).catalogue, catalogue)
    }
    t.notThrows(() => fc.assert(fc.property(fc.array(row, { maxLength: 30 }), holds), { numRuns: 500 }))
  })
}

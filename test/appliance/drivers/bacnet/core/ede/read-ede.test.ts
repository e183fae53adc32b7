/** EDE tables as tools write them: what is read of them, and what is refused in words. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { parseAddress } from '#appliance/drivers/bacnet/core/address.ts'
import { Problem } from '#shared/core/problem.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { readPointTable } from '#appliance/services/point-table.ts'
import { SILENT, site } from '../../../../../support/sites/catalogue-site.ts'
import { EMPTY, HEAD, none, planEde, read, readEde, table, TEXTS, TITLES } from './ede-tables.ts'

test('devices, their points, units and state texts are read', t => {
  const ede = read(
    `a;1001;AHU 1;8;1001;;;;;;;;;;;10.0.0.5
b;1001;Supply air;0;1;Temperature, in;;;;N;Y;;;;62;;
c;1001;Fan;3;1;;;;;;;;;1;;;
d;1001;Stage;19;4;;;;;;;;;2;;;
e;1001;Trend;20;1`,
    TEXTS,
  )
  t.deepEqual(ede.refused, [])
  t.deepEqual(ede.others, { 'trend-log': 1 })
  const { catalogue, devices } = planEde(EMPTY, ede, none)
  t.like(devices[0], { state: 'new', where: '10.0.0.5', points_known: 0 })
  t.like(catalogue.devices[0], {
    device_id: 'AHU-1',
    name: 'AHU 1',
    bacnet: { device_instance: 1001, host: '10.0.0.5', port: 47_808 },
  })
  t.deepEqual(catalogue.devices[0]!.points, [
    { point_id: 'AHU-1.Supply-air', address: 'analog-input,1', name: 'Supply air', unit: 'degC', kind: 'number', poll_secs: 60 },
    {
      point_id: 'AHU-1.Fan',
      address: 'binary-input,1',
      name: 'Fan',
      unit: 'bool',
      kind: 'bool',
      poll_secs: 60,
      states: ['Off', 'On'],
    },
    {
      point_id: 'AHU-1.Stage',
      address: 'multi-state-value,4',
      name: 'Stage',
      unit: 'enum',
      kind: 'enum',
      poll_secs: 60,
      states: ['', 'Stop', 'Slow', 'Fast'],
    },
  ])
})

const ROW = 'k;1001;Supply air;0;1;;;;;;;;;;62;'
for (const [name, row, column, message] of [
  ['a device that is no number', 'k;AHU;n;0;1', 'device obj.-instance', /"AHU" is not a whole number/],
  ['a device above the last', 'k;4194303;n;0;1', 'device obj.-instance', /above 4194302/],
  ['no object type', 'k;1001;n;;1', 'object-type', /empty/],
  ['an object type above the last', 'k;1001;n;1024;1', 'object-type', /above 1023/],
  ['an instance with a decimal point', 'k;1001;n;0;1.5', 'object-instance', /not a whole number/],
  ['no name at all', ';1001;;0;7', 'object-name', /empty/],
  ['the same object again', 'k2;1001;Other;0;1', 'object-instance', /already on line 9/],
  ['a device object of another device', 'k;1001;n;8;1002', 'object-instance', /number of its device/],
] as const) {
  test(`a row with ${name} is refused with its place, and the others are taken`, t => {
    const ede = read(`${ROW}\n${row}\nz;1001;Return air;0;9;;;;;;;;;;62;`)
    t.like(ede.refused[0], { file: 'school_EDE.csv', line: 10, column })
    t.regex(ede.refused[0]!.message, message)
    t.is(ede.refused.length, 1)
    t.deepEqual(
      ede.devices[0]!.objects.map(object => object.name),
      ['Supply air', 'Return air'],
    )
  })
}

test('several faults of one row are all named', t => {
  const { refused } = read('k;x;n;y;z')
  t.deepEqual(
    refused.map(({ column }) => column),
    ['device obj.-instance', 'object-type', 'object-instance'],
  )
})

test('what cannot be said of a point leaves the point and says so', t => {
  const ede = read('a;1;A;0;1;;;;;;;;;;30;\nb;1;B;0;2;;;;;;;;;;999;\nc;1;C;3;1;;;;;;;;;7;;\nd;1;D;3;2;;;;;;;;;1;;', TEXTS)
  t.is(ede.devices[0]!.objects.length, 4)
  t.deepEqual(
    ede.notes.map(({ line, column }) => [line, column]),
    [
      [10, 'unit-code'],
      [11, 'state-text-reference'],
    ],
  )
  const { catalogue, notes } = planEde(EMPTY, ede, { ...none, addresses: new Map([[1, parseAddress('10.0.0.1')!]]) })
  t.is(catalogue.devices[0]!.points[0]!.unit, 'count')
  t.true(notes.some(note => /the unit "millimeters" is not supported/.test(note)))
})

test('a unit up to 255 is of the standard whatever the units file says, and from 256 on it is as that says', t => {
  const units = table('#Code;Unit Text\n62;degrees-fahrenheit\n255;degrees-fahrenheit\n256;degrees-fahrenheit\n', 'u.csv')
  const rows = [62, 255, 256].map(code => `a${code};1;A${code};0;${code};;;;;;;;;;${code};`).join('\n')
  const [device] = readEde({ main: table(`${HEAD}${TITLES}\n${rows}`), units }).devices
  t.deepEqual(
    device!.objects.map(({ units: code, unit }) => [code, unit]),
    [
      [62, undefined],
      [255, undefined],
      [undefined, 'degF'],
    ],
  )
})

test("a vendor's unit counts when the units file says what it is", t => {
  const units = table('#Encoding of BACnet Engineering Units\n#Code;Unit Text\n600;degrees-fahrenheit\n', 'u.csv')
  const ede = readEde({ main: table(`${HEAD}${TITLES}\na;1;A;0;1;;;;;;;;;;600;`), units })
  const { catalogue } = planEde(EMPTY, ede, { ...none, addresses: new Map([[1, parseAddress('10.0.0.1')!]]) })
  t.is(catalogue.devices[0]!.points[0]!.unit, 'degF')
  t.deepEqual(ede.notes, [])
})

for (const [name, bytes] of [
  ['commas', Buffer.from(`${HEAD}${TITLES}\n${ROW}`.replaceAll(';', ','))],
  ['tabs', Buffer.from(`${HEAD}${TITLES}\n${ROW}`.replaceAll(';', '\t'))],
  ['a byte order mark', Buffer.from(`\uFEFF${HEAD}${TITLES}\n${ROW}`)],
  ['UTF-16, little end first', Buffer.from(`\uFEFF${HEAD}${TITLES}\n${ROW}`, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(`\uFEFF${HEAD}${TITLES}\n${ROW}`, 'utf16le').swap16()],
  ['line ends of Windows', Buffer.from(`${HEAD}${TITLES}\n${ROW}`.replaceAll('\n', '\r\n'))],
  ['headings that are no comments', Buffer.from(`${HEAD}${TITLES}\n${ROW}`.replaceAll(/^#\s*/gm, ''))],
  ['no headings at all', Buffer.from(ROW)],
] as const) {
  test(`a table with ${name} is read`, async t => {
    const ede = readEde({ main: await readPointTable('x.csv', bytes) })
    t.deepEqual(ede.refused, [])
    t.like(ede.devices[0]!.objects[0], { name: 'Supply air', type: 0, instance: 1, units: 62 })
  })
}

test('a table in the code page of Windows keeps its letters', async t => {
  const ede = readEde({ main: await readPointTable('x.csv', Buffer.from(`${HEAD}${TITLES}\nk;1;K\u00fchlung;0;1`, 'latin1')) })
  t.is(ede.devices[0]!.objects[0]!.name, 'Kühlung')
})

test('a table that would hold up the box is refused in words', async t => {
  const message = 'x.csv has 100001 rows, more than 100000; import it in parts'
  await t.throwsAsync(readPointTable('x.csv', Buffer.from('k;1;N;0;1\n'.repeat(100_001))), { instanceOf: Problem, message })
})

test('a long table is read in slices, between which others have their turn; its letters stay whole', async t => {
  const rows = 5_000
  let turns = 0
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const text = `${HEAD}${TITLES}\n${Array.from({ length: rows }, (_, i) => `k${i};1;Kühlung ${i} 🌡;0;${i}`).join('\n')}`
  const ede = readEde({ main: await readPointTable('x.csv', Buffer.from(text)) })
  clearImmediate(next)
  t.deepEqual(
    ede.devices[0]!.objects.map(({ name }) => name),
    Array.from({ length: rows }, (_, i) => `Kühlung ${i} 🌡`),
  )
  t.true(turns * 1_000 >= rows, `${turns} turns`)
})

test('columns that tools renamed are found by what they begin with', t => {
  const titles =
    '# keyname;device-obj-instance;object-name;object-type;object-instance;unit-code;state-text-reference;description'
  const ede = readEde({ main: table(`${HEAD}${titles}\nk;1;N;0;1;64;;said`) })
  t.like(ede.devices[0]!.objects[0], { units: 64, description: 'said' })
})

const junk = fc.oneof(
  fc.constantFrom('4194302', '4194303', '1023', 'analog-input', '#', '# keyname', '=1', ' ', '', '-', '65535'),
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const mostly = (good: fc.Arbitrary<string>) => fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: junk })
const small = (max: number) => fc.integer({ min: 0, max }).map(String)
const name = fc.oneof(
  fc.constantFrom('Temp', 'temp', 'Temp.', 'Temp.analog-input-1', 'x'.repeat(300)),
  fc.string({ maxLength: 300 }),
)
const columns = [name, small(3), name, fc.constantFrom('0', '3', '8', '13', '19', '20', '23', '40'), small(5)]
const others = Array.from({ length: 12 }, () => fc.oneof(small(300), fc.constant('')))
const rows = fc.array(fc.tuple(...[...columns, ...others].map(mostly)), { maxLength: 30 })

test('whatever a table holds, it is read, and what is proposed can be kept', async t => {
  const dir = await mkdtemp(join(tmpdir(), 'plenum-ede-'))
  t.teardown(() => rm(dir, { recursive: true }))
  const { check } = await openCatalogue(dir, site, [
    bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT }),
  ])
  const holds = (main: string[][], side: string[][]) => {
    const tableOf = (file: string, cells: string[][]) => ({ file, rows: cells.map((one, i) => ({ line: i + 1, cells: one })) })
    const ede = readEde({ main: tableOf('m', main), stateTexts: tableOf('s', side), units: tableOf('u', side) })
    const addresses = new Map(ede.devices.map(({ device_instance }) => [device_instance, parseAddress('10.0.0.1')!]))
    const { catalogue } = planEde(EMPTY, ede, { ...none, addresses })
    check(catalogue)
    assert.deepEqual(planEde(catalogue, ede, none).catalogue, catalogue)
  }
  t.notThrows(() => fc.assert(fc.property(rows, rows, holds), { numRuns: 500 }))
})

test('whatever bytes a file has, it is a table or refused in words', async t => {
  const reads = async (bytes: Uint8Array) => {
    try {
      readEde({ main: await readPointTable('x', Buffer.from(bytes)) })
    } catch (error) {
      assert.ok(error instanceof Problem, String(error))
    }
  }
  await t.notThrowsAsync(fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), reads), { numRuns: 500 }))
})

/** EDE tables as tools write them, and back again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { parseAddress } from '#shared/core/catalogue/address.ts'
import { type Ede, readEde } from '#shared/core/catalogue/ede.ts'
import type { Table } from '#shared/core/catalogue/table.ts'
import { writeEde } from '#shared/core/catalogue/write-ede.ts'
import { Problem } from '#shared/core/problem.ts'
import { bacnetProtocol } from '../../appliance/drivers/bacnet/protocol.ts'
import { openCatalogue } from '../../appliance/store/catalogue.ts'
import { planEde } from '../../appliance/store/catalogue-import.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../../appliance/store/catalogue-schema.ts'
import { readTableFile } from '../../appliance/services/table-file.ts'
import { tableOfText } from './table-of-text.ts'
import { SILENT, site } from './site.ts'

const TITLES =
  '# keyname;device obj.-instance;object-name;object-type;object-instance;description;present-value-default;min-present-value;max-present-value;settable;supports COV;hi-limit;low-limit;state-text-reference;unit-code;vendor-specific-address;notification-class'
const HEAD = `# Proposal_Engineering-Data-Exchange - B.I.G.-EU
PROJECT_NAME;School
VERSION_OF_REFERENCEFILE;1
TIMESTAMP_OF_LAST_CHANGE;19. Dec 2005
AUTHOR_OF_LAST_CHANGE;G. Sampler
VERSION_OF_LAYOUT;2.3
#mandatory;mandator;mandatory;mandatory;mandatory;optional
`
const TEXTS = `#State Text Reference
#Reference Number;Text 1 or Inactive-Text;Text 2 or Active-Text;Text 3
1;Off;On
2;Stop;Slow;Fast;;
`
const table = (text: string, file = 'school_EDE.csv'): Table => tableOfText(file, text, ';')
const read = (rows: string, texts?: string): Ede =>
  readEde({ main: table(`${HEAD}${TITLES}\n${rows}`), ...(texts && { stateTexts: table(texts, 'school_StateTexts.csv') }) })
const none = { addresses: new Map(), poll_secs: 60 }
const EMPTY: Catalogue = { devices: [] }

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
  ['a device that is no number', 'k;AHU;n;0;1', 'device obj.-instance', /"AHU" is no whole number/],
  ['a device above the last', 'k;4194303;n;0;1', 'device obj.-instance', /above 4194302/],
  ['no object type', 'k;1001;n;;1', 'object-type', /empty/],
  ['an object type above the last', 'k;1001;n;1024;1', 'object-type', /above 1023/],
  ['an instance with a decimal point', 'k;1001;n;0;1.5', 'object-instance', /no whole number/],
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
  t.true(notes.some(note => /millimeters is no unit/.test(note)))
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
    const ede = readEde({ main: await readTableFile('x.csv', bytes) })
    t.deepEqual(ede.refused, [])
    t.like(ede.devices[0]!.objects[0], { name: 'Supply air', type: 0, instance: 1, units: 62 })
  })
}

test('a table in the code page of Windows keeps its letters', async t => {
  const ede = readEde({ main: await readTableFile('x.csv', Buffer.from(`${HEAD}${TITLES}\nk;1;K\u00fchlung;0;1`, 'latin1')) })
  t.is(ede.devices[0]!.objects[0]!.name, 'Kühlung')
})

test('a table that would hold up the box is refused in words', async t => {
  const message = 'x.csv has 100001 rows, more than 100000; import it in parts'
  await t.throwsAsync(readTableFile('x.csv', Buffer.from('k;1;N;0;1\n'.repeat(100_001))), { instanceOf: Problem, message })
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
  const ede = readEde({ main: await readTableFile('x.csv', Buffer.from(text)) })
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

test('a name that two points of a device have tells its address, whatever the order of the rows', t => {
  const rows = ['a;1;Temp;0;1', 'b;1;Temp;0;2', 'c;1;Fan;3;1']
  const idsOf = (order: string[]) =>
    planEde(EMPTY, read(order.join('\n')), { ...none, addresses: new Map([[1, parseAddress('10.0.0.1')!]]) })
      .catalogue.devices[0]!.points.map(({ point_id }) => point_id)
      .toSorted()
  t.deepEqual(idsOf(rows), ['bacnet-1.Fan', 'bacnet-1.Temp.analog-input-1', 'bacnet-1.Temp.analog-input-2'])
  t.deepEqual(idsOf(rows.toReversed()), idsOf(rows))
})

test('an import adds what is not there and leaves what is as it was; again it adds nothing', t => {
  const first = read('a;1;Temp;0;1;;;;;;;;;;62;')
  const addresses = new Map([[1, parseAddress('10.0.0.1')!]])
  const before = planEde(EMPTY, first, { addresses, poll_secs: 30 }).catalogue
  const named = {
    devices: [{ ...before.devices[0]!, device_id: 'mine', points: [{ ...before.devices[0]!.points[0]!, name: 'Mine' }] }],
  }
  const more = read('a;1;Temp;0;1;;;;;;;;;;64;\nb;1;Fan;3;1')
  const plan = planEde(named, more, none)
  t.like(plan.devices[0], { device_id: 'mine', state: 'known', points_known: 1, where: '10.0.0.1' })
  t.deepEqual(plan.catalogue.devices[0]!.points[0], named.devices[0]!.points[0])
  t.is(plan.catalogue.devices[0]!.points[1]!.point_id, 'mine.Fan')
  t.deepEqual(planEde(plan.catalogue, more, none).catalogue, plan.catalogue)
})

test('an id that another point has is not taken again', t => {
  const addresses = new Map([[1, parseAddress('10.0.0.1')!]])
  const { catalogue } = planEde(EMPTY, read('a;1;Fan;0;9'), { addresses, poll_secs: 60 })
  const plan = planEde(catalogue, read('b;1;Fan;3;1'), none)
  t.deepEqual(
    plan.catalogue.devices[0]!.points.map(({ point_id, address }) => [point_id, address]),
    [
      ['bacnet-1.Fan', 'analog-input,9'],
      ['bacnet-1.Fan-2', 'binary-input,1'],
    ],
  )
})

test('a device that nobody has said the address of is left out, the others are not', t => {
  const ede = read('a;1;Temp;0;1\nb;2;Temp;0;1')
  const plan = planEde(EMPTY, ede, { ...none, addresses: new Map([[2, parseAddress('10.0.0.2:47809 network 7 mac 0A')!]]) })
  t.deepEqual(
    plan.devices.map(({ state, where }) => [state, where]),
    [
      ['no_address', null],
      ['new', '10.0.0.2:47809 network 7 mac 0a'],
    ],
  )
  t.is(plan.catalogue.devices.length, 1)
})

/** What EDE has words for. */
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter(one => one === one.trim() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(one))
const texts = (length: number) => fc.array(text, { minLength: length, maxLength: length })
const place = (name: string) => fc.integer({ min: 0, max: 4_194_302 }).map(instance => `${name},${instance}`)
const measure = fc.constantFrom(
  { unit: 'degF' },
  { unit: 'percent' },
  { unit: 'count' },
  { unit: 'MJ', scale: 0.001 },
  { unit: 'degC', offset: -273.15 },
)
const value = fc.oneof(
  fc
    .record({ address: place('analog-value'), kind: fc.constant('number' as const) })
    .chain(one => measure.map(m => ({ ...one, ...m }))),
  fc.record({ address: place('binary-input'), kind: fc.constant('bool' as const), unit: fc.constant('bool'), states: texts(2) }),
  fc.record({
    address: place('multi-state-output'),
    kind: fc.constant('enum' as const),
    unit: fc.constant('enum'),
    states: texts(3).map(some => ['', ...some]),
  }),
  fc.record({ address: place('characterstring-value'), kind: fc.constant('string' as const), unit: fc.constant('count') }),
)
const polling = fc.oneof(
  fc.record({ poll_secs: fc.integer({ min: 1, max: 86_400 }) }),
  fc.record({ poll_secs: fc.constant(60), cov: fc.constant(true as const) }),
)
const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/)
const catalogues: fc.Arbitrary<Catalogue> = fc
  .uniqueArray(
    fc.record({
      device_id: id,
      name: text,
      instance: fc.integer({ min: 0, max: 4_194_302 }),
      host: fc.ipV4(),
      route: fc.constantFrom({}, { network: 7, mac: '0a' }),
      points: fc.uniqueArray(fc.tuple(id, text, value, polling), { selector: ([, , { address }]) => address, maxLength: 8 }),
    }),
    { selector: ({ device_id }) => device_id, maxLength: 4 },
  )
  .map(devices => ({
    devices: devices
      .filter(({ instance }, i) => devices.findIndex(other => other.instance === instance) === i)
      .map(
        ({ device_id, name, instance, host, route, points }, d): DeviceEntry => ({
          device_id,
          name,
          enabled: true,
          protocol: 'bacnet',
          bacnet: { device_instance: instance, host, port: 47_808, ...route },
          points: points.map(
            ([point, label, said, polled], i): PointEntry => ({ point_id: `${d}.${i}${point}`, name: label, ...polled, ...said }),
          ),
        }),
      ),
  }))

const project = { name: 'Öst & West; "2"', version: '1', at: '2026-03-01' }
const again = ({ devices }: Catalogue): Catalogue => {
  const set = writeEde(devices as (DeviceEntry & { bacnet: NonNullable<DeviceEntry['bacnet']> })[], project)
  const [main, stateTexts] = set.map(({ name, text: written }) => tableOfText(name, written, ';'))
  const ede = readEde({ main: main!, ...(stateTexts && { stateTexts }) })
  return planEde(EMPTY, ede, none).catalogue
}

test('what EDE has words for comes back as it was: import(export(x)) = x', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(catalogues, catalogue => assert.deepEqual(again(catalogue), catalogue)),
      { numRuns: 200 },
    ),
  )
})

test('no cell of an export begins like a formula, and names that do come back', t => {
  const device: DeviceEntry = {
    device_id: '-d',
    name: '=HYPERLINK("http://x")',
    enabled: true,
    protocol: 'bacnet',
    bacnet: { device_instance: 1, host: '10.0.0.1', port: 47_808 },
    points: ['@SUM(A1)', "'=1", '+1', '-2'].map((name, i) => ({
      point_id: `p${i}`,
      address: `analog-input,${i}`,
      name,
      unit: 'degC',
      kind: 'number',
      poll_secs: 60,
    })),
  }
  const [main] = writeEde([device as never], project)
  const cells = main!.text.split('\r\n').flatMap(line => line.split(';'))
  t.deepEqual(
    cells.filter(cell => /^"?[=+\-@](?!\d+$)/.test(cell)),
    [],
  )
  t.deepEqual(again({ devices: [device] }), { devices: [device] })
})

test('who else says that a device could tell changes asks for none; how often to read counts from any table, where it can be used', t => {
  const polled = `${TITLES};poll-secs`
  const row = (instance: number, cov: string, secs: string) =>
    `k${instance};7;P${instance};0;${instance};;;;;N;${cov};;;;62;;;${secs}`
  const rows = [row(1, 'Y', '300'), row(2, 'N', ''), row(3, '', '0'), row(4, '', 'often')]
  const ede = readEde({ main: table(`${HEAD}${polled}\nd;7;D;8;7;;;;;;;;;;;10.0.0.1\n${rows.join('\n')}`) })
  const { points } = planEde(EMPTY, ede, none).catalogue.devices[0]!
  t.deepEqual(
    points.map(({ poll_secs, cov }) => [poll_secs, cov]),
    [300, 60, 60, 60].map(secs => [secs, undefined]),
  )
  t.deepEqual(
    ede.notes.map(({ column, message }) => `${column} ${message.slice(0, 8)}`),
    ['poll-secs "0" is n', 'poll-secs "often" '],
  )
})

test('a percent is no humidity and a fraction no power factor', t => {
  const point = { address: 'analog-input,1', name: 'P', kind: 'number', poll_secs: 60 } as const
  const points = [
    { ...point, point_id: 'percent', unit: 'percent' },
    { ...point, point_id: 'fraction', unit: 'fraction' },
  ]
  const [main] = writeEde([{ device_id: 'd', name: 'D', bacnet: { device_instance: 1, host: '10.0.0.1' }, points }], project)
  t.regex(main!.text, /^percent;(?:[^;]*;){13}98;;;60$/m)
  t.regex(main!.text, /^# not said in EDE: fraction/m)
})

test('points that EDE has no words for stand in it as comments', t => {
  const point = {
    point_id: 'p',
    address: 'analog-output,1/priority-array[8]',
    name: 'P',
    unit: 'percent',
    kind: 'number',
    poll_secs: 60,
  } as const
  const other = { ...point, point_id: 'q', address: 'analog-output,1', unit: 'therm', scale: 3 } as const
  const [main] = writeEde(
    [{ device_id: 'd', name: 'D', bacnet: { device_instance: 1, host: '10.0.0.1' }, points: [point, other] }],
    project,
  )
  t.regex(main!.text, /^"?# not said in EDE: p \(.*\): it is not the present value/m)
  t.regex(main!.text, /^"?# not said in EDE: q .*therm by 3/m)
  t.deepEqual(readEde({ main: table(main!.text) }).devices[0]!.objects, [])
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
      readEde({ main: await readTableFile('x', Buffer.from(bytes)) })
    } catch (error) {
      assert.ok(error instanceof Problem, String(error))
    }
  }
  await t.notThrowsAsync(fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), reads), { numRuns: 500 }))
})

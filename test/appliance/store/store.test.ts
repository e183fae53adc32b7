import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { type DeviceCatalogue, CatalogueFile } from '#appliance/store/catalogue-schema.ts'
import { ConfigError, jsonFile } from '#appliance/store/json-file.ts'
import { openSiteSettings, type SiteSettings, SiteFile } from '#appliance/store/site.ts'
import { catalogue, SILENT, site } from '../../support/sites/catalogue-site.ts'

const protocols = [
  bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT }),
  modbusProtocol({ now: Date.now }),
]

async function folder(t: ExecutionContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'plenum-config-'))
  t.teardown(() => rm(dir, { recursive: true }))
  return dir
}
async function folderWith(t: ExecutionContext, name: string, content: unknown): Promise<string> {
  const dir = await folder(t)
  await writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content))
  return dir
}

type Change = (file: any) => void
const changed = <T>(value: T, change: Change): T => {
  const copy = structuredClone(value)
  change(copy)
  return copy
}

test('a catalogue is read as it is written, and a missing one is empty', async t => {
  const dir = await folderWith(t, 'field-devices.json', catalogue)
  t.deepEqual((await openCatalogue(dir, site, protocols)).current(), catalogue)
  t.deepEqual((await openCatalogue(await folder(t), site, protocols)).current(), { devices: [] })
  const fromWindows = await folderWith(t, 'field-devices.json', `\uFEFF${JSON.stringify(catalogue)}`)
  t.deepEqual((await openCatalogue(fromWindows, site, protocols)).current(), catalogue)
})

for (const [name, change, pointer, message] of [
  ['a field too many', c => (c.devices[0].colour = 'red'), '/devices/0/colour', /Unexpected/],
  ['a field missing', c => delete c.devices[0].enabled, '/devices/0/enabled', /required/],
  ['a number as text', c => (c.devices[0].points[0].poll_secs = '60'), '/devices/0/points/0/poll_secs', /integer/],
  ['a protocol that is not known', c => (c.devices[0].protocol = 'lon'), '/devices/0/protocol', /bacnet\|modbus/],
  ['no section for its protocol', c => delete c.devices[0].bacnet, '/devices/0/bacnet', /needs this section/],
  ['a host name for BACnet', c => (c.devices[0].bacnet.host = 'ahu.local'), '/devices/0/bacnet/host', /match/],
  ['an address beyond 255', c => (c.devices[0].bacnet.host = '10.0.0.256'), '/devices/0/bacnet/host', /match/],
  ['a network without a mac', c => (c.devices[0].bacnet.network = 7), '/devices/0/bacnet', /given together/],
  [
    'a wrong BACnet address',
    c => (c.devices[0].points[1].address = 'analogg-input,2'),
    '/devices/0/points/1/address',
    /"analogg-input" is no object type/,
  ],
  [
    'a whole priority array',
    c => (c.devices[0].points[1].address = 'analog-output,2/priority-array'),
    '/devices/0/points/1/address',
    /has sixteen values/,
  ],
  [
    'a wrong Modbus address',
    c => (c.devices[1].points[0].address = 'holding:0:float'),
    '/devices/1/points/0/address',
    /"float" is not a format/,
  ],
  [
    'a Modbus text',
    c => Object.assign(c.devices[1].points[0], { kind: 'string', scale: undefined }),
    '/devices/1/points/0/kind',
    /no text values/,
  ],
  [
    'an id twice',
    c => (c.devices[1].device_id = c.devices[0].device_id),
    '/devices/1/device_id',
    /stands already at \/devices\/0\/device_id/,
  ],
  [
    'a point twice',
    c => (c.devices[1].points[0].point_id = c.devices[0].points[0].point_id),
    '/devices/1/points/0/point_id',
    /stands already/,
  ],
  ['an alias for a unit', c => (c.devices[0].points[0].unit = '°C'), '/devices/0/points/0/unit', /write degC/],
  ['a unit that nobody knows', c => (c.devices[0].points[0].unit = 'furlong'), '/devices/0/points/0/unit', /no unit code/],
  [
    'a unit of something else',
    c => (c.devices[0].points[0].unit = 'kW'),
    '/devices/0/points/0/unit',
    /kW does not measure what sa_t is/,
  ],
  ['a role that nobody knows', c => (c.devices[0].points[0].role = 'sa_temp_x'), '/devices/0/points/0/role', /no role; near are/],
  [
    'an equipment that is not there',
    c => (c.devices[0].points[0].equipment_id = 'AHU-9'),
    '/devices/0/points/0/equipment_id',
    /no equipment/,
  ],
  ['cov on a Modbus point', c => (c.devices[1].points[0].cov = true), '/devices/1/points/0/cov', /cov is for BACnet/],
  [
    'cov on what devices do not tell',
    c => Object.assign(c.devices[0].points[0], { cov: true, address: 'analog-output,1/priority-array[8]' }),
    '/devices/0/points/0/cov',
    /present values/,
  ],
  ['a scale on a bool', c => (c.devices[0].points[1].scale = 2), '/devices/0/points/1/scale', /not scaled/],
] as [string, Change, string, RegExp][]) {
  test(`a catalogue with ${name} is refused at its place, and the file is kept`, async t => {
    const dir = await folderWith(t, 'field-devices.json', changed(catalogue, change))
    const before = await readFile(join(dir, 'field-devices.json'))
    const error = await t.throwsAsync(openCatalogue(dir, site, protocols), { instanceOf: ConfigError })
    const { path, complaints } = error as ConfigError
    t.is(path, join(dir, 'field-devices.json'))
    t.is(complaints.length, 1, error!.message)
    t.is(complaints[0]!.pointer, pointer)
    t.regex(complaints[0]!.message, message)
    t.true(error!.message.includes(path) && error!.message.includes(pointer))
    t.deepEqual(await readFile(join(dir, 'field-devices.json')), before)
  })
}

test('all that is wrong is told at once', async t => {
  const wrong = changed(catalogue, c => {
    c.devices[0].points[0].unit = 'furlong'
    c.devices[0].points[1].role = 'nothing'
    c.devices[1].points[0].address = 'holding'
  })
  const dir = await folderWith(t, 'field-devices.json', wrong)
  const error = await t.throwsAsync(openCatalogue(dir, site, protocols), { instanceOf: ConfigError })
  t.is((error as ConfigError).complaints.length, 3)
})

test('a device of a protocol that this process does not speak is none of its business', async t => {
  const wrong = changed(catalogue, c => (c.devices[1].points[0].address = 'holding'))
  const dir = await folderWith(t, 'field-devices.json', wrong)
  await t.notThrowsAsync(openCatalogue(dir, site, [protocols[0]!]))
})

for (const [name, content, message] of [
  ['that breaks off', '{"devices": [', /is not valid JSON/],
  ['that is empty', '', /is not valid JSON/],
  ['that holds null', 'null', /contains only null/],
  ['of zeros, as a power cut leaves it', '\0'.repeat(4096), /is not valid JSON/],
  ['that is a list', '[]', /object/],
] as const) {
  test(`a catalogue ${name} is refused, and the file is kept`, async t => {
    const dir = await folderWith(t, 'field-devices.json', content)
    await t.throwsAsync(openCatalogue(dir, site, protocols), { instanceOf: ConfigError, message })
    t.is(await readFile(join(dir, 'field-devices.json'), 'utf8'), content)
  })
}

test('a catalogue that cannot be read is refused with the reason', async t => {
  const dir = await folder(t)
  await mkdir(join(dir, 'field-devices.json'))
  await t.throwsAsync(openCatalogue(dir, site, protocols), {
    instanceOf: ConfigError,
    message: /field-devices\.json.*\n.*EISDIR/,
  })
})

test('a replaced catalogue is there after opening again, and nothing else is left in the folder', async t => {
  const dir = await folder(t)
  const settings = await openCatalogue(dir, site, protocols)
  await settings.replace(catalogue)
  t.deepEqual(settings.current(), catalogue)
  t.deepEqual((await openCatalogue(dir, site, protocols)).current(), catalogue)
  t.deepEqual(await readdir(dir), ['field-devices.json'])
})

test('a wrong replacement changes neither the file nor what is in use', async t => {
  const dir = await folderWith(t, 'field-devices.json', catalogue)
  const settings = await openCatalogue(dir, site, protocols)
  const wrong = changed(catalogue, c => (c.devices[0].points[0].unit = 'furlong')) as DeviceCatalogue
  await t.throwsAsync(settings.replace(wrong), { instanceOf: ConfigError })
  t.deepEqual(settings.current(), catalogue)
  t.deepEqual(JSON.parse(await readFile(join(dir, 'field-devices.json'), 'utf8')), catalogue)
})

test('a file that would be too large to be read again is not written', async t => {
  const dir = await folder(t)
  const file = jsonFile<string[]>(join(dir, 'list.json'))
  await file.write(['small'])
  const mebibyte = 'x'.repeat(2 ** 20)
  await t.throwsAsync(file.write(Array.from({ length: 32 }, () => mebibyte)), {
    instanceOf: ConfigError,
    message: /at most .* are allowed/,
  })
  t.deepEqual(await file.read(), ['small'])
  t.deepEqual(await readdir(dir), ['list.json'])
})

test('a replacement that cannot be written leaves what is in use', async t => {
  const dir = await folder(t)
  const settings = await openCatalogue(join(dir, 'gone'), site, protocols)
  await t.throwsAsync(settings.replace(catalogue), { code: 'ENOENT' })
  t.deepEqual(settings.current(), { devices: [] })
})

test('a site is read as it is written', async t => {
  const dir = await folderWith(t, 'site.json', site)
  t.deepEqual((await openSiteSettings(dir)).current(), site)
})
for (const [name, change, pointer] of [
  ['no such zone', s => (s.building.timezone = 'Mars/Olympus'), '/building/timezone'],
  ['an equipment twice', s => s.equipment.push(s.equipment[0]), '/equipment/2/equipment_id'],
  ['a parent that is not there', s => (s.equipment[1].parent_id = 'AHU-9'), '/equipment/1/parent_id'],
  ['feeding what is not there', s => (s.equipment[0].feeds = ['VAV-9']), '/equipment/0/feeds/0'],
  ['a blank in an id', s => (s.site_id = 'my site'), '/site_id'],
  ['a type that nobody knows', s => (s.equipment[0].equipment_type = 'toaster'), '/equipment/0/equipment_type'],
] as [string, Change, string][]) {
  test(`a site with ${name} is refused at its place`, async t => {
    const dir = await folderWith(t, 'site.json', changed<SiteSettings>(site, change))
    const error = await t.throwsAsync(openSiteSettings(dir), { instanceOf: ConfigError })
    t.deepEqual(
      (error as ConfigError).complaints.map(one => one.pointer),
      [pointer],
    )
  })
}
test('a site that is missing is an error', async t => {
  await t.throwsAsync(openSiteSettings(await folder(t)), { instanceOf: ConfigError, message: /site\.json.*\n.*no such file/ })
})

for (const [file, schema] of [
  ['field-devices.schema.json', CatalogueFile],
  ['site.schema.json', SiteFile],
] as const) {
  test(`${file} is the schema that the program checks by`, async t => {
    const published = JSON.parse(await readFile(join('appliance/store', file), 'utf8'))
    t.deepEqual(published, JSON.parse(JSON.stringify(schema)))
  })
}

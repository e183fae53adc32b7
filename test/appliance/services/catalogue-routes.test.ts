/** The API and the forms of the field catalogue, over real HTTP and with real polling. */
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { unzipSync } from '../../support/packages/unzip.ts'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import { PASSWORDS } from '../../support/sites/box-central.ts'
import { type DevicesSite, edeOf, openDevicesSite, STATE_TEXTS } from '../../support/sites/devices-site.ts'

type Who = keyof typeof PASSWORDS
type Answer = { status: number; body: any; text: string; headers: Headers }
type Site = DevicesSite & { call(who: Who | 'nobody', method: string, path: string, body?: unknown): Promise<Answer> }
const test = anyTest as TestFn<{ site: Site }>

async function openSite(): Promise<Site> {
  const site = await openDevicesSite()
  const tokens = new Map<Who, string>()
  for (const who of ['agent', 'viewer'] as const) {
    const reply = await fetch(`${site.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: who, password: PASSWORDS[who] }),
    })
    tokens.set(who, ((await reply.json()) as { token: string }).token)
  }
  const call: Site['call'] = async (who, method, path, body) => {
    const isForm = body instanceof FormData
    const reply = await fetch(`${site.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(who !== 'nobody' && { authorization: `Bearer ${tokens.get(who)}` }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await reply.arrayBuffer())
    const text = bytes.toString('latin1')
    const isJson = reply.headers.get('content-type')?.includes('json')
    return { status: reply.status, body: isJson ? JSON.parse(bytes.toString()) : bytes, text, headers: reply.headers }
  }
  return { ...site, call }
}

/** For tests that change nothing. */
test.before(async t => {
  t.context.site = await openSite()
})
test.after.always(t => t.context.site.close())

/** For those that do. */
async function openOwn(t: ExecutionContext): Promise<Site> {
  const site = await openSite()
  t.teardown(site.close)
  return site
}

const form = (fields: Record<string, string>, files: Record<string, string>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  for (const [name, text] of Object.entries(files)) data.append('file', new Blob([text]), name)
  return data
}
const ede = (site: Site, fields: Record<string, string> = {}) =>
  form({ format: 'ede', poll_secs: '60', ...fields }, { 'a_EDE.csv': edeOf(site.air.port), 'a_StateTexts.csv': STATE_TEXTS })
const onDisk = async ({ path }: Site) => JSON.parse(await readFile(path, 'utf8')) as DeviceCatalogue
async function until(ready: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1500 && !ready(); tries++) await new Promise(resolve => setTimeout(resolve, 20))
}

test('an EDE set is looked at, imported, polled and taken elsewhere', async t => {
  const site = await openOwn(t)
  const dry = await site.call('agent', 'POST', '/api/devices/import?dry_run=true', ede(site))
  t.is(dry.status, 200)
  t.deepEqual(dry.body.counts, {
    devices_new: 1,
    devices_known: 0,
    devices_without_address: 1,
    points_added: 2,
    points_known: 0,
  })
  t.deepEqual(
    dry.body.refused.map(({ file, line, column }: any) => [file, line, column]),
    [
      ['a_EDE.csv', 16, 'device obj.-instance'],
      ['a_EDE.csv', 17, 'object-type'],
    ],
  )
  t.deepEqual(dry.body.others, { 'trend-log': 1 })
  t.is(site.catalogue.current().devices.length, 0)

  const done = await site.call('agent', 'POST', '/api/devices/import', ede(site, { addresses: '{"1002":"127.0.0.1:9"}' }))
  t.like(done.body.counts, { devices_new: 2, points_added: 4 })
  t.deepEqual((await onDisk(site)).devices, site.catalogue.current().devices)
  await until(() => site.pollStatus().points_ok === 2)
  const list = await site.call('viewer', 'GET', '/api/devices?limit=1')
  t.like(list.body.devices[0], { device_id: 'AHU-1', points: 2, poll: { state: 'ok' } })
  t.truthy(list.body.next_cursor)
  const one = await site.call('viewer', 'GET', '/api/devices/AHU-1')
  t.like(one.body.points[0], { point_id: 'AHU-1.Supply-air', state: 'ok', v: 55.5, q: 'good' })

  const again = await site.call('agent', 'POST', '/api/devices/import', ede(site))
  t.like(again.body.counts, { devices_known: 2, points_added: 0, points_known: 4 })

  const csv = await site.call('viewer', 'GET', '/api/devices/export?format=csv')
  t.regex(
    csv.text,
    /^device_id,device_name,.*\r\nAHU-1,AHU-1,bacnet,127\.0\.0\.1:\d+,true,AHU-1\.Supply-air,Supply air,"analog-input,1"/,
  )
  const zip = await site.call('viewer', 'GET', '/api/devices/export?format=ede')
  const files = unzipSync(zip.body as Buffer)
  t.deepEqual(
    files.map(({ name }) => name),
    ['School_EDE.csv', 'School_StateTexts.csv'],
  )
  t.regex(files[0]!.text, /VERSION_OF_LAYOUT;2\.3/)
  await site.catalogue.change(() => ({ devices: [] }))
  const back = await site.call(
    'agent',
    'POST',
    '/api/devices/import',
    form({ format: 'ede', poll_secs: '60' }, Object.fromEntries(files.map(({ name, text }) => [name, text]))),
  )
  t.like(back.body.counts, { devices_new: 2, points_added: 4 })
  t.deepEqual(back.body.refused, [])
})

test('a registry goes to the device that the form names', async t => {
  const site = await openOwn(t)
  const csv = 'Volttron Point Name,Units,Modbus Register,Writable,Point Address\nTemp,F,>f,FALSE,1\nBad,F,xx,FALSE,2\n'
  const fields = { format: 'volttron-modbus', poll_secs: '30', device_id: 'rtu-1', address: '127.0.0.1:5020', unit_id: '3' }
  const done = await site.call('agent', 'POST', '/api/devices/import', form(fields, { 'rtu.csv': csv }))
  t.like(done.body.counts, { devices_new: 1, points_added: 1 })
  t.like(done.body.refused[0], { file: 'rtu.csv', line: 3, column: 'Modbus Register' })
  t.like((await onDisk(site)).devices[0], {
    device_id: 'rtu-1',
    protocol: 'modbus',
    modbus: { host: '127.0.0.1', port: 5020, unit_id: 3 },
    points: [{ point_id: 'rtu-1.Temp', poll_secs: 30 }],
  })
  const wrong = await site.call(
    'agent',
    'POST',
    '/api/devices/import',
    form({ ...fields, format: 'volttron-bacnet' }, { 'rtu.csv': csv }),
  )
  t.is(wrong.status, 422)
  t.is(wrong.body.errors[0].pointer, '/device_id')
})

for (const [name, fields, files, status, said] of [
  ['no file', { format: 'ede', poll_secs: '60' }, {}, 400, /contains no file/],
  ['no format', { poll_secs: '60' }, { 'a.csv': 'x' }, 422, /format: is one of/],
  ['a field that is not known', { format: 'ede', colour: 'red' }, { 'a.csv': 'x' }, 400, /"colour" is no field/],
  ['no period', { format: 'ede', poll_secs: '0' }, { 'a.csv': 'x' }, 422, /poll_secs: "0"/],
  ['two tables of points', { format: 'ede', poll_secs: '60' }, { 'a.csv': 'x', 'b.csv': 'y' }, 422, /same part of an EDE set/],
  ['only state texts', { format: 'ede', poll_secs: '60' }, { 'a_StateTexts.csv': 'x' }, 422, /table of the points is missing/],
  ['a picture', { format: 'ede', poll_secs: '60' }, { 'a.csv': 'a\0\u0001' }, 422, /is no text/],
  ['a ZIP', { format: 'ede', poll_secs: '60' }, { 'a.zip': 'PK\u0003\u0004' }, 422, /unpack it/],
  ['addresses that are no object', { format: 'ede', poll_secs: '60', addresses: '[1]' }, { 'a.csv': 'x' }, 422, /no JSON object/],
  [
    'an address that is lists in lists',
    { format: 'ede', poll_secs: '60', addresses: `{"7":${'['.repeat(60_000)}${']'.repeat(60_000)}}` },
    { 'a.csv': 'x' },
    422,
    /Device 7: what stands there is not written like/,
  ],
  [
    'an address that is none',
    { format: 'ede', poll_secs: '60', addresses: '{"7":"there"}' },
    { 'a.csv': 'x' },
    422,
    /Device 7: "there"/,
  ],
] as const) {
  test(`an import with ${name} is refused in words`, async t => {
    const { site } = t.context
    const reply = await site.call('agent', 'POST', '/api/devices/import', form(fields, files))
    t.is(reply.status, status, reply.text)
    t.regex(reply.body.detail, said)
    t.deepEqual(site.catalogue.current(), { devices: [] })
  })
}

test('a device is put, replaced and removed, each with its place in the audit', async t => {
  const site = await openOwn(t)
  const device = {
    device_id: 'ahu',
    name: 'Air',
    enabled: true,
    protocol: 'bacnet',
    bacnet: { device_instance: 1001, host: '127.0.0.1', port: site.air.port },
    points: [{ point_id: 'ahu.t', address: 'analog-input,1', name: 'T', unit: 'degF', kind: 'number', poll_secs: 60 }],
  }
  const put = (body: unknown, query = '') => site.call('agent', 'PUT', `/api/devices/ahu${query}`, body)
  t.like((await put(device, '?dry_run=true')).body, { ok: true, created: true })
  t.deepEqual(site.catalogue.current(), { devices: [] })
  t.like((await put(device)).body, { created: true })
  await until(() => site.pollStatus().points_ok === 1)
  t.is(site.pollStatus().points_ok, 1)
  t.like((await put({ ...device, enabled: false })).body, { created: false })
  t.is(site.pollStatus().devices[0]!.state, 'disabled')

  const wrong = await put({ ...device, points: [{ ...device.points[0], unit: '°F' }] })
  t.is(wrong.status, 422)
  t.deepEqual(wrong.body.errors, [{ pointer: '/devices/0/points/0/unit', message: '"°F" is no unit code; write degF' }])
  t.is(wrong.body.detail, 'List not changed: device ahu, /points/0/unit: "°F" is no unit code; write degF')
  t.is((await put({ ...device, colour: 'red' })).status, 400)
  t.is((await put({ ...device, device_id: 'other' })).body.errors[0].pointer, '/device_id')

  t.like((await site.call('agent', 'DELETE', '/api/devices/ahu')).body, { ok: true })
  const gone = await site.call('agent', 'DELETE', '/api/devices/ahu')
  t.is(gone.status, 404)
  t.is(gone.body.code, 'unknown_device')
  t.deepEqual(
    site.audit.list({ limit: 3 }).map(({ action, subject }) => [action, subject]),
    [
      ['device_delete', 'ahu'],
      ['device_put', 'ahu'],
      ['device_put', 'ahu'],
    ],
  )
})

test('what a script has spoilt is told, and is not overwritten', async t => {
  const site = await openOwn(t)
  await writeFile(site.path, '{"devices": [')
  await site.catalogue.checkFile()
  await site.catalogue.checkFile()
  const { body } = await site.call('viewer', 'GET', '/api/devices')
  t.regex(body.refusal, /is not valid JSON/)
  const page = await site.call('viewer', 'GET', '/devices')
  t.regex(page.text, /was changed on disk and is not used/)
  const reply = await site.call('agent', 'DELETE', '/api/devices/none')
  t.is(reply.status, 404)
  const upload = await site.call('agent', 'POST', '/api/devices/import', ede(site))
  t.is(upload.status, 409)
  t.is(upload.body.code, 'conflict')
  t.is(await readFile(site.path, 'utf8'), '{"devices": [')

  await rm(site.path)
  await site.catalogue.checkFile()
  await site.catalogue.checkFile()
  t.regex((await site.call('viewer', 'GET', '/devices')).text, /is missing on the disk/)
  t.is((await site.call('agent', 'POST', '/api/devices/import', ede(site))).status, 200)
  t.is((await onDisk(site)).devices[0]!.device_id, 'AHU-1')
})

test('a viewer reads, and changes nothing', async t => {
  const { site } = t.context
  for (const { method, path, auth } of site.routes) {
    const url = path.replace(':device_id', 'x').replace(':session_id', '00000000-0000-4000-8000-000000000000')
    const as = async (who: Who | 'nobody') => (await site.call(who, method, url)).status
    t.is(auth, method === 'GET' && !path.includes(':session_id') ? 'viewer' : 'operator', path)
    t.true([401, 303].includes(await as('nobody')), path)
    if (auth === 'operator') t.is(await as('viewer'), 403, path)
  }
})

test('API.md of the appliance lists the routes of devices with their roles and problems', t => {
  const text = readFileSync(new URL('../../../appliance/API.md', import.meta.url), 'utf8')
  const told = text
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(([, method = '', path = '']) => /^[A-Z]+$/.test(method) && path.includes('/api/devices'))
    .map(([, method, path, role, , problems]) => {
      const codes = [...problems!.matchAll(/`(\w+)`/g)].map(([, code]) => code!)
      return `${method} ${path!.replaceAll('`', '')} ${role} ${codes.toSorted()}`
    })
  const routes = t.context.site.routes.filter(({ path }) => path.startsWith('/api/'))
  t.deepEqual(
    told.toSorted(),
    routes.map(({ method, path, auth, problems = [] }) => `${method} ${path} ${auth} ${problems.toSorted()}`).toSorted(),
  )
})

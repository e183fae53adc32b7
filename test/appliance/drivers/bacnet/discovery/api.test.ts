/** The API of discovery: who may, one at a time, what it says, and that only an addition changes the catalogue. */
import { readFileSync } from 'node:fs'
import anyTest, { type TestFn } from 'ava'
import { PROBLEMS } from '#shared/core/problem.ts'
import { wallClock } from '#shared/node/clock.ts'
import { PASSWORDS } from '../../../../support/sites/box-central.ts'
import { type DiscoverySite, openDiscoverySite } from './site.ts'

const test = anyTest as TestFn<{ box: DiscoverySite; off: DiscoverySite }>
test.before(async t => {
  t.context = { box: await openDiscoverySite(), off: await openDiscoverySite(false) }
})
test.after.always(async t => {
  await t.context.box.close()
  await t.context.off.close()
})

type Answer = { status: number; body: any }
async function call(
  site: DiscoverySite,
  who: keyof typeof PASSWORDS,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const login = await fetch(`${site.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: who, password: PASSWORDS[who] }),
  })
  const { token } = (await login.json()) as { token: string }
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const answer = await fetch(`${site.url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return { status: answer.status, body: await answer.json() }
}
const PATH = '/api/bacnet/discover'

async function discoverAll(site: DiscoverySite, more: object = {}): Promise<any> {
  const begun = await call(site, 'agent', 'POST', PATH, {
    addresses: site.addresses,
    seconds: 2,
    requests_per_second: 100,
    ...more,
  })
  for (;;) {
    const { body } = await call(site, 'agent', 'GET', PATH)
    if (body.job?.job_id === begun.body.job_id && body.job.state !== 'running') return body.job
    await wallClock.sleep(50)
  }
}

test.serial('a viewer may neither see nor start one', async t => {
  const { box } = t.context
  for (const [method, path] of [
    ['GET', PATH],
    ['POST', PATH],
    ['POST', `${PATH}/stop`],
    ['POST', `${PATH}/preview`],
    ['POST', `${PATH}/add`],
  ] as const) {
    const { status, body } = await call(box, 'viewer', method, path, method === 'POST' ? {} : undefined)
    t.deepEqual([status, body.code], [403, 'forbidden'], `${method} ${path}`)
  }
})

for (const [name, body, status, pointer] of [
  ['an instance beyond the last', { high: 4_194_303 }, 400, '/high'],
  ['a field that is not known', { lowest: 1 }, 400, '/lowest'],
  ['a number as a text', { low: '1' }, 400, '/low'],
  ['a name instead of an address', { addresses: ['router.example'] }, 400, '/addresses/0'],
  ['a network without a number', { network: 0 }, 400, '/network'],
  ['too many seconds', { seconds: 121 }, 400, '/seconds'],
  ['bounds the wrong way round', { low: 2, high: 1 }, 422, '/low'],
  ['a network beside addresses', { network: 7, addresses: ['10.0.0.1'] }, 422, '/network'],
] as const) {
  test.serial(`refused with its field: ${name}`, async t => {
    const answer = await call(t.context.box, 'agent', 'POST', PATH, body)
    t.is(answer.status, status)
    t.true(
      answer.body.errors.some((error: { pointer: string }) => error.pointer.startsWith(pointer)),
      JSON.stringify(answer.body.errors),
    )
  })
}

test.serial('switched off, nothing is called, and both page and API say so', async t => {
  const { off } = t.context
  const { status, body } = await call(off, 'agent', 'POST', PATH, {})
  t.deepEqual([status, body.code], [409, 'discovery_disabled'])
  t.like((await call(off, 'agent', 'GET', PATH)).body, { enabled: false, job: null })
})

test.serial('one runs at a time, and it can be stopped', async t => {
  const { box } = t.context
  t.is((await call(box, 'agent', 'POST', PATH, { addresses: box.addresses, seconds: 120 })).status, 202)
  const second = await call(box, 'agent', 'POST', PATH, {})
  t.deepEqual([second.status, second.body.code], [409, 'discovery_in_progress'])
  t.is((await call(box, 'agent', 'POST', `${PATH}/stop`, {})).status, 200)
  while ((await call(box, 'agent', 'GET', PATH)).body.job.state === 'running') await wallClock.sleep(20)
  t.is((await call(box, 'agent', 'GET', PATH)).body.job.state, 'stopped')
})

test.serial('it tells devices, log, changes and networks, and changes nothing', async t => {
  const { box } = t.context
  const before = box.file()
  const job = await discoverAll(box)
  t.is(job.state, 'done')
  t.deepEqual(job.devices.map((one: any) => [one.device_instance, one.outcome, one.points]).toSorted(), [
    [1001, 'found', 30],
    [1002, 'found', 10],
  ])
  t.deepEqual(
    job.changes.map(({ change }: any) => change),
    ['new', 'new'],
  )
  t.like(job.why, { calls_sent: 4, holder: 'this process', next_steps: [] })
  t.true(job.why.speaking[0].received > 10)
  const { n } = job.log[2]
  const { body } = await call(box, 'agent', 'GET', `${PATH}?after_line=${n}`)
  t.is(body.job.log[0].n, n + 1)
  const { additions } = (await call(box, 'agent', 'POST', `${PATH}/preview`, { devices: [job.devices[0].key] })).body
  t.is(additions[0].entry.points.length, job.devices[0].points)
  t.is(box.file(), before)
  t.deepEqual(box.catalogue.current().devices, [])
})

test.serial('a call that nobody answers says why it may be empty', async t => {
  const job = await discoverAll(t.context.box, { addresses: ['127.0.0.1:9'], seconds: 1 })
  t.deepEqual(job.devices, [])
  t.regex(job.why.next_steps.join('\n'), /Nothing came in at all[\s\S]*may be off, or listen on another UDP port/)
})

test.serial('a preview counts points and traffic, and an addition needs a confirmation and is polled at once', async t => {
  const { box } = t.context
  const job = await discoverAll(box)
  const devices = job.devices.map(({ key }: any) => key)
  const preview = (await call(box, 'agent', 'POST', `${PATH}/preview`, { devices, poll_secs: 1 })).body
  t.like(preview, { ok: true, devices: 2, points: 40 })
  t.is(preview.before.requests_per_minute, 0)
  t.is(preview.after.requests_per_minute, 120)
  const unsure = await call(box, 'agent', 'POST', `${PATH}/add`, { devices, confirm: false })
  t.deepEqual([unsure.status, unsure.body.code], [422, 'confirm_required'])
  const unknown = await call(box, 'agent', 'POST', `${PATH}/add`, { devices: [...devices, '7@10.0.0.1:1'], confirm: true })
  t.deepEqual([unknown.status, unknown.body.errors[0].pointer], [422, '/devices/2'])
  t.deepEqual(box.catalogue.current().devices, [])

  const added = await call(box, 'agent', 'POST', `${PATH}/add`, { devices, poll_secs: 1, confirm: true })
  t.deepEqual(added.body, { ok: true, devices: 2, points: 40, device_ids: added.body.device_ids })
  t.deepEqual(added.body.device_ids.toSorted(), ['AHU-1', 'VAV-7'])
  t.deepEqual(JSON.parse(box.file()), box.catalogue.current())
  while (box.polling.pollStatus().points_ok < 40) await wallClock.sleep(20)
  t.is(box.context.audit.list({ limit: 10 }).find(({ action }) => action === 'bacnet_discover_add')?.actor, 'agent')

  const again = await discoverAll(box)
  t.deepEqual(
    again.changes.map(({ change, new_objects, missing_points }: any) => [change, new_objects, missing_points]),
    [
      ['same', 0, []],
      ['same', 0, []],
    ],
  )
})

test('API.md lists every route of discovery with its role and the problems of its own', t => {
  const text = readFileSync(new URL('../../../../../appliance/API.md', import.meta.url), 'utf8')
  const told = text
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(([, method = '', path = '']) => /^[A-Z]+$/.test(method) && path.startsWith(`\`${PATH}`))
    .map(([, method, path, role, , problems]) => ({
      name: `${method} ${path!.replaceAll('`', '')} ${role}`,
      problems: [...problems!.matchAll(/`(\w+)`/g)].map(([, code]) => code!).toSorted(),
    }))
  const wanted = t.context.box.api.map(({ method, path, auth, problems = [] }) => ({
    name: `${method} ${path} ${auth}`,
    problems: problems.toSorted(),
  }))
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
  t.deepEqual(told.toSorted(byName), wanted.toSorted(byName))
  for (const { problems } of told) for (const code of problems) t.true(code in PROBLEMS, code)
  for (const { method, action } of t.context.box.api) t.is(method !== 'GET', action !== undefined)
})

test.serial('a called address from which nothing comes is named, one that answers is not', async t => {
  const { box } = t.context
  const [answering] = box.addresses
  const job = await discoverAll(box, { addresses: [answering, '127.0.0.1:9'], seconds: 1 })
  t.deepEqual(job.silent, [{ host: '127.0.0.1', port: 9 }])
  t.is(job.devices.length, 1)
})

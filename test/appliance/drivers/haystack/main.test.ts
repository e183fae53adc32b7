/** The haystack process: settings that it refuses, its connection test, and readings that arrive at central. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json, text } from 'node:stream/consumers'
import anyTest, { type ExecutionContext } from 'ava'
import { complainOfAccess } from '#appliance/drivers/haystack/access.ts'
import { ACCOUNT } from '#scripts/simulator/haystack/server.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { folder, until } from '../../../support/folders.ts'
import { openServer } from './harness.ts'
import { site } from '../../../support/sites/catalogue-site.ts'

/** The tests start processes, and run one after the other so that none delays another. */
const test = anyTest.serial
/** A process takes its time to start on a busy machine. */
const START_MS = 90_000

const MAIN = new URL('../../../../appliance/haystack/main.ts', import.meta.url).pathname
const TOKEN = 'a-token-that-is-shared-on-this-box'
const start = (env: Record<string, string>, ...argv: string[]) =>
  spawn(process.execPath, [MAIN, ...argv], { env: { ...COMPILED, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })

async function ended(env: Record<string, string>, ...argv: string[]) {
  const child = start(env, ...argv)
  const [said, wrong, [exit]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ])
  return { said, wrong, exit }
}

function workspace(t: ExecutionContext, endpoint: string, changes: object = {}): string {
  const dir = folder(t)
  mkdirSync(join(dir, 'config'))
  const device = {
    device_id: 'server-1',
    name: 'Server',
    enabled: true,
    protocol: 'haystack',
    haystack: { endpoint, auth: 'scram', username: ACCOUNT.username },
    points: [
      { point_id: 'AHU-1.sa_t', address: '@a1', name: 'Supply air', unit: 'degF', kind: 'number', poll_secs: 1 },
      { point_id: 'AHU-1.fan', address: 'dis == "Point a2"', name: 'Fan', unit: 'bool', kind: 'bool', poll_secs: 1 },
    ],
    ...changes,
  }
  writeFileSync(join(dir, 'config', 'site.json'), JSON.stringify(site))
  writeFileSync(join(dir, 'config', 'field-devices.json'), JSON.stringify({ devices: [device] }))
  return dir
}

const settings = (dir: string, endpoint: string) => ({
  SERVICE_WORKSPACE: dir,
  SERVICE_HAYSTACK_ENDPOINT: endpoint,
  SERVICE_HAYSTACK_API_KEY: ACCOUNT.password,
  SERVICE_MQTT_ENABLED: '0',
  SERVICE_CENTRAL_URL: 'http://127.0.0.1:1',
  SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
  SERVICE_EDGE_STORE_DIR: join(dir, 'edge'),
  SERVICE_EDGE_PORT: '0',
})

test('a blank endpoint, or one that is no HTTP address, prevents the start', async t => {
  for (const endpoint of [undefined, '', ' ', 'skyspark/api/demo', 'ftp://skyspark/api/', 'https://user:secret@skyspark/api/']) {
    const settings = { SERVICE_HAYSTACK_ENDPOINT: endpoint, SERVICE_HAYSTACK_API_KEY: 'x', SERVICE_HAYSTACK_CA: undefined }
    const complaints = complainOfAccess(settings)
    t.is(complaints.length, 1)
    t.regex(complaints[0]!, /^SERVICE_HAYSTACK_ENDPOINT: must/)
    t.notRegex(complaints[0]!, /secret/)
  }
  const blank = await ended({ SERVICE_HAYSTACK_ENDPOINT: '', SERVICE_HAYSTACK_API_KEY: 'x' })
  t.is(blank.exit, 78)
  t.regex(blank.wrong, /SERVICE_HAYSTACK_ENDPOINT: must/)
})

test('a missing key, an invalid certificate of the authority and another endpoint in the catalogue prevent the start', async t => {
  const none = await ended({ SERVICE_HAYSTACK_CA: 'x' })
  t.is(none.exit, 78)
  t.regex(none.wrong, /SERVICE_HAYSTACK_ENDPOINT.*\n.*SERVICE_HAYSTACK_API_KEY.*\n.*SERVICE_HAYSTACK_CA/)
  const dir = workspace(t, 'https://other.example/api/')
  const foreign = await ended(settings(dir, 'https://skyspark.example/api/'))
  t.is(foreign.exit, 78)
  t.regex(foreign.wrong, /devices\/0\/haystack\/endpoint: this process reads only https:\/\/skyspark\.example\/api\//)
})

test('errors in the catalogue are reported with their pointer', async t => {
  const endpoint = 'https://skyspark.example/api/demo'
  const points = [
    { point_id: 'a', address: '@a b', name: 'a', unit: 'degC', kind: 'number', poll_secs: 60 },
    { point_id: 'b', address: 'point and', name: 'b', unit: 'degC', kind: 'number', poll_secs: 60 },
    { point_id: 'c', address: '@c', name: 'c', unit: 'degC', kind: 'number', poll_secs: 60, scale: 2 },
  ]
  const dir = workspace(t, endpoint, { points, haystack: { endpoint, auth: 'bearer', username: 'x' } })
  const { wrong, exit } = await ended({ ...settings(dir, endpoint), SERVICE_HAYSTACK_API_KEY: 'a key' })
  t.is(exit, 78)
  for (const place of ['haystack/auth', 'haystack/username', 'points/0/address', 'points/1/address', 'points/2/scale'])
    t.true(wrong.includes(`/devices/0/${place}: `), place)
})

test('--check reports the state of each step', async t => {
  const server = await openServer(t)
  const dir = workspace(t, server.endpoint)
  const good = await ended(settings(dir, server.endpoint), '--check')
  t.is(good.exit, 0, good.wrong)
  t.regex(good.said, /login \(auth\) +ok\n.*request \(op\) +ok\n.*answer \(parse\) +ok/)
  t.regex(good.said, /server: Simulated 1\.0 "Sim", Haystack 3\.0\n.*formats: text\/zinc.*\n.*watches: yes/)
  const wrong = await ended({ ...settings(dir, server.endpoint), SERVICE_HAYSTACK_API_KEY: 'wrong' }, '--check')
  t.is(wrong.exit, 1)
  t.regex(wrong.said, /hello\) +ok\n.*login \(auth\) +FAILED: .*403.*\n.*→ check user name and password.*\n.*op\) +not reached/)
  t.notRegex(good.said + wrong.said, new RegExp(ACCOUNT.password))
})

test('--list-points says what the server has, --add-points adds it once, and a filter that fails changes nothing', async t => {
  const marked = (tags: string) => Object.fromEntries(tags.split(' ').map(tag => [tag, { kind: 'marker' as const }]))
  const server = await openServer(
    t,
    {},
    {
      points: [
        { id: 'u1', tags: { dis: 'AHU-1', ...marked('equip ahu') } },
        { id: 'n1', tags: { dis: 'AHU-9', ...marked('equip ahu') } },
        {
          id: 't1',
          tags: {
            dis: 'Supply Temp',
            kind: 'Number',
            unit: '°F',
            equipRef: { ref: 'p:demo:r:n1' },
            ...marked('point cur discharge air temp sensor'),
          },
        },
        {
          id: 'a1',
          tags: { dis: 'Supply air', kind: 'Number', unit: '°F', equipRef: { ref: 'p:demo:r:u1' }, ...marked('point cur') },
        },
      ],
    },
  )
  const dir = workspace(t, server.endpoint)
  const own = settings(dir, server.endpoint)
  const files = () => ['site.json', 'field-devices.json'].map(name => readFileSync(join(dir, 'config', name), 'utf8'))
  const before = files()
  const listed = await ended(own, '--list-points')
  t.is(listed.exit, 0, listed.wrong)
  t.regex(
    listed.said,
    /^server-1: 2 new points of point, 1 with a role; 1 new equipment; 0 points are in the list already\n {2}AHU-9: sa_t\n {2}AHU-1: Supply air\n/,
  )
  t.deepEqual(files(), before)
  const failed = await ended(own, '--add-points', '--filter=point and')
  t.is(failed.exit, 1)
  t.regex(failed.said, /ParseErr: point and/)
  t.deepEqual(files(), before)
  const added = await ended(own, '--add-points')
  t.is(added.exit, 0, added.said + added.wrong)
  const [site, { devices }] = files().map(text => JSON.parse(text))
  t.like(site.equipment.at(-1), { equipment_id: 'AHU-9', equipment_type: 'ahu' })
  t.like(devices[0].points.at(-2), { address: '@p:demo:r:t1', role: 'sa_t', equipment_id: 'AHU-9', poll_secs: 60 })
  const again = await ended(own, '--add-points')
  t.regex(again.said, /^server-1: 0 new points of point, 0 with a role; 0 new equipment; 2 points are in the list already/)
  t.deepEqual(
    files().map(text => JSON.parse(text)),
    [site, { devices }],
  )
})

test('readings arrive at central; health, poll status and the connection test are served on loopback only', async t => {
  const server = await openServer(t)
  const readings: { id: string; v: unknown; q: string }[] = []
  const central = createServer(async (request: IncomingMessage, response) => {
    const body = (await json(request)) as { seq?: number; message_id?: string; points?: typeof readings; protocol?: string }
    readings.push(...(body.points ?? []))
    if (body.protocol !== undefined) t.is(body.protocol, 'haystack')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ok: true, status: 'stored', through_seq: body.seq ?? 0, through_id: body.message_id }))
  }).listen(0, '127.0.0.1')
  await once(central, 'listening')
  t.teardown(() => void central.close())
  const { port } = central.address() as AddressInfo
  const dir = workspace(t, server.endpoint)
  const child = start({ ...settings(dir, server.endpoint), SERVICE_CENTRAL_URL: `http://127.0.0.1:${port}` })
  t.teardown(() => child.kill('SIGKILL'))
  let url = ''
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', line => {
    lines.push(line)
    url ||= /"url":"([^"]+)"/.exec(line)?.[1] ?? ''
  })
  const latest = (id: string) => readings.findLast(one => one.id === id)
  await until(() => latest('AHU-1.sa_t')?.q === 'good' && latest('AHU-1.fan')?.q === 'good', 'both points arrive', START_MS)
  t.true(Math.abs((latest('AHU-1.sa_t')!.v as number) - 70.7) < 1e-9)
  t.is(latest('AHU-1.fan')!.v, true)
  await until(() => url !== '', 'it listens', START_MS)
  t.regex(url, /^http:\/\/127\.0\.0\.1:/)

  const get = (path: string, init: RequestInit = {}) => fetch(url + path, init)
  const health = await get('/api/health')
  t.is(health.status, 200)
  t.like(await health.json(), { ok: true, service: 'haystack' })
  const bearer = { headers: { authorization: `Bearer ${TOKEN}` } }
  t.is((await get('/api/bacnet/poll/status')).status, 401)
  t.like(await (await get('/api/bacnet/poll/status', bearer)).json(), { ok: true, points_ok: 2 })
  t.is((await get('/api/haystack/check', { method: 'POST' })).status, 401)
  const checked = (await (await get('/api/haystack/check', { method: 'POST', ...bearer })).json()) as Record<string, unknown>
  t.like(checked, { ok: true, connected: true })
  server.misbehave('a page instead of a grid', 'about')
  const failed = (await (await get('/api/haystack/check', { method: 'POST', ...bearer })).json()) as {
    connected: boolean
    reports: { steps: { step: string; state: string }[] }[]
  }
  t.false(failed.connected)
  t.is(failed.reports[0]!.steps.find(({ state }) => state === 'failed')!.step, 'hello')

  child.kill('SIGTERM')
  t.deepEqual(await once(child, 'exit'), [0, null])
  t.is(server.watches.size, 0)
  t.is(server.login.open(), 0)
  t.false(lines.join('').includes(ACCOUNT.password))
})

/** Priority history from a controller to the hub, as processes: over the broker and by HTTPS, with an edge that is slow or gone. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { HistoryAnswer, VisitAnswer, WireRecord } from '#shared/core/priority/priority-wire.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { type Command, commandedBy } from '#scripts/simulator/building/commands.ts'
import { signedIn } from '../support/signed-in.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { AUTH, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const PORTS = { edge: 0, hub: 1, broker: 2, connector: 3 }
const schema = 'svc_priority_history_v1'
const INSTANCE = 1001
const VALVES = [1, 2, 3]

/** A controller whose valves are commanded by a script that a test goes through. */
async function scriptedController(t: ExecutionContext) {
  let at = 0
  const script: Command[] = [
    { at: 0, level: 16, value: 30 },
    { at: 1, level: 8, value: 100 },
    { at: 2, level: 8, value: null },
    { at: 3, level: 1, value: 0 },
  ]
  const objects = VALVES.map(instance => ({
    type: OBJECT_TYPES.AO,
    instance,
    name: `valve-${instance}`,
    unit: 'percent',
    ...commandedBy(instance === 1 ? script : [], () => at, { relinquishDefault: 12 }),
  }))
  const device = await openBacnetDevice({ device_instance: INSTANCE, name: 'AHU', objects })
  t.teardown(device.close)
  return { port: device.port, goTo: (next: number) => (at = next) }
}

async function configure(workspace: string, port: number): Promise<void> {
  await mkdir(join(workspace, 'config'), { recursive: true })
  const building = { building_id: 'school', name: 'School', timezone: 'America/Chicago', unit_system: 'us' }
  const site = { site_id: 'demo', edge_id: 'edge-1', building, equipment: [] }
  await writeFile(join(workspace, 'config', 'site.json'), JSON.stringify(site))
  const device = {
    ...{ device_id: 'ahu-1', name: 'AHU', enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 1 },
    bacnet: { device_instance: INSTANCE, host: '127.0.0.1', port, max_apdu: 1476 },
    points: VALVES.map(n => ({
      ...{ point_id: `AHU-1.valve_${n}`, address: `analog-output,${n}`, name: `Valve ${n}` },
      ...{ unit: 'percent', kind: 'number', poll_secs: 30 },
    })),
  }
  await writeFile(join(workspace, 'config', 'field-devices.json'), JSON.stringify({ devices: [device] }))
}

/** A hub, and one edge with BACnet: the whole appliance, or a protocol process alone. */
async function openSite(t: ExecutionContext, main: 'appliance/main.ts' | 'appliance/fieldbus/main.ts') {
  const [dir, base] = [await temporaryFolder(t), await freeBase(4)]
  const controller = await scriptedController(t)
  await configure(join(dir, 'edge'), controller.port)
  const pki = await makeAuthority(join(dir, 'pki'))
  const of = { site_id: 'demo', edge_id: 'edge-1' }
  const kit = await pki.kit({ ...of, broker_host: '127.0.0.1', broker_port: base + PORTS.broker })
  const { serial: _, ...connector } = await pki.connector({ ...of, hosts: ['127.0.0.1'] })
  await writeKit({ ...kit, ...connector }, join(dir, 'kit'))
  const bind = { SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_SITE_ID: 'demo', ...AUTH }
  const own = {
    'appliance/main.ts': { ...bind, SERVICE_CENTRAL_PORT: String(base + PORTS.edge) },
    'appliance/fieldbus/main.ts': { SERVICE_EDGE_PORT: String(base + PORTS.edge) },
  }
  const edge = program(t, 'edge', {
    main,
    url: loopback(base + PORTS.edge),
    logs: dir,
    env: {
      ...own[main],
      SERVICE_WORKSPACE: join(dir, 'edge'),
      SERVICE_EDGE_STORE_DIR: join(dir, 'store'),
      SERVICE_EDGE_KIT_DIR: join(dir, 'kit'),
      SERVICE_MQTT_ENABLED: '1',
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
      SERVICE_PRIORITY_SCAN_ENABLED: '1',
      SERVICE_CONNECTOR_BIND: '127.0.0.1',
      SERVICE_CONNECTOR_PORT: String(base + PORTS.connector),
    },
  })
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base + PORTS.hub),
    logs: dir,
    env: {
      ...bind,
      SERVICE_CENTRAL_PORT: String(base + PORTS.hub),
      SERVICE_WORKSPACE: join(dir, 'hub'),
      SERVICE_MQTT_BIND: '127.0.0.1',
      SERVICE_MQTT_PORT: String(base + PORTS.broker),
      SERVICE_MQTT_CERT_DIR: join(dir, 'pki'),
    },
  })
  return { edge, hub, kit, controller, store: join(dir, 'store'), connector_url: `https://127.0.0.1:${base + PORTS.connector}` }
}

type Answer<T> = { status: number; body: T & { code?: string; detail?: string } }

/** Somebody who has logged in. */
async function person(url: string, username: keyof typeof PASSWORDS) {
  const send = async <T>(method: string, path: string, body?: unknown, token?: string): Promise<Answer<T>> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer<T>['body'] }
  }
  const login = await send<{ token: string }>('POST', '/api/auth/login', { username, password: PASSWORDS[username] })
  const call = <T>(method: string, path: string, body?: unknown) => send<T>(method, path, body, login.body.token)
  const base = '/api/connectors/edge-1/priority-history'
  return {
    history: (request: object = {}) => call<HistoryAnswer>('POST', base, { schema, ...request }),
    trigger: () => call<{ visit_id: string }>('POST', `${base}/trigger`, {}),
    visit: (visit_id: string) => call<VisitAnswer>('GET', `${base}/visits/${visit_id}`),
    polled: () => call<{ points_ok: number }>('GET', '/api/bacnet/poll/status'),
    address: (connector_url: string | null) => call('PUT', '/api/connectors/edge-1', { connector_url }),
  }
}
type Person = Awaited<ReturnType<typeof person>>

/** Requests a visit, again while another one is running, and waits until it has ended. */
async function visitNow(operator: Person): Promise<VisitAnswer> {
  const { body } = await eventually('a visit has begun', 60_000, async () => {
    const answer = await operator.trigger()
    return answer.status === 202 ? answer : undefined
  })
  return eventually('the visit is over', 60_000, async () => {
    const visit = await operator.visit(body.visit_id)
    return visit.status === 200 && visit.body.state !== 'visiting' ? visit.body : undefined
  })
}

/** What a reader sees, without the markup. */
const page = async ({ get }: Awaited<ReturnType<typeof signedIn>>, path: string) =>
  (await (await get(path)).text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

const valve = { device_instance: INSTANCE, object_type: 'analog-output', object_instance: 1 }
const held = ({ slots }: WireRecord) =>
  Object.fromEntries(slots.flatMap(slot => (slot.state === 'value' ? [[slot.level, slot.value]] : [])))

test.serial('who commanded what, from the controller to the hub, by both ways', async t => {
  t.timeout(300_000)
  const { edge, hub, controller, connector_url } = await openSite(t, 'appliance/main.ts')
  await hub.start()
  await edge.start()
  const [viewer, operator] = [await person(hub.url, 'viewer'), await person(hub.url, 'agent')]
  await eventually('the hub reaches the edge', 60_000, async () => ((await viewer.history()).status === 200 ? true : undefined))

  t.like(await viewer.trigger(), { status: 403, body: { code: 'forbidden' } })
  t.like(await visitNow(operator), { state: 'completed', source: 'triggered', points_read: 3, points_failed: 0, error: null })
  controller.goTo(1)
  await visitNow(operator)
  controller.goTo(2)
  t.is((await operator.address(connector_url)).status, 200)
  await visitNow(operator)
  controller.goTo(3)
  await visitNow(operator)

  const { body: byHttps } = await viewer.history({ target: valve })
  const seen = byHttps.records.slice(0, 4)
  t.deepEqual(seen.map(held), [{ 1: 0, 16: 30 }, { 16: 30 }, { 8: 100, 16: 30 }, { 16: 30 }])
  t.deepEqual(
    seen.slice(0, 3).map(({ changed, active_level, present_value }) => [changed, active_level, present_value]),
    [
      [[1], 1, 0],
      [[8], 16, 30],
      [[8], 8, 100],
    ],
  )
  t.like(byHttps.scanner, { enabled: true, read_only: true, interval_secs: 3600, last_device_instance: INSTANCE, journal: 'ok' })

  const first = await viewer.history({ target: valve, page_size: 1 })
  await operator.address(null)
  const second = await viewer.history({ target: valve, page_size: 1, cursor: first.body.next_cursor })
  t.deepEqual([...first.body.records, ...second.body.records], byHttps.records.slice(0, 2), 'a cursor goes by either way')
  const onTheBox = await (await person(edge.url, 'viewer')).history({ target: valve })
  t.deepEqual(onTheBox.body.records, byHttps.records)
  const box = await signedIn(edge.url, 'viewer', PASSWORDS.viewer)
  const onTheHub = await signedIn(hub.url, 'viewer', PASSWORDS.viewer)
  t.regex(
    await page(box, '/overrides'),
    /1 override at the newest visit of 3 points.* Valve 1 .* P1 Manual life safety 0 % default 12 %/,
  )
  t.regex(await page(box, `/overrides/${INSTANCE}/analog-output/1`), /P8 Manual operator : 100 %/)
  t.regex(
    await page(onTheHub, '/edges/edge-1/overrides'),
    /1 override at the newest visit of 3 points.* Valve 1 .* P1 Manual life safety/,
  )

  edge.pause()
  await operator.address(connector_url)
  const slowByHttps = viewer.history()
  await eventually('the question is on its way', 10_000, async () =>
    (await operator.address(null)).status === 200 ? true : undefined,
  )
  const slow = await Promise.all([slowByHttps, viewer.history()])
  edge.resume()
  for (const { status, body } of slow) t.deepEqual([status, body.code], [504, 'edge_timeout'], body.detail)

  await edge.kill()
  const gone = await eventually('the hub knows that the edge is gone', 60_000, async () => {
    const answer = await viewer.history()
    return answer.body.code === 'edge_unreachable' ? answer : undefined
  })
  t.is(gone.status, 502)
  t.regex(await page(onTheHub, '/edges/edge-1/overrides'), /The edge cannot be reached.* cannot be shown until the edge answers/)
  await operator.address(connector_url)
  t.like(await viewer.history(), { status: 502, body: { code: 'edge_unreachable' } })

  await edge.start()
  const third = await viewer.history({ target: valve, page_size: 2, cursor: second.body.next_cursor })
  t.deepEqual(third.body.records, byHttps.records.slice(2, 4), 'history and cursors outlive a power cut')
})

test.serial('a protocol process answers its hub as an appliance does, and at its own port the token of its kit', async t => {
  t.timeout(200_000)
  const { edge, hub, kit, connector_url } = await openSite(t, 'appliance/fieldbus/main.ts')
  await hub.start()
  await edge.start()
  const [viewer, operator] = [await person(hub.url, 'viewer'), await person(hub.url, 'agent')]
  await eventually('the hub reaches the edge', 60_000, async () => ((await viewer.history()).status === 200 ? true : undefined))
  t.like(await visitNow(operator), { state: 'completed', points_read: 3 })
  const byBroker = await viewer.history({ target: valve })
  t.deepEqual(byBroker.body.records.slice(0, 1).map(held), [{ 16: 30 }])
  await operator.address(connector_url)
  t.deepEqual((await viewer.history({ target: valve })).body.records, byBroker.body.records)
  const ask = (token: string) =>
    fetch(`${edge.url}/api/connector/priority-history`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ schema, target: valve }),
    })
  t.is((await ask('nobody')).status, 401)
  const answer = (await (await ask(kit.token!)).json()) as HistoryAnswer
  t.deepEqual(answer.records, byBroker.body.records)
})

test.serial('a damaged history stops only the visits, until an operator sets it aside while the appliance runs', async t => {
  t.timeout(200_000)
  const { edge, store } = await openSite(t, 'appliance/main.ts')
  await edge.start()
  await visitNow(await person(edge.url, 'agent'))
  await edge.kill()
  const journal = join(store, 'priority')
  const segment = join(journal, (await readdir(journal)).find(name => name.endsWith('.jsonl'))!)
  const bytes = await readFile(segment)
  bytes[200]! ^= 1
  await writeFile(segment, bytes)

  await edge.start()
  const operator = await person(edge.url, 'agent')
  const { body } = await operator.history()
  t.like(body.scanner, { state: 'disabled', journal: 'disabled' })
  t.regex(body.scanner.reason!, /history is disabled: 0{15}1-0{15}1\.jsonl, byte 0: /)
  t.like(await operator.trigger(), { status: 409, body: { code: 'scanner_disabled' } })
  const health = (await (await fetch(`${edge.url}/api/health`)).json()) as {
    ok: boolean
    checks: Record<string, { journal: string }>
  }
  t.true(health.ok)
  t.is(health.checks['priority_history']!.journal, 'disabled')
  await eventually('points are polled all the same', 60_000, async () =>
    (await operator.polled()).body.points_ok === VALVES.length ? true : undefined,
  )
  t.regex(await page(await signedIn(edge.url, 'viewer', PASSWORDS.viewer), '/'), /The priority history is not recorded: 0{15}1/)

  const main = new URL('../../appliance/main.ts', import.meta.url).pathname
  const env = { ...process.env, SERVICE_EDGE_STORE_DIR: store }
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'journal', 'quarantine', '--yes'], { env })
  t.regex(stdout, /^Set aside as .*priority\.damaged-/)
  t.like(await visitNow(operator), { state: 'completed', points_read: 3 })
  t.is((await operator.history()).body.records.length, 3)
  t.deepEqual((await readFile(join(stdout.slice(13, stdout.indexOf('. A new')), basename(segment)))).equals(bytes), true)
})

/** A protocol process as an image would run it: to the central on its box by HTTP, to a hub by MQTTS, killed again and again. */
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openHubClient } from '../../scripts/lib-start/hub-client.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, held, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const TOKEN = 'local-token-of-the-test-0123456789abcdef'
const PORTS = { central: 0, edge: 1, hub: 2, broker: 3 }

async function openPrograms(t: ExecutionContext, env: (dir: string, base: number) => Promise<Record<string, string>>) {
  const [dir, base] = [await temporaryFolder(t), await freeBase(4)]
  const device = await countingDevice(t)
  await configure(join(dir, 'edge'), device.port)
  const bind = { SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_SITE_ID: 'demo', ...AUTH }
  const central = program(t, 'central', {
    main: 'hub/central/main.ts',
    url: loopback(base + PORTS.central),
    logs: dir,
    env: {
      ...bind,
      SERVICE_CENTRAL_PORT: String(base + PORTS.central),
      SERVICE_WORKSPACE: join(dir, 'central'),
      SERVICE_MQTT_ENABLED: '0',
      SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
    },
  })
  const edge = program(t, 'fieldbus', {
    main: 'appliance/fieldbus/main.ts',
    url: loopback(base + PORTS.edge),
    logs: dir,
    env: {
      SERVICE_WORKSPACE: join(dir, 'edge'),
      SERVICE_EDGE_STORE_DIR: join(dir, 'store'),
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
      SERVICE_CENTRAL_URL: central.url,
      SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
      SERVICE_EDGE_PORT: String(base + PORTS.edge),
      ...(await env(dir, base)),
    },
  })
  return { dir, base, bind, device, central, edge }
}

test.serial('to the central on the box without a broker: readings, model and poll status, through kills of both', async t => {
  t.timeout(300_000)
  const { device, central, edge } = await openPrograms(t, async () => ({ SERVICE_MQTT_ENABLED: '0' }))
  await central.start()
  await edge.start()
  await atLeast(central.url, 3)
  const viewer = await openHubClient(central.url, PASSWORDS.viewer)
  const polled = await eventually('the poll status of the edge', 60_000, async () => {
    const status = await viewer.get<{ points_ok: number; edges: object[]; devices: object[] }>('/api/bacnet/poll/status')
    return status.points_ok === 1 ? status : undefined
  })
  t.like(polled, {
    edges: [{ edge_id: 'edge-1', devices_total: 1 }],
    devices: [{ device_id: 'ahu-1', edge_id: 'edge-1', state: 'ok' }],
  })
  const own = await fetch(`${edge.url}/api/bacnet/poll/status`, { headers: { authorization: `Bearer ${TOKEN}` } })
  t.like(await own.json(), { ok: true, running: true, devices: [{ device_id: 'ahu-1' }] })
  const { points } = await viewer.get<{ points: object[] }>('/api/model/points?building_id=school')
  t.like(points, [{ point_id: 'AHU-1.sa_t', role: 'sa_t', unit: 'degF' }])

  await central.kill()
  const before = device.requests()
  await eventually('reads without a central', 30_000, () => (device.requests() >= before + 3 ? true : undefined))
  await edge.kill()
  await edge.start()
  await central.start()
  const after = await atLeast(central.url, 10)
  assertInOrder(t, after)
  t.like(await (await openHubClient(central.url, PASSWORDS.viewer)).health(), { edges: 1, ingest_rejected: 0 })
})

test.serial('both ways, through kills of edge, central and hub: both hold the same, once', async t => {
  t.timeout(400_000)
  const programs = await openPrograms(t, async (dir, base) => {
    const pki = await makeAuthority(join(dir, 'pki'))
    const place = { broker_host: '127.0.0.1', broker_port: base + PORTS.broker }
    await writeKit(await pki.kit({ site_id: 'demo', edge_id: 'edge-1', ...place }), join(dir, 'kit'))
    return { SERVICE_MQTT_ENABLED: '1', SERVICE_EDGE_KIT_DIR: join(dir, 'kit') }
  })
  const { dir, base, bind, device, central, edge } = programs
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
  await Promise.all([central.start(), hub.start()])
  await edge.start()
  await Promise.all([atLeast(central.url, 2), atLeast(hub.url, 2)])
  await hub.kill()
  await atLeast(central.url, 4)
  await hub.start()
  await central.kill()
  await atLeast(hub.url, 6)
  await edge.kill()
  await edge.start()
  await central.start()
  await Promise.all([atLeast(central.url, 8), atLeast(hub.url, 8)])
  device.misbehave('silent')
  type Way = { backlog: number }
  await eventually('nothing waits at the edge', 90_000, async () => {
    const { checks } = (await (await fetch(`${edge.url}/api/health`)).json()) as { checks: { hub: Way; central: Way } }
    return checks.hub.backlog + checks.central.backlog === 0 ? true : undefined
  })
  const [onBox, atHub] = [await held(central.url), await held(hub.url)]
  t.deepEqual(onBox, atHub)
  assertInOrder(t, onBox)
})

/** What only an appliance has: its devices, discovery, network, updates, enrolment, and what a hub or a process beside it asks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { connectorRoutes } from '#appliance/priority/connector-routes.ts'
import { inspectionConnectorRoutes } from '#appliance/system/inspection-routes.ts'
import { inspectionService } from '#appliance/system/inspection-service.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { folder } from '../../support/folders.ts'
import { envelope } from '../../support/messages.ts'
import { edeOf, STATE_TEXTS } from '../../support/sites/devices-site.ts'
import { openSite } from '../../support/sites/page-site.ts'
import { openEdge, VISIT_ID } from '../../support/sites/priority-edge.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { modbusFrame, openTcpPeer, registersOf } from '../../support/tcp-peer.ts'
import { startSpecAppliance } from '../spec-site.ts'
import { type Ask, type Asked, openAsking } from './asking.ts'

const TOKEN = 'token-of-the-edge-for-tests-0123456789abcdef'

export async function boxAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const air = await openBacnetDevice({
    device_instance: 1001,
    name: 'AHU-1',
    objects: [{ type: OBJECT_TYPES.AI, instance: 1, name: 'Supply air', value: () => 55.5 }],
  })
  t.teardown(air.close)
  const meter = await openTcpPeer(t, (request, socket) => {
    const pdu = request.code <= 2 ? Buffer.of(request.code, 1, 0b101) : registersOf(request)
    socket.write(modbusFrame(request, request.address >= 1000 ? Buffer.of(request.code | 0x80, 2) : pdu))
  })
  const port = await freePort()
  const [dir, updates] = [folder(t), folder(t)]
  writeFileSync(join(dir, 'settings.env'), '')
  writeFileSync(join(dir, 'current.json'), JSON.stringify({ uplink: { interface: 'lo' }, bacnet_ports: [port] }))
  const { url } = await startSpecAppliance(t, {
    SERVICE_SETTINGS_FILE: join(dir, 'settings.env'),
    SERVICE_NETWORK_DIR: dir,
    SERVICE_UPDATE_DIR: updates,
    SERVICE_BACNET_PORT: String(port),
    SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
  })
  const { ask, askAs } = await openAsking(t, url, asked)
  await discoveryAnswers(t, ask, `${air.host}:${air.port}`)
  await deviceAnswers(t, ask, { bacnetPort: air.port, modbusPort: meter.port })
  await localAnswers(askAs(TOKEN))

  await ask('GET', '/api/site')
  await ask('PUT', '/api/site', { building_id: 'b1', name: 'Another', timezone: 'UTC', unit_system: 'si' })
  await ask('GET', '/api/site/priority-levels')
  await ask('PUT', '/api/site/priority-levels', { levels: [{ level: 8, name: 'Operator', override: true }] })

  const at = '2026-01-02T03:04:05Z'
  t.is((await ask('GET', '/api/system/network')).trial, null)
  await ask('PUT', '/api/system/network', { uplink: { address: '10.0.0.5/24' }, time_servers: [] })
  writeFileSync(join(dir, 'state.json'), JSON.stringify({ state: 'trying', reason: '', at }))
  await ask('POST', '/api/system/network/keep')
  await ask('GET', '/api/system/network')
  t.is((await ask('GET', '/api/system/update')).last, null)
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(1000)]), 'plenum.raucb')
  await ask('POST', '/api/system/update', form)
  writeFileSync(join(updates, 'state.json'), JSON.stringify({ state: 'confirmed', version: '1', slot: 'A', reason: '', at }))
  t.is((await ask('GET', '/api/system/update')).last.slot, 'A')

  await ask('GET', '/api/hub/enrolment')
  await ask('POST', '/api/hub/enrolment', { line: `https://127.0.0.1:9/#${'0'.repeat(32)}` })
  const { settings: _settings, machine: _machine, is_restarting, ok: _ok, ...wish } = await ask('GET', '/api/bacnet/network')
  t.false(is_restarting)
  t.true((await ask('PUT', '/api/bacnet/network', { ...wish, bbmd_ttl_secs: 60 })).is_restarting)
}

async function discoveryAnswers(t: ExecutionContext, ask: Ask, address: string): Promise<void> {
  const path = '/api/bacnet/discover'
  t.is((await ask('GET', path)).job, null)
  await ask('POST', path, { addresses: [address], seconds: 1, requests_per_second: 100 })
  let job: any
  do job = (await ask('GET', path)).job
  while (job.state === 'running')
  t.is(job.devices.length, 1)
  const choice = { devices: [job.devices[0].key], poll_secs: 1 }
  t.is((await ask('POST', `${path}/preview`, choice)).points, 1)
  t.is((await ask('POST', `${path}/add`, { ...choice, confirm: true })).device_ids.length, 1)
  await ask('POST', `${path}/stop`, {})
}

type Ports = { bacnetPort: number; modbusPort: number }
async function deviceAnswers(t: ExecutionContext, ask: Ask, { bacnetPort, modbusPort }: Ports): Promise<void> {
  const [{ device_id }] = (await ask('GET', '/api/devices')).devices
  const read = `/api/devices/${device_id}`
  let { device, points } = await ask('GET', read)
  while (points[0].q !== 'good') ({ device, points } = await ask('GET', read))
  t.is(points[0].v, 55.5)
  t.true((await ask('GET', '/api/bacnet/poll/status')).points_ok > 0)
  const properties = `/api/bacnet/properties?device_id=${device_id}&object=AI-1`
  t.true((await ask('GET', properties)).properties.length > 2)
  await ask('GET', `${properties}&property=85`)
  t.is((await ask('PUT', read, { ...device, name: 'Air handler' })).created, false)

  const meter = {
    ...{ device_id: 'meter', name: 'Meter', enabled: true, protocol: 'modbus', points: [] },
    modbus: { host: '127.0.0.1', port: modbusPort, unit_id: 1 },
  }
  t.is((await ask('PUT', '/api/devices/meter?dry_run=true', meter)).created, true)
  await ask('PUT', '/api/devices/meter', meter)
  await ask('GET', '/api/devices/meter')
  const registers = '/api/modbus/registers?device_id=meter&count=4'
  t.is((await ask('GET', `${registers}&table=holding&address=100`)).registers.length, 4)
  await ask('GET', `${registers}&table=holding&address=998`)
  t.is((await ask('GET', `${registers}&table=coil&address=0`)).bits.length, 4)

  const form = new FormData()
  for (const [name, value] of Object.entries({ format: 'ede', poll_secs: '60' })) form.append(name, value)
  form.append('files', new Blob([edeOf(bacnetPort)]), 'school.csv')
  form.append('files', new Blob([STATE_TEXTS]), 'school-StateTexts.csv')
  t.true((await ask('POST', '/api/devices/import?dry_run=true', form)).refused.length > 0)
  await ask('DELETE', '/api/devices/meter')
}

/** A process beside it brings what it reads. */
async function localAnswers(ask: Ask): Promise<void> {
  const own = { site_id: 'local', edge_id: 'e2' }
  const path = '/api/ingest/local'
  await ask('POST', `${path}/metadata`, writeMetadata('local', 'e2', edgeModel('local', 'b2')))
  const readings = [{ id: 'p1', t: Date.now() - 1000, v: 20, q: 'good' as const }]
  const message = { ...envelope(1), ...own, sent_at: Date.now(), protocol: 'bacnet' as const, time_synced: true, readings }
  for (let i = 0; i < 2; i++) await ask('POST', path, writeTelemetry(message))
  await ask('POST', `${path}/status`, { ...own, schema: 'svc_status_v1', online: true, sent_at: new Date().toISOString() })
}

/** What the hub asks with the token of the kit. */
export async function connectorAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { service, fill } = await openEdge(t)
  await fill(1, 3)
  const site = await openSite({
    product: 'appliance',
    api: true,
    more: (_layout, context) => [
      ...connectorRoutes(service, TOKEN),
      ...inspectionConnectorRoutes(
        inspectionService(() => context, Date.now),
        TOKEN,
      ),
    ],
  })
  t.teardown(site.close)
  const ask = (await openAsking(t, site.url, asked)).askAs(TOKEN)
  const path = '/api/connector'
  t.is((await ask('POST', `${path}/priority-history`, { page_size: 2 })).records.length, 2)
  await ask('POST', `${path}/priority-history/trigger`, { device_instance: 1001 })
  await ask('GET', `${path}/priority-history/visits/${VISIT_ID}`)
  await ask('POST', `${path}/log`, { limit: 5 })
  await ask('PUT', `${path}/log/level`, { level: 'warn' })
  await ask('POST', `${path}/diagnostics`, {})
}

/** What only a hub has: its MQTT messages, edges that go, boxes that wait, secrets of EST, and the roll-out of an update. */
import type { ExecutionContext } from 'ava'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { addressRoutes } from '#hub/connectors/address-routes.ts'
import { edgeInspectionRoutes } from '#hub/connectors/inspection-routes.ts'
import { monitorRoutes } from '#hub/monitor/monitor.route.ts'
import { updateRoutes } from '#hub/updates/updates.route.ts'
import { connectorsRoutes } from '#shared/central/api/connectors.ts'
import { makeRequest } from '#shared/node/pki/pki.ts'
import { BUILDING, EDGES, NOW } from '../../support/page-fixture.ts'
import { openAskedBox } from '../../support/sites/asked-box.ts'
import { openSite } from '../../support/sites/page-site.ts'
import { openEdge, VISIT_ID } from '../../support/sites/priority-edge.ts'
import { bundleOf, COMPATIBLE, openBox, openFleet } from '../../hub/updates/boxes.ts'
import { type Asked, openAsking } from './asking.ts'
import { openEdgeHub } from './edge-hub.ts'

export async function enrolmentAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { ask } = await openEdgeHub(t, asked)
  const boxes: string[] = []
  for (const edge_id of ['edge-8', 'edge-9']) {
    const { csr_pem } = await makeRequest('anything')
    boxes.push((await ask('POST', '/api/enrolments', { csr_pem, edge_id })).fingerprint)
  }
  const [taken, refused] = boxes.map(fingerprint => `/api/enrolments/${fingerprint}`)
  await ask('GET', taken!)
  await ask('POST', `${taken}/accept`, { site_id: 'A', edge_id: 'edge-8', broker_host: 'hub.example' })
  t.is((await ask('GET', taken!)).kit.edge.edge_id, 'edge-8')
  await ask('POST', `${refused}/reject`, {})
  t.is((await ask('GET', refused!)).state, 'rejected')

  const edge = { site_id: 'A', edge_id: 'edge-7' }
  await ask('POST', '/api/est/secrets', edge)
  t.is((await ask('GET', '/api/est/secrets')).secrets.length, 1)
  await ask('DELETE', '/api/est/secrets/A/edge-7')
}

export async function fleetAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const monitor = new MqttMonitor(() => NOW)
  const { rollouts } = openFleet(t, [openBox(t, 'e1')])
  const { service, fill } = await openEdge(t)
  await fill(1, 3)
  const { box, connectors } = await openAskedBox()
  t.teardown(box.close)
  const site = await openSite({
    product: 'hub',
    api: true,
    more: (layout, context) => [
      ...monitorRoutes(monitor, layout),
      ...updateRoutes(rollouts, context, layout),
      ...addressRoutes(context.edges),
      ...edgeInspectionRoutes(connectors),
      ...connectorsRoutes({
        nameOf: ({ edge_id }) => edge_id,
        ask: async (_edge, operation, request) => service.ask(operation, request),
      }),
    ],
  })
  t.teardown(site.close)
  const { ask } = await openAsking(t, site.url, asked)

  monitor.setConnected(true)
  monitor.record('received', 'sites/A/edges/e1/telemetry/bacnet', Buffer.from('{"seq":1}'))
  monitor.record('sent', 'elsewhere', Buffer.from('x'))
  t.is((await ask('GET', '/api/mqtt/monitor')).recent.length, 2)

  const history = '/api/connectors/edge-1/priority-history'
  t.is((await ask('POST', history, { page_size: 2 })).records.length, 2)
  await ask('POST', `${history}/trigger`, { device_instance: 1001 })
  await ask('GET', `${history}/visits/${VISIT_ID}`)
  t.true((await ask('GET', '/api/connectors/edge-1/log?limit=5')).lines.length > 0)
  await ask('PUT', '/api/connectors/edge-1/log/level', { level: 'warn' })
  const address = `/api/connectors/${EDGES[0]!.edge_id}`
  t.is((await ask('GET', address)).connector_url, null)
  await ask('PUT', address, { connector_url: 'https://10.0.0.7:8443' })

  t.is((await ask('GET', '/api/rollout')).rollout, null)
  const told = {
    compatible: COMPATIBLE,
    last: { state: 'confirmed', version: '1', slot: 'A', reason: '', at: '2026-01-02T03:04:05Z' },
  }
  const { status_body, ...gone } = EDGES[0]!
  site.context.edges.put({
    ...gone,
    edge_id: 'gone',
    online: false,
    last_data_at: null,
    status_body: { ...status_body, system: told },
  })
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bundleOf())]), 'update.raucb')
  t.is((await ask('POST', '/api/rollout', form)).rollout.state, 'running')
  await ask('POST', '/api/rollout/stop')
  await ask('POST', '/api/rollout/resume')
  t.true((await ask('GET', '/api/rollout')).boxes.length > 0)
  t.is((await ask('DELETE', '/api/edges/gone', { confirm: true })).building_id, BUILDING.building_id)
}

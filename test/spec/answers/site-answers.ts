/** Buildings, findings, series, edges, runs, alerts and certificates. */
import type { ExecutionContext } from 'ava'
import { makeRequest } from '#shared/node/pki/pki.ts'
import { BUILDING, EDGES, EQUIPMENT, FINDINGS, NOW, POINTS, samplesOf } from '../../support/page-fixture.ts'
import type { Asked } from './asking.ts'
import { openEdgeHub } from './edge-hub.ts'

export async function siteAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { site, send, ask } = await openEdgeHub(t, asked)
  const { building_id } = BUILDING
  const [equipment, point, finding] = [EQUIPMENT[0]!, POINTS.find(one => one.equipment_id !== undefined)!, FINDINGS[0]!]

  t.true((await ask('GET', '/api/model/buildings')).buildings.length > 0)
  t.true((await ask('GET', `/api/model/equipment?building_id=${building_id}`)).equipment.length > 0)
  t.true((await ask('GET', `/api/model/points?building_id=${building_id}`)).points.length > 0)
  const { next_cursor } = await ask('GET', `/api/model/points?building_id=${building_id}&limit=1`)
  t.is(typeof next_cursor, 'string')
  await ask('POST', '/api/model/buildings', {
    buildings: [{ building_id: 'b-new', name: 'New', timezone: 'UTC', unit_system: 'si', lat: 1, lon: 2 }],
  })
  await ask('POST', '/api/model/equipment', { equipment: [{ ...equipment, building_id: 'b-new', feeds: [] }] })
  const source = { protocol: 'bacnet', address: '1001/analog-input,1' }
  const { edge_id: _edge, gone: _gone, ...own } = point
  await ask('POST', '/api/model/points?dry_run=true', {
    points: [{ ...own, building_id: 'b-new', equipment_id: equipment.equipment_id, source }],
  })
  await ask('POST', '/api/model/assignments/save', {
    ...{ confirm: true, building_id },
    assignments: [{ point_id: point.point_id, equipment_id: point.equipment_id, role: point.role }],
  })

  t.true((await ask('GET', '/api/fdd/findings')).findings.length > 3)
  const of = `/api/fdd/findings/${finding.finding_id}`
  await ask('GET', of)
  await ask('POST', `${of}/ack`, { ack: true, assignee: 'Ann' })
  await ask('POST', `${of}/snooze`, {
    until: new Date(NOW + 86_400_000).toISOString(),
    reason: 'waits for a part',
    scope: 'fault',
  })
  await ask('POST', `${of}/note`, { note: 'seen' })
  await ask('POST', `${of}/not-a-fault`, { reason: 'as designed' })
  await ask('GET', '/api/fdd/findings')
  for (const asked of [`point_ids=${point.point_id}`, `rule_id=${finding.rule_id}&equipment_id=${finding.equipment_id}`]) {
    const { series } = await ask('GET', `/api/fdd/series?building_id=${building_id}&max_points=50&${asked}`)
    t.true(series.some((one: { points: unknown[] }) => one.points.length > 0))
  }
  const ahead = { building_id, equipment_id: equipment.equipment_id, until: new Date(NOW + 86_400_000).toISOString() }
  const { snooze } = await ask('POST', '/api/fdd/snoozes', { ...ahead, reason: 'is being built' })
  t.true((await ask('GET', '/api/fdd/snoozes')).snoozes.length > 0)
  await ask('DELETE', `/api/fdd/snoozes/${snooze.snooze_id}`)
  await ask('POST', `/api/fdd/snoozes/${snooze.snooze_id}/restore`)
  const view = { building_id, point_ids: [point.point_id] }
  await ask('POST', '/api/saved-trends', { ...view, name: 'Span', from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' })
  const { saved_trend } = await ask('POST', '/api/saved-trends', { ...view, name: 'Night', days: 7 })
  t.is((await ask('GET', '/api/saved-trends')).saved_trends.length, 2)
  const trend = `/api/saved-trends/${saved_trend.trend_id}`
  await ask('PATCH', trend, { name: 'Day' })
  await ask('DELETE', trend)
  await ask('POST', `${trend}/restore`)
  const reading = { building_id, point_id: point.point_id, edge_id: 'edge-1', observed_at: 1000, arrived_at: NOW }
  site.context.misdated.keep([{ ...reading, value: 1, quality: 'good' }])
  t.is((await ask('GET', `/api/history/misdated?building_id=${building_id}`)).readings.length, 1)

  t.is((await ask('GET', '/api/edges')).edges.length, EDGES.length)
  const { site_id, edge_id } = EDGES[0]!
  await ask('GET', `/api/edges/${edge_id}?site_id=${site_id}`)
  site.context.edgeClaims.refuse({ site_id, edge_id, reason: 'it is another one', since: NOW })
  site.context.edgeClaims.claim({ building_id, site_id, edge_id, from_edge_id: 'edge-2', since: NOW })
  const claims = await ask('GET', '/api/edge-claims')
  t.deepEqual([claims.refusals.length, claims.takeovers.length], [1, 1])
  await ask('POST', '/api/edge-claims/confirm', { building_id, confirm: true })

  // Their rules run here, those of a building with an appliance do not.
  const [annex, shed] = [{ building_id: 'annex' }, { building_id: 'shed' }]
  for (const here of [annex, shed]) {
    const points = POINTS.map(({ edge_id: _by, ...one }) => ({ ...one, ...here }))
    const equipment = EQUIPMENT.map(one => ({ ...one, ...here }))
    site.context.model.put({ building: { ...BUILDING, ...here }, equipment, points })
    for (const one of points) {
      const { ts, values } = samplesOf(one)
      const samples = Array.from(ts, (at, i) => ({ id: one.point_id, t: at, v: values[i]! }))
      await site.context.historian.append(here.building_id, samples)
    }
  }
  t.true((await ask('POST', '/api/fdd/run', annex)).results.length > 3)
  // The other run is before it, so that it waits when it is cancelled.
  await ask('POST', '/api/fdd/run?async=true', shed)
  const started = await ask('POST', '/api/fdd/run?async=true', annex)
  await ask('POST', `/api/fdd/runs/${started.run_id}/cancel`)
  await ask('GET', `/api/fdd/runs/${started.run_id}`)
  t.true((await ask('GET', '/api/fdd/runs')).runs.length > 1)
  t.true((await ask('GET', '/api/fdd/results?building_id=annex')).results.length > 3)
  t.true((await ask('GET', '/api/fdd/equipment?building_id=annex')).equipment.length > 0)
  t.true((await ask('GET', '/api/audit')).rows.length > 3)
  await ask('GET', '/api/backups')
  await ask('GET', '/api/storage')
  const whole = { name: 'Night', webhook_url: 'https://127.0.0.1:9/hook', building_ids: [building_id], digest_day: 1 }
  const { route_id } = await ask('POST', '/api/alerts/routes', { ...whole, hours: { days: [1], from: '08:00', to: '17:00' } })
  await ask('PUT', `/api/alerts/routes/${route_id}`, { ...whole, name: 'Day', kinds: ['fault'], priority_max: 1 })
  t.is((await ask('GET', '/api/alerts/routes')).routes.length, 1)
  await ask('POST', `/api/alerts/routes/${route_id}/test`)
  const { deliveries } = await ask('GET', '/api/alerts/deliveries')
  t.is(deliveries.length, 1)
  await ask('POST', `/api/alerts/deliveries/${deliveries[0].delivery_id}/resend`)
  await ask('DELETE', `/api/alerts/routes/${route_id}`)

  const { csr_pem } = await makeRequest('anything')
  const box = JSON.parse((await send('POST', '/api/enrolments', { csr_pem, edge_id })).text) as { fingerprint: string }
  t.is((await ask('GET', '/api/enrolments')).boxes.length, 1)
  await ask('POST', `/api/enrolments/${box.fingerprint}/accept`, { site_id, edge_id, broker_host: 'hub.example' })
  t.is((await ask('GET', '/api/mqtt/certificates')).certificates.length, 1)
  await ask('POST', `/api/edges/${edge_id}/renew?site_id=${site_id}`, { csr_pem })
  t.is((await ask('POST', `/api/edges/${edge_id}/revoke?site_id=${site_id}`, { confirm: true })).revoked.length, 2)
  await ask('GET', '/api/mqtt/certificates')
}

import test from 'ava'
import { hubHealth } from '#hub/ingest/health.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeLive } from '#shared/core/telemetry/live.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { processMessages, processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { envelope, finding, NOON } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { hub, telemetry, acked } from './ingest-hub.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

test('messages of an edge are neither stored nor acknowledged before its metadata has arrived', t => {
  const { flow, enrol, send, events } = hub(t)
  t.is(send(telemetry(1)), undefined)
  t.deepEqual(events, [{ kind: 'waiting', edge: 'A/e1', reason: 'metadata of this edge not received yet' }])
  enrol()
  t.deepEqual(send(telemetry(1)), acked(1))
  t.like(flow.monitor.counts(), { ingest_ok: 1, ingest_waiting: 1, ingest_rejected: 0, last_ingest_at: NOON })
})

test('a duplicate is acknowledged again, and after a gap the last contiguous number is acknowledged', t => {
  const { flow, enrol, send } = hub(t)
  enrol()
  t.deepEqual(send(telemetry(1)), acked(1))
  t.deepEqual(send(telemetry(2)), acked(2))
  t.deepEqual(send(telemetry(1)), acked(2))
  t.deepEqual(send(telemetry(5)), acked(2))
  t.like(flow.monitor.counts(), { ingest_ok: 2, ingest_duplicate: 1, ingest_rejected: 0 })
})

test('messages that are stored together: one that the store cannot take keeps no other back, and is not acknowledged', t => {
  const { db, flow, enrol, events, at } = hub(t)
  enrol('A', 'e1')
  enrol('A', 'e2', { ...edgeModel('A'), building: { ...edgeModel('A').building, building_id: 'second' } })
  db.exec(
    `CREATE TRIGGER damaged BEFORE INSERT ON hot_chunks WHEN substr(new.data, 1, 8) = x'0000000000000040' BEGIN SELECT raise(ABORT, 'damaged page'); END`,
  )
  const from = (edge_id: string, seq: number, v = seq) => ({
    topic: { site_id: 'A', edge_id, kind: 'telemetry' as const, protocol: 'bacnet' as const },
    payload: packBody({ ...telemetry(seq), edge_id, points: [{ id: 'p1', t: formatInstant(NOON + v * 1000), v, q: 'good' }] }),
  })
  const replies = processMessages(flow, [from('e1', 1), from('e1', 2), from('e2', 1, 7), from('e1', 3)])
  t.deepEqual(
    replies.map(({ edge_id, ack }) => `${edge_id} ${ack?.through_seq}`),
    ['e1 1', 'e2 1', 'e1 1'],
  )
  t.deepEqual(withHotRows(db).prepare('SELECT value FROM hot_rows ORDER BY value').pluck().all(), [1, 7])
  t.like(flow.monitor.counts(), { ingest_ok: 2, ingest_failed: 1 })
  t.deepEqual(
    events.filter(({ kind }) => kind === 'failed').map(({ reason }) => reason),
    ['damaged page'],
  )
  db.exec('DROP TRIGGER damaged')
  at.now += 1000
  t.deepEqual(
    processMessages(flow, [from('e1', 2), from('e1', 3)]).map(({ ack }) => ack?.through_seq),
    [2, 3],
  )
})

test('messages that are stored together: one whose edge cannot be read keeps no other back', t => {
  const { db, flow, enrol } = hub(t)
  enrol('A', 'e1')
  enrol('A', 'e2', edgeModel('A', 'second'))
  db.exec(`UPDATE edges SET status_body = '{' WHERE edge_id = 'e2'`)
  const from = (edge_id: string) => ({
    topic: { site_id: 'A', edge_id, kind: 'telemetry' as const, protocol: 'bacnet' as const },
    payload: packBody({ ...telemetry(1), edge_id }),
  })
  const replies = processMessages(flow, [from('e2'), from('e1')])
  t.deepEqual(
    replies.map(({ edge_id, ack }) => `${edge_id} ${ack?.through_seq}`),
    ['e1 1'],
  )
  t.like(flow.monitor.counts(), { ingest_ok: 1, ingest_failed: 1 })
})

test('an invalid message with a valid sequence number is rejected with its reason each time, and later messages are stored', t => {
  const { flow, enrol, send, events } = hub(t)
  enrol()
  const reason = 'points[0].q must be one of good, uncertain, bad, stale, not "fine"'
  const bad = telemetry(1, { points: [{ id: 'p1', t: '2026-03-01T12:00:00Z', v: 1, q: 'fine' }] })
  t.deepEqual(send(bad), acked(1, { rejected: [{ seq: 1, reason }] }))
  t.deepEqual(send(telemetry(2)), acked(2))
  t.deepEqual(send(bad), acked(2, { rejected: [{ seq: 1, reason }] }))
  t.like(flow.monitor.counts(), { ingest_ok: 1, ingest_rejected: 1 })
  t.deepEqual(events, [{ kind: 'rejected', edge: 'A/e1', reason }])
})

test('messages without a sequence number or under an unknown topic are counted and not acknowledged', t => {
  const { flow, enrol, events } = hub(t)
  enrol()
  t.is(processPublish(flow, 'sites/A/edges/e1/telemetry/bacnet', Buffer.from('garbage')), undefined)
  t.is(processPublish(flow, 'sites/A/edges/e1/findings', packBody({ stream: 'x' })), undefined)
  t.is(processPublish(flow, 'somewhere/else', Buffer.from('{}')), undefined)
  t.is(flow.monitor.counts().ingest_rejected, 3)
  t.is(events.length, 3)
})

test('findings about the edge’s building are stored, those about another building are rejected', t => {
  const { flow, enrol, findings } = hub(t)
  enrol()
  const send = (seq: number, building_id: string) =>
    processPublish(
      flow,
      'sites/A/edges/e1/findings',
      packBody(writeFindings({ ...envelope(seq), findings: [{ ...finding, confirmed_at: NOON, building_id }] })),
    )
  t.deepEqual(send(1, 'building-A'), acked(1))
  t.deepEqual(send(2, 'building-B'), acked(2, { rejected: [{ seq: 2, reason: 'a finding is about building-B' }] }))
  t.deepEqual(
    findings.list({ limit: 10 }).map(({ finding_id, building_id }) => [finding_id, building_id]),
    [['f-1', 'building-A']],
  )
  const withdrawal = packBody(writeFindings({ ...envelope(3), findings: [], withdrawn: ['f-1'] }))
  t.deepEqual(processPublish(flow, 'sites/A/edges/e1/findings', withdrawal), acked(3))
  t.deepEqual(findings.list({ limit: 10 }), [])
})

test('a message that names its building is stored there, once the metadata of that building has arrived', t => {
  const { db, enrol, send, events } = hub(t)
  enrol('A', 'e1', edgeModel('A', 'school'))
  enrol('B', 'e2', edgeModel('B', 'abroad'))
  const inHall = telemetry(1, { building_id: 'hall' })
  t.is(send(inHall), undefined)
  t.is(send(telemetry(1, { building_id: 'abroad' })), undefined, 'of another site')
  t.deepEqual(
    events.map(({ kind, reason }) => `${kind}: ${reason}`),
    ['hall', 'abroad'].map(building => `waiting: metadata of building ${building} not received yet`),
  )
  enrol('A', 'e1', edgeModel('A', 'hall'))
  enrol('A', 'e1', edgeModel('A', 'school'))
  t.deepEqual(send(inHall), acked(1))
  t.deepEqual(send(telemetry(2)), acked(2), 'an older edge is in the building of its metadata')
  t.deepEqual(
    withHotRows(db)
      .prepare('SELECT building_id, value FROM hot_rows JOIN history_buildings USING (building) ORDER BY ts')
      .raw()
      .all(),
    [
      ['hall', 1],
      ['school', 2],
    ],
  )
})

test('metadata cannot claim another site’s building or name; the same edge id in two sites is two edges', t => {
  const { flow, enrol, edges, model, events } = hub(t)
  enrol('A', 'e1')
  enrol('B', 'e1')
  enrol('B', 'e2', { ...edgeModel('B'), building: { ...edgeModel('B').building, building_id: 'building-A' } })
  enrol('B', 'e2', { ...edgeModel('B'), building: { ...edgeModel('B').building, site_id: 'A' } })
  processPublish(flow, 'sites/B/edges/e2/metadata', packBody(writeMetadata('A', 'e1', edgeModel('A'))))
  t.deepEqual(
    events.map(({ edge, reason }) => `${edge} ${reason}`),
    [
      'B/e2 metadata: building building-A belongs to another site',
      'B/e2 metadata: building building-B is assigned to site A',
      'B/e2 metadata: it names edge A/e1, and B/e2 sent it',
    ],
  )
  t.deepEqual(
    edges.list().map(({ edge_id, site_id, building_id }) => [edge_id, site_id, building_id]),
    [
      ['e1', 'A', 'building-A'],
      ['e1', 'B', 'building-B'],
    ],
  )
  t.deepEqual(
    model.buildings().map(({ building_id }) => building_id),
    ['building-A', 'building-B'],
  )
})

test('new metadata updates the model and keeps roles that were assigned at the hub', t => {
  const { enrol, model, edges } = hub(t)
  enrol()
  model.assign('building-A', [{ point_id: 'p1', equipment_id: 'ahu-1', role: 'sat' }], 'merge')
  const next = edgeModel('A')
  const renamed = next.points.map(point => ({ ...point, name: `${point.point_id} renamed` }))
  enrol('A', 'e1', { ...next, name: 'New name', points: renamed })
  t.like(model.points('building-A')[0], { point_id: 'p1', name: 'p1 renamed', role: 'sat', equipment_id: 'ahu-1' })
  t.is(edges.get('A', 'e1')?.name, 'New name')
})

test('a point missing from new metadata loses its role and keeps its history; listed again it regains its role', t => {
  const { enrol, send, model, at, flow } = hub(t)
  const whole = edgeModel('A')
  const without = { ...whole, points: whole.points.slice(1) }
  const point = () => model.points('building-A')[0]!
  enrol()
  model.assign('building-A', [{ point_id: 'p1', equipment_id: 'ahu-1', role: 'sat' }], 'merge')
  at.now = NOON + 5000
  enrol('A', 'e1', without)
  t.is(point().role, undefined)
  t.like(point(), { point_id: 'p1', equipment_id: 'ahu-1', edge_id: 'e1', gone: { at: NOON + 5000, role: 'sat' } })
  t.is(model.points('building-A')[1]!.gone, undefined)
  t.like(send(telemetry(1)), { ack: { through_seq: 1 } })
  at.now = NOON + 9000
  enrol('A', 'e1', { ...without, name: 'New name' })
  t.is(point().gone?.at, NOON + 5000)
  enrol()
  t.is(point().role, 'sat')
  t.is(point().gone, undefined)

  const other = edgeModel('A')
  enrol('A', 'e2', { ...other, points: other.points.map(one => ({ ...one, point_id: `${one.point_id}.2` })) })
  t.deepEqual(
    model.points('building-A').map(({ point_id, edge_id, gone }) => [point_id, edge_id, gone]),
    [
      ['p1', 'e1', undefined],
      ['p1.2', 'e2', undefined],
      ['p2', 'e1', undefined],
      ['p2.2', 'e2', undefined],
    ],
  )

  for (const boot_id of ['x', 'y', 'x', 'y', 'x']) {
    processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, boot_id }))
  }
  enrol('A', 'e1', without)
  t.is(point().gone, undefined, 'metadata is refused while two processes share the edge id')
})

test('of two processes under one edge id nothing is stored or acknowledged until one of them is left', t => {
  const { claims, edges, enrol, send, flow, at, events } = hub(t)
  const status = (boot_id: string) => processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, boot_id }))
  enrol()
  t.truthy(send(telemetry(1))?.ack)
  const replies = ['x', 'y', 'x', 'y', 'x'].map(status)
  const reason = '2 processes run under this edge id: give each appliance an edge_id of its own in its site.json'
  const notices = [{ code: 'metadata_refused', text: `The hub refuses the metadata of this appliance: ${reason}` }]
  t.deepEqual(replies, [undefined, undefined, undefined, undefined, { site_id: 'A', edge_id: 'e1', notices }])
  t.like(edges.get('A', 'e1')!.status_body, { shared: { boot_ids: ['y', 'x'] } })
  t.deepEqual(claims.refusals(), [{ site_id: 'A', edge_id: 'e1', reason, since: NOON }])
  t.is(flow.registry.revisionOf({ site_id: 'A', edge_id: 'e1' }), null)
  t.deepEqual(send(telemetry(2)), { site_id: 'A', edge_id: 'e1', notices })
  t.deepEqual(events.at(-1), { kind: 'waiting', edge: 'A/e1', reason })
  t.is(flow.monitor.counts().ingest_ok, 1)

  at.now += 9 * MINUTE
  status('x')
  enrol()
  t.is(claims.refusals().length, 1, 'the other may come back')
  at.now += 2 * MINUTE
  status('x')
  t.deepEqual(enrol(), { site_id: 'A', edge_id: 'e1', notices: [] })
  t.deepEqual(send(telemetry(2)), acked(2, { at: at.now }))
})

test('the newest readings of an edge with a backlog are shown at once, and stored once when the stream brings them', t => {
  const { db, edges, enrol, send, flow, at } = hub(t)
  const live = (building_id: string, readings: Reading[]) => send(writeLive({ building_id, protocol: 'bacnet', readings }))
  const newest: Reading = { id: 'p1', t: NOON + 3000, v: 21, q: 'good' }
  const count = withHotRows(db).prepare('SELECT count(*) FROM hot_rows').pluck()
  t.is(live('building-A', [newest]), undefined)
  t.is(flow.live.of('building-A', 'p1', NOON), undefined, 'the edge is not known')
  enrol()
  send(telemetry(1))
  t.is(live('building-A', [newest, { ...newest, id: 'p2', t: NOON + HOUR }]), undefined)
  t.deepEqual(flow.live.of('building-A', 'p1', NOON), newest)
  t.is(flow.live.of('building-A', 'p2', NOON), undefined, 'its time cannot be right')
  live('building-B', [newest])
  t.is(flow.live.of('building-B', 'p1', NOON), undefined, 'the building is not of this edge')
  t.is(count.get(), 1)
  flow.registry.flush()
  t.is(edges.get('A', 'e1')?.last_data_at, NOON, 'fresh, and not later than now')
  send(telemetry(2))
  send(telemetry(3))
  t.is(count.get(), 3)
  t.is(flow.monitor.counts().ingest_ok, 3)
  at.now += 3 * MINUTE
  t.is(flow.live.of('building-A', 'p1', at.now), undefined, 'it is not repeated, so it is old')
})

test('points of an edge that changes its building are marked as gone in the former building', t => {
  const { enrol, model } = hub(t)
  enrol()
  enrol('A', 'e1', edgeModel('A', 'building-B'))
  t.deepEqual(
    model.points('building-A').map(({ gone }) => gone?.at),
    [NOON, NOON],
  )
  t.deepEqual(
    model.points('building-B').map(({ gone }) => gone),
    [undefined, undefined],
  )
})

test('health counts what the broker has refused where it runs in this process', t => {
  const { flow, edges, claims, at } = hub(t)
  const ingestService = { ingest: flow, counters: () => flow.monitor.counts(), edgeIds: () => ({ status: 'ok' as const }) }
  const broker = { isConnected: () => true }
  const check = (more: object) =>
    hubHealth({ edges, claims, ingestService, broker: { ...broker, ...more } }, () => at.now).checks['broker']!()
  t.deepEqual(check({ refused: () => 7 }), { status: 'ok', ingest_waiting: 0, ingest_failed: 0, refused: 7 })
  t.deepEqual(check({}), { status: 'ok', ingest_waiting: 0, ingest_failed: 0 })
})

test('while nothing can be stored live values are shown, and what could not be stored anyway is said as ever', t => {
  const { enrol, send, flow, inbox, events } = hub(t)
  enrol()
  inbox.accept = () => {
    throw new Error('database or disk is full')
  }
  const newest: Reading = { id: 'p1', t: NOON, v: 21.5, q: 'good' }
  t.is(send(writeLive({ building_id: 'building-A', protocol: 'bacnet', readings: [newest] })), undefined)
  t.deepEqual(flow.live.of('building-A', 'p1', NOON), newest)
  t.is(send({}), undefined)
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['rejected'],
  )
  t.like(flow.monitor.counts(), { ingest_failed: 0, ingest_rejected: 1 })
})

test('messages that cannot be stored are not acknowledged, and are stored once the store works again', t => {
  const { enrol, send, flow, inbox, edges, claims, events, at } = hub(t)
  enrol()
  const accept = inbox.accept
  inbox.accept = () => {
    throw new Error('database or disk is full')
  }
  t.is(send(telemetry(1)), undefined)
  t.deepEqual(events, [{ kind: 'failed', edge: 'A/e1', reason: 'database or disk is full' }])
  const ingestService = { ingest: flow, counters: () => flow.monitor.counts(), edgeIds: () => ({ status: 'ok' as const }) }
  const { ingest: check } = hubHealth({ edges, claims, ingestService, broker: undefined }, () => at.now).checks
  const detail = 'messages of edges cannot be stored and stay on the edges: database or disk is full'
  t.like(check!(), { status: 'warn', detail, not_stored_secs: 0, readings_waiting: 0 })
  for (let secs = 10; secs <= 59; secs += 7) {
    at.now = NOON + secs * 1000
    t.is(send(telemetry(1)), undefined)
    t.like(check!(), { status: 'warn', not_stored_secs: secs })
  }
  at.now = NOON + 60_000
  t.like(check!(), { status: 'fail', not_stored_secs: 60 })
  t.is(events.length, 1, 'one event at the first failure')
  inbox.accept = accept
  t.deepEqual(send(telemetry(1)), acked(1, { at: at.now }))
  t.like(flow.monitor.counts(), { ingest_failed: 9, ingest_ok: 1 })
  t.like(check!(), { status: 'ok', not_stored_secs: 0 })
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['failed', 'recovered'],
    'and one when it ends',
  )
})

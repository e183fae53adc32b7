import test from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { NOON } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { hub, telemetry, acked } from './ingest-hub.ts'

test('a deleted edge stays deleted for metadata that a broker retains, and returns with metadata that it sends', t => {
  const { model, edges, claims, enrol, send, flow } = hub(t)
  const edge = { site_id: 'A', edge_id: 'e1' }
  const retained = (kind: string, body: object) => processPublish(flow, `sites/A/edges/e1/${kind}`, packBody(body), true)
  enrol()
  enrol('A', 'e2')
  t.is(claims.takeovers().length, 1)
  send(telemetry(1))
  flow.registry.deleteEdge(edge)
  t.deepEqual(
    edges.list().map(({ edge_id }) => edge_id),
    ['e2'],
  )
  t.deepEqual(claims.takeovers(), [])
  const metadata = writeMetadata('A', 'e1', edgeModel('A'))
  retained('metadata', metadata)
  retained('status', { online: true, boot_id: 'x' })
  flow.registry.flush()
  t.is(edges.list().length, 1)
  t.like(send(telemetry(2)), { notices: [{ code: 'metadata_refused' }] }, 'the edge is asked for its metadata')
  t.like(enrol(), { notices: [{ code: 'building_taken_over' }] })
  t.is(edges.list().length, 2)
  t.deepEqual(send(telemetry(2)), acked(2), 'its numbers go on where they were')
  t.deepEqual(
    model.points('building-A').map(({ edge_id }) => edge_id),
    ['e1', 'e1'],
  )
})

test('an edge that only a retained status calls online counts as disconnected when it sends none itself', t => {
  const { flow, enrol, edges, at } = hub(t)
  enrol()
  processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true }))
  at.now += HOUR
  flow.registry.expectStatuses()
  processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true }), true)
  t.like(edges.get('A', 'e1'), { online: true, last_seen_at: NOON })
  flow.registry.disconnectSilentEdges()
  t.is(edges.get('A', 'e1')?.online, false)
  processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true }))
  flow.registry.disconnectSilentEdges()
  t.like(edges.get('A', 'e1'), { online: true, last_seen_at: NOON + HOUR })
})

test('what an edge does not read is stored of its report, and nothing that it says under the name of that', t => {
  const { flow, enrol, edges } = hub(t)
  enrol()
  const device = {
    device_id: 'ahu-1',
    state: 'down',
    since: '2015-01-01T00:00:00.000Z',
    reads: 0,
    errors: 3,
    last_error: 'timeout',
  }
  const none = { rtt_ms_p50: null, rtt_ms_p95: null, last_ok_at: null, next_due_at: null, batch_size: null }
  const counts = { cycles: 1, late_cycles: 0, points_ok: 0, points_stale: 0, points_down: 1, points_fault: 0 }
  const poll = { enabled: true, running: true, ...counts, devices_total: 1, devices: [{ ...device, ...none }] }
  const stored = (body: object) => {
    processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, poll_failures: 'forged', ...body }))
    return edges.get('A', 'e1')!.status_body
  }
  const since = Date.UTC(2015, 0, 1)
  const { poll_failures, ...rest } = stored({ poll })
  t.deepEqual(poll_failures, { running: true, devices_total: 1, failing: 1, since, device_ids: ['ahu-1'] })
  t.false('poll' in rest, 'a whole report is not stored')
  t.like(stored({ poll: { ...poll, running: false, devices: [] } }), {
    poll_failures: { running: false, failing: 0, since: null },
  })
  t.false('poll_failures' in stored({ poll: { ...poll, devices: [] } }))
  t.false('poll_failures' in stored({}))
})

test('a status is answered with the time, where it says when it was sent and the hub has a time', t => {
  const { flow, enrol, at } = hub(t)
  enrol()
  const answer = (body: object, isRetained = false) => processPublish(flow, 'sites/A/edges/e1/status', packBody(body), isRetained)
  const sent = { online: true, sent_at: '2015-01-01T00:00:00.120Z' }
  at.now = NOON + 7
  const status = { sent_at: Date.UTC(2015, 0, 1) + 120, at: NOON + 7 }
  t.deepEqual(answer(sent), { site_id: 'A', edge_id: 'e1', status })
  t.is(answer({ online: true }), undefined, 'of an older edge')
  t.is(answer({ ...sent, online: false }), undefined, 'it goes')
  t.is(answer(sent, true), undefined, 'the copy of a broker was sent long ago')
  at.now = HOUR
  t.is(answer(sent), undefined, 'the clock of the hub is not set')
})

test('a status whose edge has notices is answered with both', t => {
  const { flow, enrol } = hub(t)
  enrol()
  flow.registry.notices.recordRefusal({ site_id: 'A', edge_id: 'e1' }, 'why')
  const answered = processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, sent_at: '2026-03-01T12:00:00Z' }))
  t.like(answered, { notices: [{ code: 'metadata_refused' }], status: { sent_at: NOON, at: NOON } })
})

test('session and data freshness are tracked separately, and a last will keeps the last reported status', t => {
  const { flow, enrol, send, edges, at } = hub(t)
  const status = (body: object) => processPublish(flow, 'sites/A/edges/e1/status', packBody(body))
  status({ online: true, version: '1', backlog: { rows: 0 } })
  t.is(edges.get('A', 'e1'), undefined)
  enrol()
  t.like(edges.get('A', 'e1'), { online: true, status: 'operational', session_changed_at: NOON, last_data_at: null })
  at.now = NOON + 5000
  send(telemetry(1))
  status({ online: true, version: '1', backlog: { rows: 3 } })
  t.like(edges.get('A', 'e1'), { session_changed_at: NOON, last_data_at: NOON + 1000, last_seen_at: NOON + 5000 })
  at.now = NOON + 9000
  status({ online: false, boot_id: 'b' })
  t.like(edges.get('A', 'e1'), {
    online: false,
    status: 'disconnected',
    session_changed_at: NOON + 9000,
    last_data_at: NOON + 1000,
  })
  t.deepEqual(edges.get('A', 'e1')?.status_body, { online: false, version: '1', backlog: { rows: 3 }, boot_id: 'b', via: 'mqtt' })
})

test('data are fresh since they come without a pause, and a version is held since it was heard first', t => {
  const { flow, enrol, send, edges, at } = hub(t)
  enrol()
  const since = () => edges.get('A', 'e1')!
  t.like(since(), { fresh_since: null, version_since: NOON })
  at.now = NOON + 5000
  send(telemetry(1))
  flow.registry.flush()
  t.is(since().fresh_since, NOON + 5000)
  at.now = NOON + 60_000
  send(telemetry(2))
  flow.registry.flush()
  t.is(since().fresh_since, NOON + 5000, 'without a pause')
  // The reading before is 300.5 s old, this one 299.5 s.
  at.now = NOON + 302_500
  send(telemetry(3))
  flow.registry.flush()
  t.is(since().fresh_since, NOON + 302_500, 'after a pause')
  at.now = NOON + 3_600_000
  send(telemetry(4))
  enrol('A', 'e1', { ...edgeModel('A'), name: 'Other' })
  t.like(since(), { fresh_since: NOON + 302_500, version_since: NOON }, 'what comes is old, and the version the same')
  enrol('A', 'e1', { ...edgeModel('A'), version: '2' })
  t.is(since().version_since, NOON + 3_600_000)
})

test('a reading dated in the future makes an edge fresh only until now, not until its timestamp', t => {
  const { flow, enrol, send, edges, at } = hub(t)
  enrol()
  at.now = NOON - MINUTE
  send(telemetry(1))
  flow.registry.flush()
  t.is(edges.get('A', 'e1')?.last_data_at, NOON - MINUTE)
  at.now = NOON + HOUR
  send(telemetry(2))
  flow.registry.flush()
  t.is(edges.get('A', 'e1')?.last_data_at, NOON + 2000)
})

test('after a reconnect of the hub, an edge that sends no status counts as disconnected', t => {
  const { flow, enrol, edges } = hub(t)
  for (const edge of ['e1', 'e2']) {
    enrol('A', edge)
    processPublish(flow, `sites/A/edges/${edge}/status`, packBody({ online: true }))
  }
  flow.registry.expectStatuses()
  processPublish(flow, 'sites/A/edges/e2/status', packBody({ online: true }))
  flow.registry.disconnectSilentEdges()
  t.deepEqual(
    edges.list().map(({ edge_id, online }) => [edge_id, online]),
    [
      ['e1', false],
      ['e2', true],
    ],
  )
})

test('what was observed of several edges is written in one commit, and again where that fails', t => {
  const { db, flow, enrol, edges, at } = hub(t)
  const names = ['e1', 'e2', 'e3']
  for (const edge of names) enrol('A', edge, edgeModel('A', `of-${edge}`))
  for (const edge of names) {
    const body = { ...telemetry(1), edge_id: edge }
    processPublish(flow, `sites/A/edges/${edge}/telemetry/bacnet`, packBody(body))
  }
  at.now += 1000
  const lastData = () => edges.list().map(({ last_data_at }) => last_data_at !== null)
  db.exec(`CREATE TRIGGER damaged BEFORE INSERT ON edges WHEN new.edge_id = 'e3' BEGIN SELECT raise(ABORT, 'damaged page'); END`)
  t.throws(() => flow.registry.flush(), { message: 'damaged page' })
  t.deepEqual(lastData(), [false, false, false])
  db.exec('DROP TRIGGER damaged')
  flow.registry.flush()
  t.deepEqual(lastData(), [true, true, true])
})

test('a last will adds nothing to what is stored of a status but the session that ended', t => {
  const { flow, enrol, edges } = hub(t)
  enrol()
  const status = (body: object) => processPublish(flow, 'sites/A/edges/e1/status', packBody(body))
  status({ online: true, boot_id: 'b', version: '1' })
  for (let i = 0; i < 10; i++) status({ online: false, boot_id: 'b', [`more_${i}`]: 'x'.repeat(100_000), version: 'x' })
  t.deepEqual(edges.get('A', 'e1')?.status_body, { online: false, boot_id: 'b', version: '1', via: 'mqtt' })
})

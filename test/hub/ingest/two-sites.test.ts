/** Two sites whose edges have the same id, which is the default of SERVICE_EDGE_ID: neither affects the other. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import { type EdgeModel, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { HOUR } from '#shared/core/time.ts'
import { Ingest } from '#shared/flow/ingest/ingest.ts'
import type { IngestEvent } from '#shared/flow/ingest/ingest-monitor.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { publisherCheck } from '#appliance/services/health-checks.ts'
import { folder, until } from '../../support/folders.ts'
import { envelope, finding, NOON } from '../../support/messages.ts'
import {
  type Edge,
  edgeModel,
  makeAuthority,
  pollStatus,
  reading,
  startBroker,
  startEdge,
  startHub,
} from '../../support/sites/transport-site.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

const ID = 'fieldbus-1'

function hub(t: ExecutionContext) {
  const db = openDatabase(join(folder(t), 'plenum.db'))
  t.teardown(() => db.close())
  const [model, edges, claims] = [modelStore(db), edgeStore(db), edgeClaimStore(db)]
  const { findings } = resultStores(db)
  const events: IngestEvent[] = []
  const clock = { now: () => at.now, sleep: () => Promise.resolve() }
  const at = { now: NOON }
  const flow = new Ingest({ inbox: openInbox(db), model, edges, claims, clock, notify: event => events.push(event) })
  const publish = (site: string, end: string, body: object) =>
    processPublish(flow, `sites/${site}/edges/${ID}/${end}`, packBody(body))
  const enrol = (site: string, next: EdgeModel = edgeModel(site)) => publish(site, 'metadata', writeMetadata(site, ID, next))
  const send = (site: string, seq: number, more: object = {}) => {
    const head = { ...envelope(seq), site_id: site, edge_id: ID, ...more }
    const readings = [{ id: 'p1', t: NOON + seq * 1000, v: seq, q: 'good' as const }]
    return publish(site, 'telemetry/bacnet', writeTelemetry({ ...head, protocol: 'bacnet', time_synced: true, readings }))
  }
  const stored = withHotRows(db).prepare(
    'SELECT building_id, value FROM hot_rows JOIN history_buildings USING (building) ORDER BY building_id, ts',
  )
  return { model, edges, findings, claims, flow, events, at, publish, enrol, send, samples: () => stored.raw().all() }
}

test('each edge has its own record, acknowledged number, session, poll report and data freshness', t => {
  const { edges, flow, at, publish, enrol, send, samples } = hub(t)
  at.now = NOON + 5000
  enrol('A')
  enrol('B')
  t.like(send('A', 1), { site_id: 'A', ack: { through_seq: 1 } })
  t.like(send('A', 2), { site_id: 'A', ack: { through_seq: 2 } })
  t.like(send('B', 2), { site_id: 'B', ack: { through_seq: 0 } }, 'the same stream at another site is numbered separately')
  t.like(send('B', 1), { site_id: 'B', ack: { through_seq: 1 } })
  t.deepEqual(samples(), [
    ['building-A', 1],
    ['building-A', 2],
    ['building-B', 1],
  ])
  publish('A', 'status', { online: true, boot_id: 'a', poll: writePollReport(pollStatus) })
  at.now = NOON + 9000
  publish('B', 'status', { online: true, boot_id: 'b', poll: writePollReport({ ...pollStatus, cycles: 99 }) })
  publish('B', 'status', { online: false, boot_id: 'b' })
  t.deepEqual(
    edges.list().map(({ site_id, online, last_data_at }) => [site_id, online, last_data_at]),
    [
      ['A', true, NOON + 2000],
      ['B', false, NOON + 1000],
    ],
  )
  t.deepEqual(
    flow.registry.pollReports().map(({ site_id, report }) => [site_id, report.cycles]),
    [
      ['A', 7],
      ['B', 99],
    ],
  )
})

test('two processes with one edge id at one site are no conflict at the other site', t => {
  const { edges, flow, model, publish, enrol, send } = hub(t)
  enrol('A')
  enrol('B')
  for (const boot_id of ['x', 'y', 'x', 'y', 'x']) publish('A', 'status', { online: true, boot_id })
  publish('B', 'status', { online: true, boot_id: 'z' })
  t.truthy(edges.get('A', ID)!.status_body['shared'])
  t.is(edges.get('B', ID)!.status_body['shared'], undefined)
  t.is(flow.registry.sharedIdCount(), 1)
  t.truthy(send('B', 1)!.ack)
  enrol('B', { ...edgeModel('B'), points: [] })
  const gone = (building: string) => model.points(building).map(point => point.gone !== undefined)
  t.deepEqual(gone('building-B'), [true, true], 'points of B are marked as gone although the id is shared at A')
  t.deepEqual(gone('building-A'), [false, false])
})

test('a missing status or an expired lease at one site does not affect the other', t => {
  const { edges, flow, at, publish, enrol } = hub(t)
  for (const site of ['A', 'B']) {
    enrol(site)
    publish(site, 'status', { online: true })
  }
  flow.registry.expectStatuses()
  publish('B', 'status', { online: true })
  flow.registry.disconnectSilentEdges()
  const online = () => edges.list().map(edge => edge.online)
  t.deepEqual(online(), [false, true])
  const topic = { site_id: 'A', edge_id: ID, kind: 'status' } as const
  flow.applySession(topic, { online: true, body: { online: true } }, 'local')
  t.deepEqual(online(), [true, true])
  at.now += 91_000
  flow.registry.flush()
  t.deepEqual(online(), [false, true])
})

test('metadata, telemetry, findings and withdrawals with a certificate of B about A’s building are refused', t => {
  const { model, findings, edges, events, at, publish, enrol, send, samples } = hub(t)
  at.now += 2 * HOUR
  enrol('A')
  enrol('B')
  const before = { points: model.points('building-A'), edge: edges.get('A', ID) }
  const sendFindings = (site: string, seq: number, more: object) =>
    publish(site, 'findings', writeFindings({ ...envelope(seq), site_id: site, edge_id: ID, findings: [], ...more }))
  sendFindings('A', 1, { findings: [finding] })
  enrol('B', edgeModel('B', 'building-A'))
  t.is(send('B', 1, { building_id: 'building-A' })?.ack, undefined, 'no acknowledgement, because the metadata is refused')
  const stolen = { ...finding, title: 'forged' }
  t.like(sendFindings('B', 1, { findings: [stolen] })!.ack!.rejected?.[0], { reason: 'a finding is about building-A' })
  const forged = sendFindings('B', 2, { findings: [{ ...stolen, building_id: 'building-B' }] })!
  t.regex(forged.ack!.rejected![0]!.reason, /^finding f-1 belongs to another building/)
  sendFindings('B', 3, { withdrawn: ['f-1'] })
  t.deepEqual(findings.list({ limit: 9 }), [finding])
  t.deepEqual(samples(), [])
  t.deepEqual({ points: model.points('building-A'), edge: edges.get('A', ID) }, before)
  t.true(
    events.some(({ edge, reason }) => edge === `B/${ID}` && reason === 'metadata: building building-A belongs to another site'),
  )
})

test('over one broker with separate certificates, all readings of both edges are stored', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const broker = await startBroker(join(dir, 'pki'))
  t.teardown(broker.stop)
  const central = await startHub(join(dir, 'pki'), join(dir, 'hub'), broker.port())
  t.teardown(central.stop)
  const sites = ['A', 'B']
  const boxes: Edge[] = []
  for (const site_id of sites) {
    const kit = await pki.kit({ site_id, edge_id: ID, broker_host: '127.0.0.1', broker_port: broker.port() })
    const box = await startEdge(kit, join(dir, site_id), undefined, `boot-${site_id}`)
    t.teardown(box.stop)
    boxes.push(box)
  }
  for (let n = 1; n <= 20; n++) await Promise.all(boxes.map((box, i) => box.outbox.write([reading(n * 2 + i)])))
  await until(() => boxes.every(box => box.state().backlog === 0), 'both outboxes are acknowledged')
  const stored = withHotRows(central.db).prepare(
    'SELECT value FROM hot_rows JOIN history_buildings USING (building) WHERE building_id = ? ORDER BY ts',
  )
  sites.forEach((site, i) => {
    const own = Array.from({ length: 20 }, (_, n) => (n + 1) * 2 + i)
    t.deepEqual(stored.pluck().all(`building-${site}`), own)
  })
  t.deepEqual(
    central.edges.named(ID).map(({ site_id, online }) => [site_id, online]),
    sites.map(site => [site, true]),
  )
})

test('a refused edge gets the reason on its acks topic, the hub stores the refusal, and valid metadata ends both', t => {
  const { claims, publish, enrol, at } = hub(t)
  enrol('A')
  const text = 'The hub refuses the metadata of this appliance: building building-A belongs to another site'
  const notice = { site_id: 'B', edge_id: ID, notices: [{ code: 'metadata_refused', text }] }
  t.deepEqual(enrol('B', edgeModel('B', 'building-A')), notice as object)
  at.now += 60_000
  t.deepEqual(publish('B', 'status', { online: true }), notice as object, 'again with each status')
  enrol('B', edgeModel('B', 'building-A'))
  const reason = 'building building-A belongs to another site'
  t.deepEqual(claims.refusals(), [{ site_id: 'B', edge_id: ID, reason, since: NOON }])
  t.is(publish('A', 'status', { online: true }), undefined)
  t.deepEqual(enrol('B'), { site_id: 'B', edge_id: ID, notices: [] } as object)
  t.deepEqual(claims.refusals(), [])
  t.is(publish('B', 'status', { online: true }), undefined)
})

test('invalid metadata is recorded as a refusal', t => {
  const { claims, publish } = hub(t)
  publish('A', 'metadata', { schema: 'other' })
  t.regex(claims.refusals()[0]!.reason, /^schema must be one of svc_metadata_v1/)
})

test('a building taken over by another edge of the site is a warning for both edges until it is confirmed; the data stay', t => {
  const { claims, flow, model, samples, send, enrol } = hub(t)
  enrol('A')
  send('A', 1)
  const as = (edge: string, end: string, body: object) => processPublish(flow, `sites/A/edges/${edge}/${end}`, packBody(body))
  const enter = (edge: string) => as(edge, 'metadata', writeMetadata('A', edge, edgeModel('A')))
  const status = (edge: string) => as(edge, 'status', { online: true })?.notices?.map(({ code }) => code)
  const foreign = { ...envelope(1), edge_id: 'new', building_id: 'building-A', protocol: 'bacnet' as const, time_synced: true }
  const telemetry = writeTelemetry({ ...foreign, readings: [{ id: 'p1', t: NOON + 9000, v: 9, q: 'good' }] })
  as('new', 'metadata', writeMetadata('A', 'new', edgeModel('A', 'building-C')))
  t.is(as('new', 'telemetry/bacnet', telemetry), undefined, 'telemetry for a building outside its metadata is not acknowledged')
  t.deepEqual(
    enter('new')?.notices?.map(({ code }) => code),
    ['building_taken_over'],
  )
  const takeover = { building_id: 'building-A', site_id: 'A', edge_id: 'new', from_edge_id: ID, since: NOON }
  t.deepEqual(claims.takeovers(), [takeover])
  t.deepEqual([status('new'), status(ID)], [['building_taken_over'], ['building_taken_over']])
  t.truthy(as('new', 'telemetry/bacnet', telemetry)?.ack)
  enter('new')
  t.deepEqual(claims.confirm('building-A', 'kim', NOON), [takeover])
  t.deepEqual([status('new'), status(ID), status('new')], [[], [], undefined])
  enter('new')
  enter(ID)
  t.deepEqual(claims.takeovers(), [], 'a confirmed takeover is not reported again')
  t.deepEqual(samples(), [
    ['building-A', 1],
    ['building-A', 9],
  ])
  t.deepEqual(
    model.points('building-A').map(({ edge_id, gone }) => [edge_id, gone]),
    [
      ['new', undefined],
      ['new', undefined],
    ],
  )
})

test('an appliance shows the notice of the hub until the hub withdraws it', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const broker = await startBroker(join(dir, 'pki'))
  t.teardown(broker.stop)
  const central = await startHub(join(dir, 'pki'), join(dir, 'hub'), broker.port())
  t.teardown(central.stop)
  const { building } = edgeModel('other', 'building-A')
  central.model.put({ building })
  const kit = await pki.kit({ site_id: 'A', edge_id: ID, broker_host: '127.0.0.1', broker_port: broker.port() })
  const box = await startEdge(kit, join(dir, 'box'))
  t.teardown(box.stop)
  await until(() => box.state().notices !== undefined, 'the appliance has the notice')
  const text = 'The hub refuses the metadata of this appliance: building building-A belongs to another site'
  t.deepEqual(box.state().notices, [text])
  t.like(publisherCheck(box.state()), { status: 'warn', detail: text })
  central.model.put({ building: { ...building, site_id: 'A' } })
  box.announce()
  await until(() => box.state().notices === undefined, 'the notice is withdrawn')
  t.deepEqual(central.claims.refusals(), [])
})

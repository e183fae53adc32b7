/** Two sites whose edges have one id, as the default of SERVICE_EDGE_ID makes them: neither changes anything of the other. */
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
  const take = (site: string, end: string, body: object) =>
    processPublish(flow, `sites/${site}/edges/${ID}/${end}`, packBody(body))
  const enrol = (site: string, next: EdgeModel = edgeModel(site)) => take(site, 'metadata', writeMetadata(site, ID, next))
  const send = (site: string, seq: number, more: object = {}) => {
    const head = { ...envelope(seq), site_id: site, edge_id: ID, ...more }
    const readings = [{ id: 'p1', t: NOON + seq * 1000, v: seq, q: 'good' as const }]
    return take(site, 'telemetry/bacnet', writeTelemetry({ ...head, protocol: 'bacnet', time_synced: true, readings }))
  }
  const stored = db.prepare(
    'SELECT building_id, value FROM samples JOIN history_buildings USING (building) ORDER BY building_id, ts',
  )
  return { model, edges, findings, claims, flow, events, at, take, enrol, send, samples: () => stored.raw().all() }
}

test('each has a record, a mark, a session, a poll report and freshness of its own', t => {
  const { edges, flow, at, take, enrol, send, samples } = hub(t)
  at.now = NOON + 5000
  enrol('A')
  enrol('B')
  t.like(send('A', 1), { site_id: 'A', ack: { through_seq: 1 } })
  t.like(send('A', 2), { site_id: 'A', ack: { through_seq: 2 } })
  t.like(send('B', 2), { site_id: 'B', ack: { through_seq: 0 } }, 'the same stream of another site has a mark of its own')
  t.like(send('B', 1), { site_id: 'B', ack: { through_seq: 1 } })
  t.deepEqual(samples(), [
    ['building-A', 1],
    ['building-A', 2],
    ['building-B', 1],
  ])
  take('A', 'status', { online: true, boot_id: 'a', poll: writePollReport(pollStatus) })
  at.now = NOON + 9000
  take('B', 'status', { online: true, boot_id: 'b', poll: writePollReport({ ...pollStatus, cycles: 99 }) })
  take('B', 'status', { online: false, boot_id: 'b' })
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

test('two processes under the id in one site are no conflict of the other, whose points stay listed', t => {
  const { edges, flow, model, take, enrol, send } = hub(t)
  enrol('A')
  enrol('B')
  for (const boot_id of ['x', 'y', 'x', 'y', 'x']) take('A', 'status', { online: true, boot_id })
  take('B', 'status', { online: true, boot_id: 'z' })
  t.truthy(edges.get('A', ID)!.status_body['shared'])
  t.is(edges.get('B', ID)!.status_body['shared'], undefined)
  t.is(flow.registry.sharedIdCount(), 1)
  t.is(send('B', 1)!.ack!.boot_ids, undefined)
  enrol('B', { ...edgeModel('B'), points: [] })
  const gone = (building: string) => model.points(building).map(point => point.gone !== undefined)
  t.deepEqual(gone('building-B'), [true, true], 'the list of B is its own, though somebody shares the id in A')
  t.deepEqual(gone('building-A'), [false, false])
})

test('doubt and a lease of one site end nothing of the other', t => {
  const { edges, flow, at, take, enrol } = hub(t)
  for (const site of ['A', 'B']) {
    enrol(site)
    take(site, 'status', { online: true })
  }
  flow.registry.expectStatuses()
  take('B', 'status', { online: true })
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

test('what a certificate of B says of A’s building is refused: metadata, telemetry, findings, withdrawals', t => {
  const { model, findings, edges, events, at, take, enrol, send, samples } = hub(t)
  at.now += 2 * HOUR
  enrol('A')
  enrol('B')
  const before = { points: model.points('building-A'), edge: edges.get('A', ID) }
  const sendFindings = (site: string, seq: number, more: object) =>
    take(site, 'findings', writeFindings({ ...envelope(seq), site_id: site, edge_id: ID, findings: [], ...more }))
  sendFindings('A', 1, { findings: [finding] })
  enrol('B', edgeModel('B', 'building-A'))
  t.is(send('B', 1, { building_id: 'building-A' }), undefined, 'it waits for metadata that is never taken')
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

test('over one broker, each with its own certificate, both are served in full', async t => {
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
  await until(() => boxes.every(box => box.state().backlog === 0), 'everything of both is acknowledged')
  const stored = central.db.prepare(
    'SELECT value FROM samples JOIN history_buildings USING (building) WHERE building_id = ? ORDER BY ts',
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

test('a refused edge is told why on its own acks topic, the hub keeps it, and both end when it is mended', t => {
  const { claims, take, enrol, at } = hub(t)
  enrol('A')
  const text = 'The hub refuses the metadata of this appliance: building building-A belongs to another site'
  const told = { site_id: 'B', edge_id: ID, notices: [{ code: 'metadata_refused', text }] }
  t.deepEqual(enrol('B', edgeModel('B', 'building-A')), told as object)
  at.now += 60_000
  t.deepEqual(take('B', 'status', { online: true }), told as object, 'again with each status')
  enrol('B', edgeModel('B', 'building-A'))
  const reason = 'building building-A belongs to another site'
  t.deepEqual(claims.refusals(), [{ site_id: 'B', edge_id: ID, reason, since: NOON }])
  t.is(take('A', 'status', { online: true }), undefined)
  t.deepEqual(enrol('B'), { site_id: 'B', edge_id: ID, notices: [] } as object)
  t.deepEqual(claims.refusals(), [])
  t.is(take('B', 'status', { online: true }), undefined)
})

test('metadata that cannot be read is a refusal too', t => {
  const { claims, take } = hub(t)
  take('A', 'metadata', { schema: 'other' })
  t.regex(claims.refusals()[0]!.reason, /^schema must be one of svc_metadata_v1/)
})

test('a building that another edge of the site takes over is a warning for both until it is confirmed; the data stay', t => {
  const { claims, flow, model, samples, send, enrol } = hub(t)
  enrol('A')
  send('A', 1)
  const as = (edge: string, end: string, body: object) => processPublish(flow, `sites/A/edges/${edge}/${end}`, packBody(body))
  const enter = (edge: string) => as(edge, 'metadata', writeMetadata('A', edge, edgeModel('A')))
  const status = (edge: string) => as(edge, 'status', { online: true })?.notices?.map(({ code }) => code)
  const foreign = { ...envelope(1), edge_id: 'new', building_id: 'building-A', protocol: 'bacnet' as const, time_synced: true }
  const telemetry = writeTelemetry({ ...foreign, readings: [{ id: 'p1', t: NOON + 9000, v: 9, q: 'good' }] })
  as('new', 'metadata', writeMetadata('A', 'new', edgeModel('A', 'building-C')))
  t.is(as('new', 'telemetry/bacnet', telemetry), undefined, 'no edge speaks for a building that its metadata did not name')
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
  t.deepEqual(claims.takeovers(), [], 'what was confirmed is not asked again')
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

test('the box shows what the hub says of it, until the hub takes it back', async t => {
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
  await until(() => box.state().notices !== undefined, 'the box is told')
  const text = 'The hub refuses the metadata of this appliance: building building-A belongs to another site'
  t.deepEqual(box.state().notices, [text])
  t.like(publisherCheck(box.state()), { status: 'warn', detail: text })
  central.model.put({ building: { ...building, site_id: 'A' } })
  box.announce()
  await until(() => box.state().notices === undefined, 'the box is told that it is over')
  t.deepEqual(central.claims.refusals(), [])
})

/** An enrolled edge that invents buildings, points, streams and findings: it is refused in words, and what is stored stays. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { hubHealth } from '#hub/ingest/health.ts'
import { edgeRefusals } from '#hub/pages/edge-troubles.ts'
import { packBody, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import { type EdgeModel, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { folder, until } from '../../support/folders.ts'
import { envelope, finding } from '../../support/messages.ts'
import { edgeModel, linkWith, makeAuthority, startBroker, startEdge, startHub } from '../../support/sites/transport-site.ts'

const LIMITS = { buildings: 2, points: 4, streams: 3, findings: 2 }

async function boundedSite(t: ExecutionContext, limits = LIMITS) {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const hub = await startHub(certs, join(dir, 'hub'), broker.port(), undefined, undefined, limits)
  t.teardown(hub.stop)
  const kitOf = (edge_id: string) => pki.kit({ site_id: 'A', edge_id, broker_host: '127.0.0.1', broker_port: broker.port() })
  const session = await openSession(t, await kitOf('e1'))
  const checks = hubHealth({ ...hub, broker: undefined, ingestService: hub.ingestService }, Date.now).checks
  return { dir, hub, kitOf, ...session, health: async () => checks['edge_bounds']!() }
}

/** What somebody does who has the certificate of edge e1. `acks` are bodies that came back. */
async function openSession(t: ExecutionContext, kit: Kit) {
  const acks: Record<string, any>[] = []
  const link = linkWith(kit, (_topic, payload) => {
    const body = unpackBody(payload, 256 * 1024)
    if (body.ok) acks.push(body.value)
  })
  link.start()
  t.teardown(() => link.stop())
  await until(() => link.isUp(), 'the session is open')
  const publish = (kind: string, body: object) => link.publish(`sites/A/edges/e1/${kind}`, packBody(body))
  const describe = (model: EdgeModel) => publish('metadata', writeMetadata('A', 'e1', model))
  const send = (seq: number, point_ids: string[], stream = envelope().stream) => {
    const readings = point_ids.map(id => ({ id, t: Date.now() - 1000, v: seq, q: 'good' as const }))
    const head = { ...envelope(seq), stream, sent_at: Date.now() }
    return publish('telemetry/bacnet', writeTelemetry({ ...head, protocol: 'bacnet', time_synced: true, readings }))
  }
  const find = (seq: number, ids: string[], building_id = finding.building_id) => {
    const findings = ids.map(finding_id => ({ ...finding, finding_id, building_id }))
    return publish('findings', writeFindings({ ...envelope(seq), sent_at: Date.now(), findings }))
  }
  const acked =
    (seq: number, stream = envelope().stream) =>
    () =>
      acks.some(ack => ack['stream'] === stream && ack['through_seq'] >= seq)
  const noticed = (text: RegExp) => () =>
    acks.some(({ notices }) => notices?.some((one: { text: string }) => text.test(one.text)))
  return { describe, send, find, acked, noticed }
}

const withPoints = (point_ids: string[], building_id = 'building-A'): EdgeModel => {
  const model = edgeModel('A', building_id)
  return { ...model, points: point_ids.map(point_id => ({ ...model.points[0]!, point_id, name: point_id })) }
}

test('an edge that reports for ever new buildings is refused in words, and those that are stored stay', async t => {
  const { hub, describe, noticed } = await boundedSite(t)
  for (const building_id of ['b1', 'b2', 'b3']) {
    await describe(edgeModel('A', building_id))
    await until(() => hub.model.building(building_id) !== undefined || hub.claims.refusals().length > 0, 'the hub has heard it')
  }
  await until(
    noticed(
      /^The hub refuses the metadata.*2 buildings of edge e1 are stored, and this brings 1 more; SERVICE_EDGE_MAX_BUILDINGS allows 2/,
    ),
    'it is told',
  )
  t.deepEqual(
    hub.model.buildings().map(({ building_id }) => building_id),
    ['b1', 'b2'],
  )
  t.like(hub.claims.refusals(), [{ site_id: 'A', edge_id: 'e1' }])
  await describe(edgeModel('A', 'b1'))
  await until(() => hub.claims.refusals().length === 0, 'it may go back to a building that it had')
  t.is(hub.edges.get('A', 'e1')?.building_id, 'b1')
})

test('points and equipment that an edge lists anew each time count together with those that it no longer lists', async t => {
  const { hub, describe, noticed } = await boundedSite(t)
  await describe(withPoints(['p1', 'p2', 'p3']))
  await until(() => hub.model.building('building-A') !== undefined, 'the first list is stored')
  await describe(withPoints(['q1']))
  await until(() => hub.model.points('building-A').length === 4, 'the second list is stored')
  await describe(withPoints(['r1']))
  await until(noticed(/4 points of edge e1 are stored, and this brings 1 more; SERVICE_EDGE_MAX_POINTS allows 4/), 'it is told')
  await describe(withPoints(['p1', 'p2', 'p3', 'q1']))
  await until(() => hub.claims.refusals().length === 0, 'points that it had may return')
  const equipment = ['a', 'b', 'c', 'd'].map(equipment_id => ({ ...edgeModel('A').equipment[0]!, equipment_id }))
  await describe({ ...withPoints([]), equipment })
  await until(noticed(/1 equipment of building building-A are stored, and this brings 4 more/), 'it is told')
  t.is(hub.model.points('building-A').length, 4)
})

test('series of no point, streams and findings beyond the limit wait on the edge, and the operator sees which edge it is', async t => {
  const { hub, describe, send, find, acked, noticed, health } = await boundedSite(t)
  t.deepEqual(await health(), { status: 'ok', edges_held_back: 0, messages_held_back: 0 })
  await describe(edgeModel('A'))
  await send(1, ['p1', 'p2', 'x1', 'x2', 'x3', 'x4'])
  await until(acked(1), 'points and four series beside them are stored')
  await send(2, ['x5'])
  await until(noticed(/4 series of building building-A that are of no point are stored, and this brings 1 more/), 'it is told')
  t.false(acked(2)())
  t.like(await health(), {
    status: 'warn',
    edges_held_back: 1,
    messages_held_back: 1,
    detail:
      'edge A/e1: 4 series of building building-A that are of no point are stored, and this brings 1 more; SERVICE_EDGE_MAX_POINTS allows 4',
  })
  t.like(edgeRefusals(hub.claims, hub.ingestService.ingest.registry.notices, 0), [{ site_id: 'A', edge_id: 'e1' }])
  await send(2, ['x1', 'p1'])
  await until(acked(2), 'what it had goes on')
  t.like(await health(), { status: 'ok', edges_held_back: 0, messages_held_back: 1 })

  await find(3, ['f1', 'f2'])
  await until(acked(3), 'two findings are stored')
  await find(4, ['f1', 'f3'])
  await until(
    noticed(/2 findings of the buildings of edge e1 are stored, and this brings 1 more; SERVICE_EDGE_MAX_FINDINGS allows 2/),
    'it is told',
  )
  await find(4, ['f1'])
  await until(acked(4), 'a finding that is stored may change')

  const streams = [2, 3, 4].map(n => envelope().stream.replace(/1$/, String(n)))
  for (const stream of streams.slice(0, 2)) {
    await send(1, ['p1'], stream)
    await until(acked(1, stream), 'three streams are stored')
  }
  await send(1, ['p1'], streams[2])
  await until(noticed(/3 streams of edge e1 are stored, and this brings 1 more; SERVICE_EDGE_MAX_STREAMS allows 3/), 'it is told')
})

test('findings of all buildings of an edge count together, and those of an edge elsewhere do not', async t => {
  const { hub, dir, kitOf, describe, find, acked, noticed } = await boundedSite(t)
  await describe(edgeModel('A', 'b1'))
  await until(() => hub.edges.get('A', 'e1')?.building_id === 'b1', 'it is known')
  await find(1, ['f1'], 'b1')
  await until(acked(1), 'one finding of the first building is stored')
  await describe(edgeModel('A', 'b2'))
  await until(() => hub.edges.get('A', 'e1')?.building_id === 'b2', 'it has moved')
  await find(2, ['f2'], 'b2')
  await until(acked(2), 'one finding of the second is stored')
  await find(3, ['f3'], 'b2')
  await until(noticed(/2 findings of the buildings of edge e1 are stored, and this brings 1 more/), 'it is told')
  t.false(acked(3)())
  const other = await startEdge(await kitOf('e2'), join(dir, 'outbox'))
  t.teardown(other.stop)
  await other.outbox.putFindings(['f4', 'f5'].map(finding_id => ({ ...finding, finding_id })))
  await until(() => other.state().backlog === 0, 'another edge has a bound of its own')
})

test('an edge of the same building is stored beside one that has used up what it may bring', async t => {
  const { hub, dir, kitOf, describe, send, acked, noticed } = await boundedSite(t)
  await describe(edgeModel('A'))
  await send(1, ['x1', 'x2', 'x3', 'x4'])
  await until(acked(1), 'four series are stored')
  await send(2, ['x5'])
  await until(noticed(/of no point/), 'the bad one is held back')
  const edge = await startEdge(await kitOf('e2'), join(dir, 'outbox'))
  t.teardown(edge.stop)
  await edge.outbox.write([{ id: 'p1', t: Date.now() - 2000, v: 7, q: 'good' }])
  await edge.outbox.write([{ id: 'p2', t: Date.now() - 1000, v: 8, q: 'good' }])
  await until(() => edge.state().backlog === 0, 'the other is acknowledged')
  t.deepEqual(
    hub.samples().filter(({ id }) => id.startsWith('p')),
    [
      { id: 'p1', v: 7 },
      { id: 'p2', v: 8 },
    ],
  )
  hub.ingestService.ingest.registry.deleteEdge({ site_id: 'A', edge_id: 'e1' })
  t.deepEqual(hub.ingestService.ingest.registry.notices.heldBack(), [], 'a deleted edge is not held back')
})

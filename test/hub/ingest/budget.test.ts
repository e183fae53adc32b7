/** An edge whose hub may store no more: nothing is lost, nothing is acknowledged that is not stored, and both sides say why. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { hubHealth } from '#hub/ingest/health.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { openStorageBudget } from '#shared/node/store/storage-budget.ts'
import { folder, until } from '../../support/folders.ts'
import { envelope } from '../../support/messages.ts'
import { makeAuthority, reading, startBroker, startEdge, startHub } from '../../support/sites/transport-site.ts'

async function siteWithBudget(t: ExecutionContext) {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const limits: { max_bytes: number | null; max_series: number | null } = { max_bytes: null, max_series: null }
  const hub = await startHub(certs, join(dir, 'hub'), broker.port(), () => limits)
  t.teardown(hub.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  const budget = openStorageBudget(hub.db, () => limits)
  const health = async () =>
    hubHealth({ ...hub, budget, broker: undefined, ingestService: hub.ingestService }, Date.now).checks['budget']!()
  const stored = () => hub.samples().map(({ v }) => v)
  return { hub, edge, limits, health, stored }
}

test('beyond the bytes an edge keeps its messages, and sends them once the budget is raised', async t => {
  const { hub, edge, limits, health, stored } = await siteWithBudget(t)
  for (const n of [1, 2, 3]) await edge.outbox.write([reading(n)])
  await until(() => edge.state().backlog === 0, 'everything is acknowledged')
  t.is((await health()).status, 'ok')

  limits.max_bytes = 1
  for (const n of [4, 5, 6]) await edge.outbox.write([reading(n)])
  await until(() => edge.state().notices !== undefined, 'the edge is told')
  t.regex(edge.state().notices![0]!, /stores nothing more.* of 1 bytes/)
  t.like(edge.state(), { backlog: 3, rejected: 0, dropped: 0, state: 'up' })
  t.deepEqual(stored(), [1, 2, 3])
  t.like(await health(), { status: 'warn', edges_held_back: 1, series: 1 })
  const tries = hub.counters().ingest_waiting
  for (const n of [7, 8]) await edge.outbox.write([reading(n)])
  edge.announce()
  await until(() => edge.state().backlog === 5, 'the outbox has them')
  t.is(hub.counters().ingest_waiting, tries, 'an edge that is held back does not try each message')

  limits.max_bytes = null
  edge.announce()
  await until(() => edge.state().backlog === 0, 'everything is acknowledged')
  t.deepEqual(stored(), [1, 2, 3, 4, 5, 6, 7, 8])
  t.is(edge.state().notices, undefined)
  t.is((await health()).status, 'ok')
})

test('beyond the series what begins another one waits, and what is behind it in the stream', async t => {
  const { edge, limits, stored, health } = await siteWithBudget(t)
  limits.max_series = 1
  await edge.outbox.write([reading(1)])
  await edge.outbox.write([{ ...reading(2), id: 'p2' }])
  await edge.outbox.write([reading(3)])
  await until(() => edge.state().notices !== undefined, 'the edge is told')
  t.regex(edge.state().notices![0]!, /1 of 1 series, and this begins 1 more/)
  t.deepEqual(stored(), [1])
  t.like(edge.state(), { backlog: 2, rejected: 0 })
  t.like(await health(), { status: 'warn', edges_held_back: 1, series: 1 })
  limits.max_series = 2
  edge.announce()
  await until(() => edge.state().backlog === 0, 'everything is acknowledged')
  t.deepEqual(stored(), [1, 2, 3])
})

test('what is stored already is acknowledged beyond the budget too', async t => {
  const { hub, edge, limits } = await siteWithBudget(t)
  await edge.outbox.write([reading(1)])
  await until(() => edge.state().backlog === 0, 'everything is acknowledged')
  const send = (seq: number) => {
    const readings = [{ ...reading(seq), t: Date.now() - 1000 }]
    const body = writeTelemetry({ ...envelope(seq), sent_at: Date.now(), protocol: 'bacnet', time_synced: true, readings })
    return processPublish(hub.ingestService.ingest, 'sites/A/edges/e1/telemetry/bacnet', packBody(body))
  }
  t.is(send(1)?.ack?.through_seq, 1)
  limits.max_bytes = 1
  t.is(send(1)?.ack?.through_seq, 1, 'a duplicate')
  const refused = send(2)
  t.is(refused?.ack, undefined)
  t.is(refused?.notices?.[0]?.code, 'tenant_over_budget')
  t.is(send(3)?.ack?.through_seq, 1, 'a gap')
  limits.max_bytes = null
  t.is(send(2)?.ack?.through_seq, 2)
})

/** Two appliances that were given the same site.json: it is noticed and said everywhere, and nothing of either is stored. */
import { join } from 'node:path'
import test from 'ava'
import { afterLoss, NO_RETRY, type Retry, retryMs } from '#shared/core/telemetry/retry.ts'
import { type BootHistory, isReplaced, recordBootId, SHARED_MS, sharedEdgeId } from '#shared/core/telemetry/shared-edge-id.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { publisherCheck } from '#appliance/services/health-checks.ts'
import { hubHealth } from '#hub/ingest/health.ts'
import { healthOf } from '#hub/pages/fleet-status.ts'
import { folder, until } from '../../../support/folders.ts'
import { startCentral, startLocalEdge, TOKEN } from '../../../support/sites/local-site.ts'
import { openHubSite, reading, startEdge } from '../../../support/sites/transport-site.ts'

const heard = (boots: string, stepMs: number): BootHistory =>
  [...boots].reduce<BootHistory | undefined>((before, boot, i) => recordBootId(before, boot, i * stepMs), undefined)!

for (const [boots, stepMs, shared] of [
  ['AAAA', SECOND, false],
  ['ABCDEFGHIJKLMNOP', SECOND, false],
  ['AAABBBCCC', SECOND, false],
  ['ABA', SECOND, false],
  ['ABAB', SECOND, false],
  ['ABABA', SECOND, true],
  ['AABBAABBAA', SECOND, true],
  ['ABCABC', SECOND, true],
  ['ABABA', SHARED_MS / 2, true],
  ['ABABABABAB', SHARED_MS + 1, false],
] as const) {
  test(`boot ids ${boots}, one every ${stepMs / SECOND} s, are ${shared ? 'two processes' : 'one process'}`, t => {
    const at = (boots.length - 1) * stepMs
    t.is(sharedEdgeId(heard(boots, stepMs), at) !== undefined, shared)
  })
}

test('that an edge id is shared is over when ten minutes have passed without a return', t => {
  const history = heard('ABABA', SECOND)
  t.deepEqual(sharedEdgeId(history, 5 * SECOND), { boot_ids: ['B', 'A'], since: 2 * SECOND, last_at: 4 * SECOND })
  t.truthy(sharedEdgeId(recordBootId(history, 'A', 9 * MINUTE), 4 * SECOND + SHARED_MS))
  t.is(sharedEdgeId(recordBootId(history, 'A', 9 * MINUTE), 5 * SECOND + SHARED_MS), undefined)
})

test('a last will speaks for its own process alone', t => {
  const history = heard('AB', SECOND)
  t.deepEqual(
    ['A', 'B', 'C'].map(boot => isReplaced(history, boot)),
    [true, false, false],
  )
})

test('a session that is ended as soon as it is up is asked for ever more slowly; a failed attempt begins anew', t => {
  const waits = (losses: (number | undefined)[]) => {
    let retry: Retry = NO_RETRY
    return losses.map(lasted => retryMs((retry = afterLoss(retry, lasted)), 1) / SECOND)
  }
  t.deepEqual(waits([0, 0, 0, 0, 0, 0]), [0.5, 2, 8, 32, 60, 60])
  t.deepEqual(waits([0, 0, 5 * MINUTE, 0]), [0.5, 2, 0.5, 2])
  t.deepEqual(waits([0, 0, undefined, 0]), [0.5, 2, 0.5, 0.5])
  t.deepEqual(waits([undefined, undefined, undefined, undefined]), [0.5, 1, 2, 4])
  t.is(waits(Array.from({ length: 20 }, () => undefined)).at(-1), 30)
})

const REFUSED =
  'The hub refuses the metadata of this appliance: 2 processes run under this edge id: give each appliance an edge_id of its own in its site.json'

test('over one broker: hub and both boxes say it, and neither is stored any more', async t => {
  t.timeout(300_000)
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const edges = await Promise.all(['one', 'two'].map(boot => startEdge(kit, join(dir, boot), undefined, boot)))
  for (const { stop } of edges) t.teardown(stop)

  await until(() => hub.ingestService.edgeIds().status === 'warn', 'the hub notices', 60_000)
  const { checks } = hubHealth(
    { edges: hub.edges, claims: hub.claims, ingestService: hub.ingestService, broker: undefined },
    Date.now,
  )
  t.like(await checks['edge_ids']!(), { status: 'warn', shared: 1 })
  t.like(await checks['edge_claims']!(), { status: 'warn', refused: 1 })
  const edge = hub.edges.get('A', 'e1')!
  t.like(healthOf(edge, Date.now()), {
    status: 'reduced',
    reason: '2 processes use this edge id, so nothing of them is stored: give each appliance its own',
  })
  const stored = hub.samples().length
  for (const { outbox } of edges) await outbox.write([reading(1)])
  await until(() => edges.every(one => one.state().notices?.includes(REFUSED)), 'both boxes say it', 90_000)
  t.is(hub.samples().length, stored)
  t.deepEqual(
    edges.map(one => one.state().backlog),
    [1, 1],
  )
  t.like(publisherCheck(edges[0]!.state()), { status: 'warn' })
})

test('without a broker: central refuses both', async t => {
  const dir = folder(t)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  const edges = await Promise.all(['one', 'two'].map(boot_id => startLocalEdge(central.url, join(dir, boot_id), { boot_id })))
  for (const { stop } of edges) t.teardown(stop)
  await until(() => {
    for (const { announce } of edges) announce()
    return central.ingestService.edgeIds().status === 'warn'
  }, 'central notices')
  for (const { outbox } of edges) await outbox.write([reading(1)])
  await until(
    () => edges.some(one => one.state().reason?.includes('2 processes run under this edge id')),
    'a box says it',
    60_000,
  )
  t.deepEqual(central.samples(), [])
})

/** An edge that has nothing to send gets the time too. */
import { join } from 'node:path'
import test from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { folder, until } from '../../support/folders.ts'
import { openHubSite, startEdge } from '../../support/sites/transport-site.ts'

test('an edge without a reading learns by how much its clock differs from the answer to its status', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const clock = { ...wallClock, now: () => Date.now() - 100 * HOUR }
  const edge = await startEdge(kit, join(dir, 'outbox'), undefined, 'boot', clock)
  t.teardown(edge.stop)
  await until(() => edge.state().clock_offset_ms !== null, 'the hub has said the time')
  t.true(Math.abs(edge.state().clock_offset_ms! + 100 * HOUR) < 5_000, `${edge.state().clock_offset_ms} ms`)
  edge.announce()
  await until(() => typeof hub.edges.get('A', 'e1')?.status_body['clock_offset_ms'] === 'number', 'the hub knows it as well')
})

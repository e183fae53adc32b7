/** What a hub has stored is acknowledged when it outlasts the machine, and not before. */
import { join } from 'node:path'
import test from 'ava'
import { folder, until } from '../../support/folders.ts'
import { makeAuthority, reading, startBroker, startEdge, startHub } from '../../support/sites/transport-site.ts'

test('messages are acknowledged when they are settled; those that cannot be settled are sent again', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  let next = Promise.withResolvers<void>()
  let asked = 0
  const settled = () => {
    asked++
    return next.promise
  }
  const hub = await startHub(certs, join(dir, 'hub'), broker.port(), undefined, settled)
  t.teardown(hub.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(edge.stop)
  const stored = () => hub.samples().map(({ v }) => v)

  await edge.outbox.write([reading(1)])
  await until(() => stored().length === 1 && asked > 0, 'the hub has stored the message')
  t.is(edge.state().backlog, 1)

  const refused = next
  next = Promise.withResolvers<void>()
  refused.reject(new Error('another hub has taken over'))
  await until(() => hub.counters().ingest_duplicate > 0, 'the edge sends the message again')
  t.is(edge.state().backlog, 1)

  next.resolve()
  await until(() => edge.state().backlog === 0, 'the message is acknowledged')
  t.deepEqual(stored(), [1])
})

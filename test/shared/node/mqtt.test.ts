/** A session with a real broker whose network is cut, so that an acknowledgement never arrives. */
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import test, { type ExecutionContext } from 'ava'
import { openNetwork } from '../../support/cut-network.ts'
import { folder, until } from '../../support/folders.ts'
import { linkWith, makeAuthority, startBroker } from '../../support/sites/transport-site.ts'

async function openLink(t: ExecutionContext) {
  const certs = join(folder(t), 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const network = await openNetwork(t, broker.port())
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: network.port })
  const link = linkWith(kit)
  t.teardown(() => link.stop())
  const isOpen = () => until(() => link.isUp(), 'the session is open')
  return { link, network, isOpen, publish: () => link.publish('sites/A/edges/e1/status', Buffer.from('{}')) }
}

async function openSession(t: ExecutionContext) {
  const session = await openLink(t)
  session.link.start()
  await session.isOpen()
  return session
}

test('a session that is begun anew while an acknowledgement is lost with the connection is open again', async t => {
  const { link, network, isOpen, publish } = await openSession(t)
  network.cut()
  const published = t.throwsAsync(publish(), { message: 'Connection closed' })
  const again = link.reconnect()
  network.mend()
  await again
  await published
  await isOpen()
  await t.notThrowsAsync(publish())
})

test('a session that is begun anew while nothing arrives any more is open once the network is back', async t => {
  const { link, network, isOpen, publish } = await openSession(t)
  network.cut()
  const published = t.throwsAsync(publish(), { message: 'Connection closed' })
  await link.reconnect()
  await published
  network.mend()
  await isOpen()
})

test('a link stops while an acknowledgement is missing', async t => {
  const { link, network, publish } = await openSession(t)
  network.cut()
  const published = t.throwsAsync(publish(), { message: 'Connection closed' })
  await link.stop()
  await published
  t.false(link.isUp())
})

test('a message is refused while the session is not open yet', async t => {
  const { link, network, isOpen, publish } = await openLink(t)
  network.cut()
  link.start()
  await t.throwsAsync(publish(), { message: 'not connected to the broker' })
  network.mend()
  await isOpen()
  await t.notThrowsAsync(publish())
})

test('a session keeps no table of the numbers of packets', async t => {
  const { publish } = await openSession(t)
  await publish()
  const buffers = queryObjects(Buffer, { format: 'count' })
  t.true(buffers < 10_000, `${buffers} buffers`)
})

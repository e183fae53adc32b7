import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pino from 'pino'
import test from 'ava'
import { brokerService } from '#hub/broker/broker.ts'
import { openBrokerFiles } from '#hub/broker/files.ts'
import { createHandshakes, type Handshakes } from '#hub/broker/handshakes.ts'
import {
  HANDSHAKES_MAX,
  HANDSHAKES_PER_NETWORK,
  HANDSHAKES_WAITING_MS,
  HANDSHAKES_WAITING_PER_NETWORK,
} from '#hub/broker/limits.ts'
import { folder } from '../../support/folders.ts'
import { enter } from '../../support/raw-client.ts'
import { makeAuthority } from '../../support/sites/transport-site.ts'

let port = 1024

/** A TCP connection as the broker sees it before its handshake, and what became of it. */
function knock(handshakes: Handshakes, remoteAddress: string) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress, remotePort: port++, state: 'waits', destroy: () => {} })
  socket.destroy = () => {
    socket.state = 'destroyed'
    socket.emit('close')
  }
  handshakes.enter(socket as unknown as Socket, () => (socket.state = 'begun'))
  return socket
}
const knockOften = (handshakes: Handshakes, count: number, addressOf: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => knock(handshakes, addressOf(i)))
const statesOf = (sockets: { state: string }[]) => [...new Set(sockets.map(({ state }) => state))]

test('one network fills its own slots: what comes beyond waits in turn, and other networks begin at once', t => {
  const handshakes = createHandshakes()
  const first = knockOften(handshakes, HANDSHAKES_PER_NETWORK, i => `2001:db8:0:1::${(i + 1).toString(16)}`)
  t.deepEqual(statesOf(first), ['begun'])
  const [second, third] = [knock(handshakes, '2001:db8:0:1:ffff::1'), knock(handshakes, '2001:db8:0:1:ffff::2')]
  t.is(knock(handshakes, '2001:db8:0:2::1').state, 'begun')
  t.is(knock(handshakes, '192.0.2.1').state, 'begun')
  t.deepEqual([second.state, third.state], ['waits', 'waits'])
  first[0]!.emit('close')
  first[0]!.emit('close')
  t.deepEqual([second.state, third.state], ['begun', 'waits'], 'one that fails makes room for one')
  handshakes.complete(first[1]!)
  handshakes.complete(first[1]!)
  t.is(third.state, 'begun')
  const fourth = knock(handshakes, '2001:db8:0:1:ffff::3')
  first[1]!.emit('close')
  t.is(fourth.state, 'waits', 'a session that ends later frees nothing again')
  handshakes.close()
})

test('where all slots are taken, the networks that wait take turns', t => {
  const handshakes = createHandshakes()
  const first = knockOften(handshakes, HANDSHAKES_MAX, i => `198.51.${i >> 8}.${i & 255}`)
  const many = knockOften(handshakes, 3, () => '192.0.2.1')
  const one = knock(handshakes, '192.0.2.2')
  handshakes.complete(first[0]!)
  handshakes.complete(first[1]!)
  t.deepEqual(
    [...many, one].map(({ state }) => state),
    ['begun', 'waits', 'waits', 'begun'],
  )
  many[1]!.destroy()
  handshakes.complete(first[2]!)
  t.deepEqual(
    [...many, one].map(({ state }) => state),
    ['begun', 'destroyed', 'begun', 'begun'],
    'one that left is passed over',
  )
  handshakes.close()
})

test('too many that wait are refused, and one that waits too long is ended', t => {
  const ends: { run: () => void; ms: number }[] = []
  const { setTimeout: real } = globalThis
  globalThis.setTimeout = ((run: () => void, ms: number) => ends.push({ run, ms })) as unknown as typeof setTimeout
  t.teardown(() => (globalThis.setTimeout = real))
  const handshakes = createHandshakes()
  knockOften(handshakes, HANDSHAKES_PER_NETWORK, () => '192.0.2.1')
  const waiting = knockOften(handshakes, HANDSHAKES_WAITING_PER_NETWORK, () => '192.0.2.1')
  t.deepEqual(statesOf(waiting), ['waits'])
  t.is(knock(handshakes, '192.0.2.1').state, 'destroyed')
  t.is(ends[0]!.ms, HANDSHAKES_WAITING_MS)
  ends[0]!.run()
  t.is(waiting[0]!.state, 'destroyed')
  t.is(knock(handshakes, '192.0.2.1').state, 'waits', 'its place is free again')
  handshakes.close()
  t.deepEqual(statesOf(waiting), ['destroyed'])
})

test('a client waits behind connections that say nothing, and has its session when one of them has gone', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const log = pino({ level: 'silent' })
  const broker = brokerService({ host: '127.0.0.1', port: 0, files: await openBrokerFiles(dir, log), log })
  await broker.start()
  t.teardown(() => broker.stop())
  const silent = Array.from({ length: HANDSHAKES_PER_NETWORK }, () => connect(broker.port(), '127.0.0.1'))
  await Promise.all(silent.map(socket => once(socket, 'connect')))
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  let isIn = false
  const entering = enter(t, { port: broker.port(), cn: 'edge:A:e1', ...kit }).then(() => (isIn = true))
  await new Promise(resolve => setTimeout(resolve, 500))
  t.false(isIn)
  silent[0]!.destroy()
  await entering
  t.deepEqual(broker.sessions(), ['edge:A:e1'])
})

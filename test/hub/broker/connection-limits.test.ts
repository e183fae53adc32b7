import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import test from 'ava'
import { createConnectionLimits } from '#hub/broker/connection-limits.ts'
import { GuardedStream } from '#hub/broker/guarded-stream.ts'
import {
  createBudget,
  HANDSHAKES_MAX,
  HANDSHAKES_PER_NETWORK,
  PACKET_MS,
  PARTIAL_MAX,
  PARTIAL_PER_NAME,
} from '#hub/broker/limits.ts'

let port = 1024

/** Properties of a connection before its handshake. */
function knockOf(remoteAddress: string) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress, remotePort: port++, isRefused: false, destroy: () => {} })
  socket.destroy = () => void (socket.isRefused = true)
  return socket
}

test('handshakes of one network are bounded, and other networks can still connect', t => {
  const connections = createConnectionLimits(new Set())
  const startHandshake = (address: string) => {
    const socket = knockOf(address)
    connections.startHandshake(socket as unknown as Socket)
    return socket
  }
  const first = Array.from({ length: HANDSHAKES_PER_NETWORK }, (_, i) => startHandshake(`2001:db8:0:1::${(i + 1).toString(16)}`))
  t.false(first.some(({ isRefused }) => isRefused))
  t.true(startHandshake('2001:db8:0:1:ffff::1').isRefused)
  t.false(startHandshake('2001:db8:0:2::1').isRefused)
  t.false(startHandshake('192.0.2.1').isRefused)
  first[0]!.emit('close')
  first[0]!.emit('close')
  t.false(startHandshake('2001:db8:0:1:ffff::2').isRefused)
  t.true(startHandshake('2001:db8:0:1:ffff::3').isRefused, 'one that ends makes room for one')
})

test('handshakes of all networks together are bounded', t => {
  const connections = createConnectionLimits(new Set())
  const knocked = Array.from({ length: HANDSHAKES_MAX + 1 }, (_, i) => {
    const socket = knockOf(`198.51.${i >> 8}.${i & 255}`)
    connections.startHandshake(socket as unknown as Socket)
    return socket
  })
  t.deepEqual(knocked.map(({ isRefused }) => isRefused).indexOf(true), HANDSHAKES_MAX)
})

test('a packet that is not complete in time ends its connection', async t => {
  const ends: { run: () => void; ms: number }[] = []
  const { setTimeout: real } = globalThis
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  const partial = createBudget(PARTIAL_PER_NAME, PARTIAL_MAX)
  const stream = new GuardedStream(socket as TLSSocket, { name: 'edge:s:e', partial, mayLag: false })
  const closed = new Promise<Error | undefined>(resolve => {
    stream.once('error', resolve)
  })
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    ends.push({ run, ms })
    return { unref: () => undefined }
  }) as unknown as typeof setTimeout
  try {
    // CONNECT of 100 bytes of which the header has come, MQTT 3.1.1 3.1.
    socket.emit('data', Buffer.from([0x10, 100, 0]))
  } finally {
    globalThis.setTimeout = real
  }
  t.is(ends.length, 1)
  t.true(ends[0]!.ms >= PACKET_MS && ends[0]!.ms < 2 * PACKET_MS)
  ends[0]!.run()
  t.regex((await closed)?.message ?? '', /not whole in time/)
  t.true(socket.destroyed)
})

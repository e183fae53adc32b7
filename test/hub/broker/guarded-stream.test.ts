import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import test from 'ava'
import { GuardedStream } from '#hub/broker/guarded-stream.ts'
import { PACKET_MS, PARTIAL_MAX, PARTIAL_PER_NAME } from '#hub/broker/limits.ts'
import { createBudget } from '#shared/core/budget.ts'

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

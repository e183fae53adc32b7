import test from 'ava'
import fc from 'fast-check'
import { frames } from '#hub/broker/frames.ts'
import { PACKET_MAX } from '#hub/broker/limits.ts'
import { createBudget } from '#shared/core/budget.ts'
import { connectPacket, header, packet, publishPacket, subscribePacket } from '../../support/raw-client.ts'

const CONNECT = connectPacket('edge:A:e1')
const PACKETS = [
  CONNECT,
  publishPacket('sites/A/edges/e1/status', Buffer.alloc(10)),
  subscribePacket(['sites/A/edges/e1/acks']),
  Buffer.of(0xc0, 0),
  publishPacket('sites/A/edges/e1/metadata', Buffer.alloc(70_000, 7), 3),
  Buffer.of(0xe0, 0),
]

test('bytes split anywhere give whole packets in order, CONNECT alone first, and leave no budget reserved', t => {
  const all = Buffer.concat(PACKETS)
  const cuts = fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 60 })
  const property = fc.property(cuts, sizes => {
    let reserved = 0
    const cutter = frames(bytes => ((reserved += bytes), true))
    const out: Buffer[] = []
    const feed = (bytes: Buffer): void => {
      const taken = cutter.take(bytes)
      if ('refused' in taken) throw new Error(taken.refused)
      out.push(...taken.whole)
      if (!taken.rest) return
      if (!Buffer.concat(out).equals(CONNECT)) throw new Error('more than CONNECT came out')
      feed(taken.rest)
    }
    let at = 0
    for (let i = 0; at < all.length; i++) {
      const size = sizes[i % sizes.length]!
      feed(all.subarray(at, at + size))
      at += size
    }
    return Buffer.concat(out).equals(all) && reserved === 0 && cutter.announced() === 0
  })
  t.notThrows(() => fc.assert(property))
})

for (const [what, bytes, why] of [
  ['a packet before CONNECT', [Buffer.of(0xc0, 0)], /before CONNECT/],
  ['a second CONNECT', [CONNECT, CONNECT], /second CONNECT/],
  ['a CONNECT of 16 KiB and a byte', [header(0x10, 16 * 1024 + 1)], /announced 16385 bytes/],
  ['a SUBSCRIBE of 16 KiB and a byte', [CONNECT, header(0x82, 16 * 1024 + 1)], /announced 16385 bytes/],
  ['a message of 4 MiB and a byte', [CONNECT, header(0x32, PACKET_MAX + 1)], /announced 4194305 bytes/],
  ['the longest length there is', [CONNECT, Buffer.of(0x32, 255, 255, 255, 127)], /announced 268435455 bytes/],
  ['a length of five bytes', [CONNECT, Buffer.of(0x32, 255, 255, 255, 255, 1)], /a length that no packet has/],
  ['QoS 2', [CONNECT, publishPacket('t', Buffer.alloc(1), 4)], /QoS 2/],
  ['PUBREL', [CONNECT, packet(0x62, Buffer.of(0, 1))], /a packet of type 6/],
] as const) {
  test(`${what} is refused by its header, whole or byte by byte`, t => {
    for (const step of [1, 10_000]) {
      const cutter = frames(() => true)
      const all = Buffer.concat([...bytes])
      let refused: string | undefined
      for (let at = 0; at < all.length && refused === undefined; ) {
        const part = all.subarray(at, at + step)
        const taken = cutter.take(part)
        if ('refused' in taken) refused = taken.refused
        else at += part.length - (taken.rest?.length ?? 0)
      }
      t.regex(refused ?? 'nothing', why)
    }
  })
}

test('a packet that announces 4 MiB reserves at most twice the bytes received, and ends at the bound', t => {
  let reserved = 0
  const cutter = frames(bytes => {
    if (reserved + bytes > 2_000_000) return false
    reserved += bytes
    return true
  })
  cutter.take(CONNECT)
  cutter.take(header(0x32, PACKET_MAX))
  t.true(reserved <= 4096)
  let sent = 0
  for (; sent < 900_000; sent += 1000) cutter.take(Buffer.alloc(1000))
  t.true(reserved <= 2 * sent, `${reserved} for ${sent}`)
  let refused = ''
  for (let i = 0; i < 2000 && refused === ''; i++) {
    const taken = cutter.take(Buffer.alloc(1000))
    if ('refused' in taken) refused = taken.refused
  }
  t.regex(refused, /too many bytes/)
  cutter.clear()
  t.is(reserved, 0)
})

test('a budget bounds each name and the total, and returned bytes can be taken again', t => {
  const held = createBudget(10, 15)
  t.deepEqual([held.take('a', 10), held.take('a', 1), held.take('b', 6), held.take('b', 5)], [true, false, false, true])
  held.give('a', 4)
  t.deepEqual([held.hasRoom('a', 4), held.hasRoom('b', 5)], [true, false])
})

/** A device behind a router that is answered for by others: only what bears its own network and address counts. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import test from 'ava'
import type { ReadRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import { ackOf, ackWith, heldBy, poison, readAsked, resultOf } from '#scripts/simulator/faulty/exchange.ts'
import { real } from '#scripts/simulator/bacnet/wire.ts'
import { never, openTransport, patient } from './harness.ts'
import { datagram } from '../../../support/wire.ts'

const STATION = { network: 700, mac: Buffer.of(3) }
/** BVLC 4, NPCI with a destination of one byte 7. */
const APDU_AT = 11
const question: ReadRequest = { service: 12, targets: [{ type: 0, instance: 5, property: 85 }] }

for (const [whose, source] of [
  ['the router itself', undefined],
  ['its address on another network', { network: 701, mac: [3] }],
  ['another address on its network', { network: 700, mac: [4] }],
  ['a longer address that begins like its own', { network: 700, mac: [3, 0] }],
  ['an address and network that are swapped', { network: 3, mac: [2, 188] }],
] as const) {
  test(`an answer of ${whose} is nobody's, and the device's own still counts`, async t => {
    const router = createSocket('udp4')
    t.teardown(() => router.close())
    router.on('message', (bytes, { port, address }) => {
      const asked = readAsked(bytes.subarray(APDU_AT))
      const lie = datagram(ackOf(asked, poison()), source && { network: source.network, mac: [...source.mac] })
      const right = ackWith(asked, resultOf(asked, asked.targets[0]!, real(heldBy(5))))
      router.send(lie, port, address, () => router.send(datagram(right, { network: 700, mac: [3] }), port, address))
    })
    const listening = once(router, 'listening')
    router.bind(0, '127.0.0.1')
    await listening
    const transport = await openTransport(t)
    const peer = { host: '127.0.0.1', port: router.address().port, station: STATION }
    const outcome = await transport.request(peer, question, patient, never)
    t.like(outcome, { state: 'results', results: [{ values: [{ type: 'real', value: heldBy(5) }] }] })
    t.is(transport.counters().unmatched, 1)
  })
}

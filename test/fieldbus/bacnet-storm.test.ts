/** Many requests at once, slow peers among quick ones, and answers that are noise. */
import test from 'ava'
import { firstBatch } from '#shared/core/bacnet/batch.ts'
import { bacnetDriver } from '../../appliance/drivers/bacnet/driver.ts'
import { held, inputs, never, openTransport, patient, range } from './bacnet-harness.ts'
import { openUdpPeer } from './udp-peer.ts'
import { answer, datagram, mutate, seeded } from './wire.ts'

test('four hundred reads of slow and quick devices at one address are all right', async t => {
  const transport = await openTransport(t)
  const drivers = await Promise.all(
    range(8).map(async k => {
      const device = await openUdpPeer(t, (request, reply) => {
        const apdu = answer(request, i => 1000 * k + i)
        setTimeout(reply, k % 2 ? 12 : 0, apdu)
      })
      return bacnetDriver(transport, device, patient, firstBatch(1476), () => 1_000)
    }),
  )
  const reads = range(400).map(async n => {
    const k = n % 8
    const instances = [n, n + 1, n + 2]
    const readings = await drivers[k]!.read(inputs(...instances), never)
    return readings.every(({ v }, i) => v === 1000 * k + instances[i]!)
  })
  const right = await Promise.all(reads)
  t.is(right.filter(Boolean).length, 400)
})

test('three thousand mutated answers leave no read open and end nothing', async t => {
  const random = seeded(11)
  const transport = await openTransport(t)
  const ends: Record<string, number> = {}
  for (const k of range(15)) {
    // Ids given up stay unused for a while, so every round has an address of its own.
    const peer = await openUdpPeer(
      t,
      (request, _, send) => {
        const mutated = mutate(datagram(answer(request, held)), random)
        if (mutated.length) send(mutated)
      },
      `127.0.1.${k + 1}`,
    )
    const questions = range(200).map(i => inputs(i, i + 1).map(({ address }) => address.target))
    const outcomes = await Promise.all(
      questions.map(targets =>
        transport.request({ ...peer, concurrency: 200 }, { service: 14, targets }, { timeoutMs: 100, retries: 0 }, never),
      ),
    )
    for (const { state } of outcomes) ends[state] = (ends[state] ?? 0) + 1
  }
  t.is(
    Object.values(ends).reduce((sum, n) => sum + n),
    3000,
  )
  t.true(transport.counters().sent === 3000 && transport.counters().garbled > 100)
  t.log(ends, transport.counters())
})

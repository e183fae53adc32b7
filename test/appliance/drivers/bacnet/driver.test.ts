/** The driver against peers on real sockets that behave badly: no crash, no wrong value, and every read ends. */
import test from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { bad, good, hasty, held, inputs, never, openDriver, openTransport, patient, range } from './harness.ts'
import { SILENT } from '../../../support/sites/catalogue-site.ts'
import { type Behaviour, openUdpPeer } from '../../../support/udp-peer.ts'
import { answer, datagram, hex } from '../../../support/wire.ts'

const services = (asked: { service: number; instances: number[] }[]) =>
  asked.map(({ service, instances }) => `${service === 12 ? 'RP' : 'RPM'} ${instances.length}`)

test('an error for one of twenty points makes that point bad and leaves the others', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) => reply(answer(request, i => (i === 7 ? undefined : held(i)))))
  const readings = await driver.read(inputs(...range(20)), never)
  t.deepEqual(
    readings,
    range(20).map(i => (i === 7 ? bad(i) : good(i, held(i)))),
  )
  t.deepEqual(services(peer.asked), ['RPM 20'])
  t.is(driver.report().point_error, 'analog-input,7: error unknown-object (class 1)')
})

test('a value that is no number is bad for its point alone', async t => {
  const { driver } = await openDriver(t, (request, reply) => reply(answer(request, i => (i === 1 ? Number.NaN : held(i)))))
  t.deepEqual(await driver.read(inputs(0, 1, 2), never), [good(0, 0), bad(1), good(2, 20)])
})

test('two points at one address share one value', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) => reply(answer(request, held)))
  const [first, second] = [inputs(4)[0]!, { ...inputs(4)[0]!, point_id: 'twin' }]
  const readings = await driver.read([first, second], never)
  t.deepEqual(
    readings.map(({ id, v }) => [id, v]),
    [
      ['ai-4', 40],
      ['twin', 40],
    ],
  )
  t.deepEqual(peer.asked[0]!.instances, [4])
})

for (const [name, code] of [
  ['Abort 4 (segmentation-not-supported)', '71%04'],
  ['Abort 1 (buffer-overflow)', '71%01'],
  ['Abort 11 (apdu-too-long)', '71%0b'],
  ['Reject 1 (buffer-overflow)', '60%01'],
  ['Reject 7 (too-many-arguments)', '60%07'],
] as const) {
  test(`${name} halves the batch, and the size that works is remembered`, async t => {
    const { driver, peer } = await openDriver(t, (request, reply) =>
      request.instances.length > 5
        ? reply(hex(code.replace('%', request.invokeId.toString(16).padStart(2, '0'))))
        : reply(answer(request, held)),
    )
    const wanted = range(16).map(i => good(i, held(i)))
    t.deepEqual(await driver.read(inputs(...range(16)), never), wanted)
    t.deepEqual(services(peer.asked), ['RPM 16', 'RPM 8', 'RPM 4', 'RPM 4', 'RPM 4', 'RPM 4'])
    t.is(driver.report().batch_size, 4)
    peer.asked.length = 0
    t.deepEqual(await driver.read(inputs(...range(16)), never), wanted)
    t.is(peer.asked.length, 4)
  })
}

test('Reject 9 falls back to ReadProperty for good', async t => {
  const { driver, peer } = await openDriver(t, (request, reply) =>
    request.service === 14 ? reply(Buffer.of(0x60, request.invokeId, 9)) : reply(answer(request, held)),
  )
  t.deepEqual(await driver.read(inputs(1, 2), never), [good(1, 10), good(2, 20)])
  t.deepEqual(await driver.read(inputs(3), never), [good(3, 30)])
  t.deepEqual(services(peer.asked), ['RPM 2', 'RP 1', 'RP 1', 'RP 1'])
})

test('an Error for a whole batch is narrowed down to the point that causes it', async t => {
  const { driver } = await openDriver(t, (request, reply) =>
    reply(
      request.instances.includes(5)
        ? Buffer.from([0x50, request.invokeId, request.service, 0x91, 1, 0x91, 31])
        : answer(request, held),
    ),
  )
  const readings = await driver.read(inputs(...range(12)), never)
  const instanceOf = ({ id }: Reading) => Number(id.slice('ai-'.length))
  t.deepEqual(
    readings.toSorted((a, b) => instanceOf(a) - instanceOf(b)),
    range(12).map(i => (i === 5 ? bad(i) : good(i, held(i)))),
  )
  t.is(driver.report().batch_size, 92)
})

for (const [name, behaviour, kind, reason] of [
  ['answers nothing', () => undefined, 'silent', /no answer from 127\.0\.0\.1:\d+ in 2 attempts/],
  ['answers with noise', (_, __, send) => send(hex('00 01 02 03 04 05 06 07 08 09 0a')), 'silent', /no answer/],
  ['sends the datagrams that end other clients', (_, __, send) => send(hex('810a00090100400800')), 'silent', /no answer/],
  ['cuts its answers short', (request, reply) => reply(answer(request, held).subarray(0, -3)), 'fault', /malformed/],
  [
    'answers for another object',
    (request, reply) => reply(answer({ ...request, instances: [9, 8] }, held)),
    'fault',
    /does not contain/,
  ],
  [
    'answers another service',
    (request, reply) => reply(answer({ ...request, service: request.service ^ 2 }, held)),
    'fault',
    /service 1[24]/,
  ],
  [
    'answers with a wrong invoke id',
    (request, reply) => reply(answer({ ...request, invokeId: request.invokeId ^ 64 }, held)),
    'silent',
    /no answer/,
  ],
  [
    'answers as if from behind a router',
    (request, _, send) => send(datagram(answer(request, held), { network: 7, mac: [3] })),
    'silent',
    /no answer/,
  ],
] as [string, Behaviour, DeviceError['kind'], RegExp][]) {
  test(`a device that ${name} gives no value, and the next read is right`, async t => {
    let isWell = false
    const { driver, patientDriver, transport } = await openDriver(
      t,
      (request, reply, send, from) => (isWell ? reply(answer(request, held)) : behaviour(request, reply, send, from)),
      { retryPolicy: hasty },
    )
    const error = await t.throwsAsync(driver.read(inputs(1, 2), never), { instanceOf: DeviceError })
    t.is((error as DeviceError).kind, kind)
    t.regex(error!.message, reason)
    // Both attempts of the request, and both of the point that is asked whether the device is there.
    t.is(transport.counters().sent, 4)
    isWell = true
    t.deepEqual(await patientDriver.read(inputs(1, 2), never), [good(1, 10), good(2, 20)])
  })
}

test("an answer from another address is nobody's", async t => {
  const other = await openUdpPeer(t, () => undefined, '127.0.0.2')
  const { driver, transport } = await openDriver(
    t,
    (request, _, __, from) => void other.socket.send(datagram(answer(request, held)), from.port, from.address),
    { retryPolicy: hasty },
  )
  await t.throwsAsync(driver.read(inputs(1, 2), never), { message: /no answer/ })
  t.is(transport.counters().unmatched, 4)
})

test('an answer from another port of the same address is taken', async t => {
  const router = await openUdpPeer(t, () => undefined)
  const { driver } = await openDriver(
    t,
    (request, _, __, from) => void router.socket.send(datagram(answer(request, held)), from.port, from.address),
  )
  t.deepEqual(await driver.read(inputs(1, 2), never), [good(1, 10), good(2, 20)])
})

test('a late answer is dropped and never becomes the value of the next read', async t => {
  const late: (() => void)[] = []
  let isWell = false
  const { driver, patientDriver, transport } = await openDriver(
    t,
    (request, reply) => {
      if (!isWell) return void late.push(() => reply(answer(request, () => 666)))
      for (const send of late.splice(0)) send()
      reply(answer(request, held))
    },
    { retryPolicy: hasty },
  )
  await t.throwsAsync(driver.read(inputs(1, 2), never), { message: /no answer/ })
  isWell = true
  t.deepEqual(await patientDriver.read(inputs(1, 2), never), [good(1, 10), good(2, 20)])
  t.is(transport.counters().unmatched, 4)
})

test('an answer to the first attempt is still good after the second was sent, and its double is dropped', async t => {
  const replies: (() => void)[] = []
  const { driver, transport, peer } = await openDriver(
    t,
    (request, reply) => {
      replies.push(() => reply(answer(request, held)))
      if (replies.length > 1) for (const send of [replies[0]!, replies[0]!, replies.at(-1)!]) send()
    },
    { retryPolicy: { timeoutMs: 300, retries: 5 } },
  )
  t.deepEqual(await driver.read(inputs(1, 2), never), [good(1, 10), good(2, 20)])
  t.is(peer.asked[0]!.invokeId, peer.asked[1]!.invokeId)
  t.deepEqual(await driver.read(inputs(3, 4), never), [good(3, 30), good(4, 40)])
  t.true(transport.counters().unmatched >= 2)
})

test('when a device falls silent half-way, what it said is kept and the rest is bad', async t => {
  let answered = 0
  const { driver, peer } = await openDriver(
    t,
    (request, reply) => {
      if (answered++ < 2) reply(answer(request, held))
    },
    { retryPolicy: { timeoutMs: 600, retries: 1 }, batch: firstBatch(1476, 2) },
  )
  const readings = await driver.read(inputs(...range(10)), never)
  t.deepEqual(
    readings,
    range(10).map(i => (i < 4 ? good(i, held(i)) : bad(i))),
  )
  // Then a point that was answered is asked twice, whether the device is there, all with two attempts.
  t.is(peer.asked.length, 2 + 2 + 4)
})

test('a request that cannot be sent fails at once, not after its timeouts', async t => {
  const transport = await openTransport(t)
  const driver = new BacnetDriver(
    transport,
    { host: '203.0.113.1', port: 47_808 },
    { timeoutMs: 60_000, retries: 5 },
    firstBatch(1476),
    () => 1_000,
  )
  await t.throwsAsync(driver.read(inputs(1, 2), never), { message: /cannot be sent/ })
})

test('a read ends at once when its caller gives up', async t => {
  const { driver } = await openDriver(t, () => undefined, { retryPolicy: { timeoutMs: 60_000, retries: 5 } })
  const giveUp = new AbortController()
  const reading = driver.read(inputs(1, 2), giveUp.signal)
  setImmediate(() => giveUp.abort())
  await t.throwsAsync(reading, { message: 'cancelled' })
})

test('requests to us are never answered', async t => {
  const transport = await openTransport(t)
  let heard = 0
  const stranger = await openUdpPeer(t, () => heard++)
  const device = await openUdpPeer(t, (request, reply, _, from) => {
    // Confirmed request, Who-Is, I-Am and SegmentACK, sent to the client before its answer.
    for (const bytes of ['810a001101040005010c0c000000051955', '810b00080100 1008', '810a00090100400800']) {
      stranger.socket.send(hex(bytes), from.port, from.address)
    }
    stranger.socket.send(Buffer.alloc(0), from.port, from.address, () => reply(answer(request, held)))
  })
  const driver = new BacnetDriver(transport, device, patient, firstBatch(1476), () => 1_000)
  for (let i = 0; i < 5; i++) await driver.read(inputs(1, 2), never)
  t.is(heard, 0)
})

test('a port that is taken is named', async t => {
  const peer = await openUdpPeer(t, () => undefined)
  await t.throwsAsync(openBacnetTransport({ address: '127.0.0.1', port: peer.port }, Date.now, SILENT), {
    message: new RegExp(
      `^BACnet/IP cannot use UDP port ${peer.port} of 127\\.0\\.0\\.1: bind EADDRINUSE 127\\.0\\.0\\.1:${peer.port}, which process ${process.pid} \\(node\\) holds$`,
    ),
  })
})

test('the driver reads a whole device in batches that fit its APDU', async t => {
  const objects = range(200).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => instance + 0.25 }))
  const device = await openBacnetDevice({ device_instance: 7, name: 'sim', objects, maxApdu: 480 })
  t.teardown(() => device.close())
  const driver = new BacnetDriver(await openTransport(t), device, patient, firstBatch(480), () => 1_000)
  t.deepEqual(
    await driver.read(inputs(...range(200)), never),
    range(200).map(i => good(i, i + 0.25)),
  )
  t.is(device.requests(), Math.ceil(200 / 29))
})

test('the invoke id of a request without answer is not used again for a while', async t => {
  let silent = true
  const { driver, patientDriver, peer } = await openDriver(t, (request, reply) => silent || reply(answer(request, held)), {
    retryPolicy: hasty,
  })
  await driver.read(inputs(0), never).catch(() => undefined)
  silent = false
  const lost = new Set(peer.asked.map(({ invokeId }) => invokeId))
  peer.asked.length = 0
  for (let i = 0; i < 255; i++) await patientDriver.read(inputs(1), never)
  t.is(peer.asked.length, 255)
  t.false(
    peer.asked.some(({ invokeId }) => lost.has(invokeId)),
    'a late answer would be taken for that of another request',
  )
})

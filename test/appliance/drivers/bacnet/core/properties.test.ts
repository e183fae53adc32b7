/** What holds for every value, every request and every cut of the bytes. The other side is written apart from the product's. */
import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { readCovNotification } from '#appliance/drivers/bacnet/core/cov-notification.ts'
import { readApdu, readFrame } from '#appliance/drivers/bacnet/core/frame.ts'
import { readIAm, SEGMENTATIONS } from '#appliance/drivers/bacnet/core/i-am.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import { type ReadRequest, readReply } from '#appliance/drivers/bacnet/core/reply.ts'
import { Malformed, openCursor, readValue } from '#appliance/drivers/bacnet/core/tag.ts'
import { encodeRequest } from '#appliance/drivers/bacnet/codec.ts'
import { ackWith, readAsked, resultOf } from '#scripts/simulator/faulty/exchange.ts'
import { datagram } from '../../../../support/wire.ts'
import { bytesOf, integerBytes, tagged, written } from './written-values.ts'

const library = createRequire(import.meta.url)('node-bacnet/lib/services')

const target: fc.Arbitrary<Target> = fc
  .record({
    type: fc.integer({ min: 0, max: 1023 }),
    instance: fc.integer({ min: 0, max: 4_194_302 }),
    property: fc.integer({ min: 0, max: 4_194_303 }),
    index: fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }),
  })
  .map(({ index, ...rest }) => (index === undefined ? rest : { ...rest, index }))
const nameOf = ({ type, instance, property, index }: Target) => `${type}:${instance}:${property}:${index}`
const question: fc.Arbitrary<ReadRequest> = fc
  .uniqueArray(target, { minLength: 1, maxLength: 60, selector: nameOf })
  .chain(targets =>
    fc.constantFrom(...(targets.length === 1 ? [12, 14] : [14])).map(service => ({ service, targets }) as ReadRequest),
  )
const invokeId = fc.integer({ min: 1, max: 255 })

/** The bytes in the middle of a larger buffer whose rest, read by mistake, would look like more of the same. */
function poisoned(bytes: Uint8Array): Uint8Array {
  const around = Buffer.alloc(bytes.length + 64, 0x3f)
  around.set(bytes, 32)
  return around.subarray(32, 32 + bytes.length)
}

test('a value of every type is read as it was written, and any cut of it is refused', t => {
  fc.assert(
    fc.property(written, ({ value, bytes }) => {
      const cursor = openCursor(poisoned(bytes))
      t.deepEqual(readValue(cursor), value)
      t.is(cursor.at, bytes.length)
      for (let length = 0; length < bytes.length; length++) {
        t.throws(() => readValue(openCursor(poisoned(bytes.subarray(0, length)))), { instanceOf: Malformed })
      }
    }),
    { numRuns: 1500 },
  )
})

test('a request says what was asked, as the device at the other end reads it', t => {
  fc.assert(
    fc.property(question, invokeId, fc.boolean(), (asked, id, segmentation) => {
      const bytes = encodeRequest(asked, id, undefined, segmentation)
      t.is(bytes.readUInt16BE(2), bytes.length)
      const apdu = bytes.subarray(6)
      t.deepEqual(readAsked(apdu), { invokeId: id, service: asked.service, targets: asked.targets })
      const decoder = asked.service === 12 ? library.readProperty : library.readPropertyMultiple
      t.is(decoder.decode(bytes, 10, bytes.length - 10).len, bytes.length - 10)
    }),
    { numRuns: 400 },
  )
})

test('a request behind a router differs in its network header alone', t => {
  const station = fc.record({
    network: fc.integer({ min: 1, max: 65_534 }),
    mac: fc.uint8Array({ minLength: 1, maxLength: 7 }),
  })
  fc.assert(
    fc.property(question, invokeId, station, (asked, id, { network, mac }) => {
      const direct = encodeRequest(asked, id, undefined, true)
      const routed = encodeRequest(asked, id, { network, mac }, true)
      const head = Buffer.from([1, 0x24, network >> 8, network & 0xff, mac.length, ...mac, 0xff])
      t.deepEqual(routed.subarray(4), Buffer.concat([head, direct.subarray(6)]))
      t.is(routed.readUInt16BE(2), routed.length)
    }),
    { numRuns: 200 },
  )
})

/** Per target values or an error, in any order, as a device would answer. */
const answered = question.chain(asked =>
  fc
    .record({
      asked: fc.constant(asked),
      results: fc.tuple(
        ...asked.targets.map(() =>
          fc.oneof({ weight: 4, arbitrary: fc.array(written, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.nat(200) }),
        ),
      ),
      order: fc.shuffledSubarray(
        asked.targets.map((_, i) => i),
        { minLength: asked.targets.length },
      ),
    })
    .filter(({ asked, results }) => asked.service === 14 || Array.isArray(results[0])),
)

test('an answer in any order is read as it was written; any cut of it, and any other question, is refused', t => {
  fc.assert(
    fc.property(answered, invokeId, ({ asked, results, order }, id) => {
      const request = { invokeId: id, ...asked }
      const bodies = order.map(i => {
        const result = results[i]!
        if (Array.isArray(result)) return resultOf(request, asked.targets[i]!, Buffer.concat(result.map(({ bytes }) => bytes)))
        return resultOf(request, asked.targets[i]!, Buffer.concat([tagged(9, Buffer.of(2)), tagged(9, Buffer.of(result))]), 5)
      })
      const bytes = ackWith(request, Buffer.concat(bodies))
      const read = (some: Uint8Array, of: ReadRequest) => readReply(readApdu(poisoned(some))!, of)
      t.deepEqual(read(bytes, asked), {
        state: 'results',
        results: results.map(result =>
          Array.isArray(result) ? { values: result.map(({ value }) => value) } : { error: { errorClass: 2, errorCode: result } },
        ),
      })
      for (let length = 3; length < bytes.length; length += 1 + (bytes.length >> 6)) {
        t.is(read(bytes.subarray(0, length), asked).state, 'garbled')
      }
      const [first, ...rest] = asked.targets as [Target, ...Target[]]
      const other = { ...asked, targets: [{ ...first, instance: first.instance ^ 1 }, ...rest] }
      if (!rest.some(one => nameOf(one) === nameOf(other.targets[0]!))) t.is(read(bytes, other).state, 'garbled')
      t.is(
        read(bytes, { ...asked, targets: [...asked.targets, { ...first, property: first.property ^ 0x20_0000 }] }).state,
        'garbled',
      )
    }),
    { numRuns: 250 },
  )
})

test('whatever the bytes, a datagram is read within its own and the rest makes no difference', t => {
  const ask: ReadRequest = { service: 14, targets: [{ type: 0, instance: 1, property: 85 }] }
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 120 }),
    written.map(({ bytes }) => new Uint8Array(bytes)),
  )
  fc.assert(
    fc.property(payload, fc.integer({ min: 0, max: 255 }), invokeId, (content, first, id) => {
      const whole = datagram(Buffer.from([first, id, 14, ...content]))
      const judge = (bytes: Uint8Array) => {
        const frame = readFrame(bytes)
        const apdu = frame && readApdu(frame.apdu)
        return apdu && readReply(apdu, ask)
      }
      t.deepEqual(judge(poisoned(whole)), judge(new Uint8Array(whole)))
    }),
    { numRuns: 3000 },
  )
})

const unsigned = (value: number) => tagged(2, integerBytes(BigInt(value), value < 0x100 ? 1 : value < 0x1_0000 ? 2 : 4))
const object = (type: number, instance: number) => bytesOf(4, to => to.writeUInt32BE(((type << 22) | instance) >>> 0))

test('an I-Am is read as it was written, and any cut of it is refused', t => {
  const said = fc.record({
    device_instance: fc.integer({ min: 0, max: 4_194_302 }),
    max_apdu: fc.integer({ min: 50, max: 65_535 }),
    segmentation: fc.constantFrom(...SEGMENTATIONS),
    vendor_id: fc.integer({ min: 0, max: 65_535 }),
  })
  fc.assert(
    fc.property(said, iAm => {
      const bytes = Buffer.concat([
        tagged(12, object(8, iAm.device_instance)),
        unsigned(iAm.max_apdu),
        tagged(9, Buffer.of(SEGMENTATIONS.indexOf(iAm.segmentation))),
        unsigned(iAm.vendor_id),
      ])
      t.deepEqual(readIAm(poisoned(bytes)), iAm)
      for (let length = 0; length < bytes.length; length++) t.is(typeof readIAm(poisoned(bytes.subarray(0, length))), 'string')
    }),
    { numRuns: 300 },
  )
})

test('a notification of a changed value is read as it was written, and any cut of it is refused', t => {
  const id = fc.record({ type: fc.integer({ min: 0, max: 1023 }), instance: fc.integer({ min: 0, max: 4_194_302 }) })
  const seconds = fc.integer({ min: 0, max: 65_535 })
  fc.assert(
    fc.property(id, seconds, seconds, written, (of, processId, remainingSecs, { value, bytes: present }) => {
      const context = (number: number, content: Buffer) => Buffer.concat([Buffer.of((number << 4) | 8 | content.length), content])
      const bytes = Buffer.concat([
        context(0, integerBytes(BigInt(processId), 2)),
        context(1, object(8, 1234)),
        context(2, object(of.type, of.instance)),
        context(3, integerBytes(BigInt(remainingSecs), 2)),
        Buffer.of(0x4e, 0x09, 85, 0x2e),
        present,
        Buffer.of(0x2f, 0x09, 111, 0x2e, 0x82, 4, 0, 0x2f, 0x4f),
      ])
      const wanted = { processId, device_instance: 1234, object: of, remainingSecs, presentValue: [value] }
      t.deepEqual(readCovNotification(poisoned(bytes)), wanted)
      for (let length = 0; length < bytes.length; length += 1 + (bytes.length >> 6)) {
        t.is(typeof readCovNotification(poisoned(bytes.subarray(0, length))), 'string')
      }
    }),
    { numRuns: 300 },
  )
})

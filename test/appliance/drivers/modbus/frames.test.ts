import test from 'ava'
import { formatException, isAboutAddress, isGatewaySilence } from '#appliance/drivers/modbus/core/pdu.ts'
import fc from 'fast-check'
import { findCompetingRequests, stillExpected } from '#appliance/drivers/modbus/core/late-replies.ts'
import { crc16, findRtuReply, frameGapMs, wireMs } from '#appliance/drivers/modbus/core/rtu.ts'
import { readTcpFrame, tcpFrame } from '#appliance/drivers/modbus/core/tcp.ts'
import type { RegisterRange } from '#appliance/drivers/modbus/core/point.ts'
import { encodeRequest } from '#appliance/drivers/modbus/codec.ts'
import { rtuAnswer } from '#scripts/simulator/modbus/rtu.ts'
import { hex } from '../../../support/wire.ts'

const two: RegisterRange = { table: 'holding', address: 0x6b, count: 3 }

test('requests are encoded as in the examples of the standards', t => {
  t.is(Buffer.from(tcpFrame(0x1501, encodeRequest(17, two).subarray(0, -2))).toString('hex'), '1501000000061103006b0003')
  t.is(Buffer.from(encodeRequest(17, two)).toString('hex'), '1103006b00037687')
  t.is(Buffer.from(encodeRequest(1, { table: 'coil', address: 0, count: 10 })).toString('hex'), '01010000000abc0d')
  t.is(crc16(hex('0207'), 0, 2), 0x1241)
})

test('a frame is read when it is complete, and separated from the next', t => {
  const frame = hex('0001 0000 0005 01 03 02 002a')
  for (let length = 0; length < frame.length; length++) t.is(readTcpFrame(frame.subarray(0, length)).state, 'partial')
  const read = readTcpFrame(Buffer.concat([frame, hex('ffff')]))
  t.like(read, { state: 'frame', id: 1, unit: 1, end: frame.length })
})

test('arbitrary bytes never make a frame reader fail or read beyond the end', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 255 }), (bytes, unit) => {
      const frame = readTcpFrame(bytes)
      if (frame.state === 'frame') t.true(frame.end <= bytes.length && frame.pdu.length >= 2)
      const found = findRtuReply(bytes, unit, two)
      if (found) t.true(found.end <= bytes.length)
    }),
  )
  t.pass()
})

test('an answer on a serial line is found after any noise', t => {
  const answer = rtuAnswer({ unit: 17, code: 3, address: two.address, count: two.count })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), noise => {
      const found = findRtuReply(Buffer.concat([noise, answer]), 17, two)
      t.deepEqual(Buffer.from((found!.reply as { bytes: Uint8Array }).bytes), answer.subarray(3, 9))
      t.is(found!.end, noise.length + answer.length)
    }),
  )
  t.is(findRtuReply(answer.subarray(0, -1), 17, two), undefined)
  t.is(findRtuReply(answer, 16, two), undefined)
})

test('the checksum detects up to three flipped bits', t => {
  const answer = rtuAnswer({ unit: 17, code: 3, address: two.address, count: two.count })
  const bit = fc.integer({ min: 0, max: 8 * answer.length - 1 })
  fc.assert(
    fc.property(fc.uniqueArray(bit, { minLength: 1, maxLength: 3 }), bits => {
      const turned = Buffer.from(answer)
      for (const at of bits) turned[at >> 3]! ^= 1 << (at & 7)
      t.is(findRtuReply(turned, 17, two), undefined)
    }),
    { numRuns: 2000 },
  )
})

test('a reply that an earlier unanswered request may have caused is ambiguous for a while', t => {
  const unanswered = [{ unit: 1, range: two, sentAt: 1000, timeoutMs: 100 }]
  const data = { state: 'data', bytes: new Uint8Array(6) } as const
  const one = { ...two, count: 1 }
  t.deepEqual(findCompetingRequests(unanswered, 1, { ...two, address: 9 }, data, 1300), { count: 1, waitMs: 450 })
  t.deepEqual(findCompetingRequests(unanswered, 2, two, data, 1300), { count: 0, waitMs: 0 })
  t.deepEqual(findCompetingRequests(unanswered, 1, one, data, 1300), { count: 0, waitMs: 0 })
  t.deepEqual(findCompetingRequests(unanswered, 1, { ...two, table: 'input' }, data, 1300), { count: 0, waitMs: 0 })
  t.is(findCompetingRequests(unanswered, 1, one, { state: 'exception', code: 2 }, 1300).count, 1)
  t.is(stillExpected(unanswered, 1500).length, 1)
  t.is(stillExpected(unanswered, 1501).length, 0)
})

test('the duration of frames and of the silence between them depends on the speed of the line', t => {
  t.is(frameGapMs(115_200), 1.75)
  t.is(Math.round(frameGapMs(9600) * 100) / 100, 4.01)
  t.is(Math.round(wireMs({ table: 'holding', address: 0, count: 125 }, 1200)), 2411)
})

/** @source MODBUS Application Protocol Specification V1.1b3, 7 */
for (const [code, words] of [
  [1, 'illegal function'],
  [2, 'illegal data address'],
  [3, 'illegal data value'],
  [4, 'device failure'],
  [5, 'acknowledge'],
  [6, 'device busy'],
  [7, 'unknown'],
  [8, 'memory parity error'],
  [9, 'unknown'],
  [10, 'gateway path unavailable'],
  [11, 'gateway target does not respond'],
  [200, 'unknown'],
] as const) {
  test(`exception ${code} is described as: ${words}`, t => t.is(formatException(code), `exception ${code} (${words})`))
}

test('an exception concerns the address, the gateway or the whole unit', t => {
  const codes = Array.from({ length: 13 }, (_, code) => code)
  t.deepEqual(codes.filter(isAboutAddress), [1, 2, 3])
  t.deepEqual(codes.filter(isGatewaySilence), [10, 11])
})

import test from 'ava'
import fc from 'fast-check'
import { decodeBits, decodeRegisters, isRounded } from '#appliance/drivers/modbus/core/decode.ts'
import { hasGap, splitBlock, planBlocks } from '#appliance/drivers/modbus/core/plan.ts'
import { WORD_ORDERS } from '#appliance/drivers/modbus/core/byte-order.ts'
import { REGISTER_FORMATS, parseModbusAddress, type RegisterRange } from '#appliance/drivers/modbus/core/point.ts'
import { hex } from '../../../support/wire.ts'

for (const [text, wanted] of [
  ['holding:100:float32:CDAB', { table: 'holding', address: 100, count: 2, format: 'float32', order: 'CDAB' }],
  ['input:5:int16', { table: 'input', address: 5, count: 1, format: 'int16', order: 'BADC' }],
  ['holding:65532:uint64', { table: 'holding', address: 65_532, count: 4, format: 'uint64', order: 'BADC' }],
  ['holding:9:uint64:CDABGHEF', { table: 'holding', address: 9, count: 4, format: 'uint64', order: 'CDABGHEF' }],
  ['input:9:bit:3', { table: 'input', address: 9, count: 1, format: 'bits', low: 3, high: 3, order: 'BADC' }],
  ['holding:9:bits:0-15:ABCD', { table: 'holding', address: 9, count: 1, format: 'bits', low: 0, high: 15, order: 'ABCD' }],
  ['input:9:int16:BA', { table: 'input', address: 9, count: 1, format: 'int16', order: 'BADC' }],
  ['input:9:bit:3:AB', { table: 'input', address: 9, count: 1, format: 'bits', low: 3, high: 3, order: 'ABCD' }],
  ['coil:0', { table: 'coil', address: 0, count: 1, format: 'bit' }],
  ['discrete:65535', { table: 'discrete', address: 65_535, count: 1, format: 'bit' }],
] as const) {
  test(`the address ${text} is accepted`, t => t.deepEqual(parseModbusAddress(text, 'BADC'), wanted))
}
for (const [text, wanted] of [
  ['holdings:1:int16', /"holdings" is not a table/],
  ['holding:-1:int16', /"-1" is not an address/],
  ['holding:65536:int16', /not an address/],
  ['holding:65535:float32', /beyond the last register/],
  ['holding:1', /"" is not a format/],
  ['holding:1:float', /"float" is not a format/],
  ['holding:1:int32:CDABGHEF', /not a word order of int32/],
  ['holding:1:int64:CDABGHFE', /not a word order of int64/],
  ['holding:1:bit', /"" is not a bit: 0 to 15/],
  ['holding:1:bit:16', /"16" must be within bits 0 to 15/],
  ['holding:1:bit:1-2', /"1-2" is not a bit/],
  ['holding:1:bits:4', /"4" is not a range of bits/],
  ['holding:1:bits:7-4', /"7-4" must be within bits 0 to 15/],
  ['holding:1:bits:4-16', /"4-16" must be within bits 0 to 15/],
  ['holding:1:bit:3:BACD', /not a word order/],
  ['holding:1:bit:3:ABCD:x', /at most five parts/],
  ['coil:1:bit:0', /has no format/],
  ['holding:1:float32:BACD', /not a word order/],
  ['holding:1:float32:AB', /"AB" is not a word order/],
  ['holding:1:float32:ABCD:x', /more than four parts/],
  ['coil:1:int16', /has no format/],
  ['', /not a table/],
] as const) {
  test(`the address "${text}" is refused`, t => t.regex(String(parseModbusAddress(text, 'ABCD')), wanted))
}

for (const [format, order, bytes, wanted] of [
  ['int16', 'ABCD', 'ff9c', -100],
  ['int16', 'CDAB', 'ff9c', -100],
  ['int16', 'BADC', '9cff', -100],
  ['uint16', 'ABCD', 'ff9c', 65_436],
  ['int32', 'ABCD', 'fffe1dc0', -123_456],
  ['int32', 'CDAB', '1dc0fffe', -123_456],
  ['int32', 'BADC', 'feffc01d', -123_456],
  ['int32', 'DCBA', 'c01dfeff', -123_456],
  ['uint32', 'ABCD', 'fffe1dc0', 4_294_843_840],
  ['float32', 'ABCD', '41ac0000', 21.5],
  ['float32', 'CDAB', '000041ac', 21.5],
  ['float32', 'BADC', 'ac410000', 21.5],
  ['float32', 'DCBA', '0000ac41', 21.5],
  ['int64', 'ABCD', 'fffffffffffe1dc0', -123_456n],
  ['int64', 'CDAB', '1dc0fffeffffffff', -123_456n],
  ['uint64', 'DCBA', '0807060504030000', 0x0304_0506_0708n],
  ['uint64', 'ABCDEFGH', '0102030405060708', 0x0102_0304_0506_0708n],
  ['uint64', 'GHEFCDAB', '0708050603040102', 0x0102_0304_0506_0708n],
  ['uint64', 'CDAB', '0708050603040102', 0x0102_0304_0506_0708n],
  ['uint64', 'BADCFEHG', '0201040306050807', 0x0102_0304_0506_0708n],
  ['uint64', 'HGFEDCBA', '0807060504030201', 0x0102_0304_0506_0708n],
  ['uint64', 'EFGHABCD', '0506070801020304', 0x0102_0304_0506_0708n],
  ['uint64', 'CDABGHEF', '0304010207080506', 0x0102_0304_0506_0708n],
  ['uint64', 'FEHGBADC', '0605080702010403', 0x0102_0304_0506_0708n],
  ['uint64', 'DCBAHGFE', '0403020108070605', 0x0102_0304_0506_0708n],
  ['float64', 'CDABGHEF', '8000403500000000', 21.5],
  ['float64', 'ABCD', '4035800000000000', 21.5],
  ['float64', 'CDAB', '0000000080004035', 21.5],
] as const) {
  test(`${format} in ${order} of ${bytes} is ${wanted}`, t => t.is(decodeRegisters(hex(bytes), format, order), wanted))
}

for (const [bytes, low, high, order, wanted] of [
  ['0008', 3, 3, 'ABCD', 1],
  ['0008', 3, 3, 'BADC', 0],
  ['0800', 3, 3, 'BADC', 1],
  ['a5c3', 4, 7, 'ABCD', 0xc],
  ['a5c3', 0, 15, 'CDAB', 0xa5c3],
  ['8000', 15, 15, 'ABCD', 1],
] as const) {
  test(`bits ${low} to ${high} of ${bytes} in ${order} are ${wanted}`, t =>
    t.is(decodeBits(hex(bytes), low, high, order), wanted))
}

for (const [raw, wanted] of [
  [2n ** 53n, false],
  [2n ** 53n + 1n, true],
  [-(2n ** 53n) - 1n, true],
  [2n ** 60n, false],
  [2 ** 60 + 0.5, false],
] as const) {
  test(`${raw} ${wanted ? 'has to be rounded' : 'is kept whole'} as a number`, t => t.is(isRounded(raw), wanted))
}

test('every order decodes the number that it encoded', t => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.constantFrom(...WORD_ORDERS), (value, order) => {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleBE(value)
      const words = [0, 2, 4, 6].map(at => [...bytes.subarray(at, at + 2)])
      const inOrder = order === 'CDAB' || order === 'DCBA' ? words.toReversed() : words
      const laid = inOrder.flatMap(word => (order === 'BADC' || order === 'DCBA' ? word.toReversed() : word))
      t.is(decodeRegisters(Uint8Array.from(laid), 'float64', order), value)
    }),
  )
})

const place = fc.record({
  table: fc.constantFrom<RegisterRange['table'][]>('holding', 'coil'),
  address: fc.integer({ min: 0, max: 6000 }),
  count: fc.constantFrom(...new Set(Object.values(REGISTER_FORMATS))),
})
const limits = (gap: number, registersMax: number) => ({ gap: { registers: gap, bits: 16 * gap }, registersMax })
const itself = (place: RegisterRange) => place

test('blocks contain every range completely, within their limits and without wider gaps than allowed', t => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 80 }), fc.integer({ min: 0, max: 20 }), (places, gap) => {
      const blocks = planBlocks(places, itself, limits(gap, 125))
      t.is(blocks.flatMap(({ items }) => items).length, places.length)
      for (const { table, address, count, items } of blocks) {
        t.true(count >= 1 && count <= (table === 'coil' ? 2000 : 125))
        let end = address
        for (const item of items) {
          t.is(item.table, table)
          t.true(item.address >= address && item.address + item.count <= address + count)
          t.true(item.address - end <= (table === 'coil' ? 16 * gap : gap))
          end = Math.max(end, item.address + item.count)
        }
        t.is(end, address + count)
      }
    }),
  )
})

const registers = (...addresses: number[]) => addresses.map((address): RegisterRange => ({ table: 'holding', address, count: 2 }))
const spans = (places: RegisterRange[], gap: number, most = 125) =>
  planBlocks(places, itself, limits(gap, most)).map(({ address, count }) => [address, count])

test('near ranges share a block, distant ones do not, and a block ends at its limit', t => {
  t.deepEqual(spans(registers(4, 0, 2), 0), [[0, 6]])
  t.deepEqual(spans(registers(0, 10), 8), [[0, 12]])
  t.deepEqual(spans(registers(0, 11), 8), [
    [0, 2],
    [11, 2],
  ])
  t.deepEqual(spans(registers(...Array.from({ length: 70 }, (_, i) => 2 * i)), 0), [
    [0, 124],
    [124, 16],
  ])
  t.deepEqual(spans(registers(0, 2, 4, 6), 0, 4), [
    [0, 4],
    [4, 4],
  ])
  t.deepEqual(spans(registers(0, 0, 1), 0), [[0, 3]])
})

test('a failed block is split at its gaps, otherwise into quarters, and a single range not at all', t => {
  const parts = (block: RegisterRange[], gap: number) => {
    const [whole, ...others] = planBlocks(block, itself, limits(gap, 125))
    t.deepEqual(others, [])
    const parts = splitBlock(whole!, itself)
    t.false(parts.some(part => hasGap(part, itself)))
    t.deepEqual(
      parts.flatMap(({ items }) => items),
      whole!.items.length > 1 && parts.length > 0 ? whole!.items : [],
    )
    return parts.map(({ address, count }) => [address, count])
  }
  t.deepEqual(parts(registers(0, 2, 9), 8), [
    [0, 4],
    [9, 2],
  ])
  t.deepEqual(parts(registers(0, 2, 4, 6, 8, 8, 10), 0), [
    [0, 4],
    [4, 4],
    [8, 4],
  ])
  t.deepEqual(parts(registers(4, 4, 4), 0), [])
})

test('a bad range is never read as part of a gap', t => {
  const badRange: RegisterRange = { table: 'holding', address: 3, count: 2 }
  const spans = (one: RegisterRange) =>
    planBlocks(registers(0, 6, 8), itself, { ...limits(8, 125), badRanges: [one] }).map(({ address, count }) => [address, count])
  const round = [
    [0, 2],
    [6, 4],
  ]
  t.deepEqual(spans(badRange), round)
  t.deepEqual(spans({ ...badRange, address: 1 }), round)
  t.deepEqual(spans({ ...badRange, address: 5 }), round)
  t.deepEqual(spans({ ...badRange, address: 6 }), [[0, 10]])
  t.deepEqual(spans({ ...badRange, table: 'input' }), [[0, 10]])
})

import test from 'ava'
import fc from 'fast-check'
import { decodePoint } from '#appliance/drivers/modbus/core/decode.ts'
import { listRegisters, registerMatrix } from '#appliance/drivers/modbus/core/matrix.ts'
import { parseModbusAddress, type RegisterRange } from '#appliance/drivers/modbus/core/point.ts'
import { hex } from '../../../support/wire.ts'

const texts = (bytes: string, at = 0) =>
  Object.fromEntries(registerMatrix(hex(bytes), 'holding', 0, at).map(one => [`${one.format} ${one.order}`, one.text]))

test('two registers are shown in every possible format and order', t => {
  t.deepEqual(texts('41ac 0000'), {
    'int16 AB': '16812',
    'int16 BA': '-21439',
    'uint16 AB': '16812',
    'uint16 BA': '44097',
    'int32 ABCD': '1101791232',
    'int32 CDAB': '16812',
    'int32 BADC': '-1405026304',
    'int32 DCBA': '44097',
    'uint32 ABCD': '1101791232',
    'uint32 CDAB': '16812',
    'uint32 BADC': '2889940992',
    'uint32 DCBA': '44097',
    'float32 ABCD': '21.5',
    'float32 CDAB': '2.3559e-41',
    'float32 BADC': '-2.742695e-12',
    'float32 DCBA': '6.1793e-41',
  })
})

test('four registers have eight orders, and whole numbers keep all their digits', t => {
  const values = registerMatrix(hex('0020 0000 0000 0001'), 'input', 40, 40).filter(({ format }) => format === 'uint64')
  t.is(values.length, 8)
  t.is(new Set(values.map(({ order }) => order)).size, 8)
  t.like(values[0], {
    order: 'ABCDEFGH',
    text: '9007199254740993',
    value: 9_007_199_254_740_992,
    rounded: true,
    point_address: 'input:40:uint64:ABCDEFGH',
  })
})

for (const [bytes, text] of [
  ['7fc00000', 'not a number'],
  ['7f800000', 'infinite'],
  ['ff800000', '-infinite'],
  ['3dcccccd', '0.1'],
  ['42f6e979', '123.456'],
  ['7f7fffff', '3.4028235e+38'],
  ['80000000', '0'],
] as const) {
  test(`float32 ${bytes} reads ${text}`, t => t.is(texts(bytes)['float32 ABCD'], text))
}

test('registers are listed as received', t => {
  t.deepEqual(listRegisters(hex('a5c3 0001'), 100), [
    { address: 100, hex: 'a5c3', uint16: 0xa5c3, int16: 0xa5c3 - 0x1_0000, bits: '1010 0101 1100 0011' },
    { address: 101, hex: '0001', uint16: 1, int16: 1, bits: '0000 0000 0000 0001' },
  ])
})

test('the address of each value describes a point that reads it', t => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.integer({ min: 0, max: 7 }), (bytes, start) => {
      const block: RegisterRange = { table: 'holding', address: 500, count: 8 }
      for (const { point_address, text, value, format } of registerMatrix(bytes, 'holding', 500, 500 + start)) {
        const address = parseModbusAddress(point_address, 'ABCD')
        if (typeof address === 'string') return t.fail(address)
        const raw = decodePoint(bytes, block, address)
        t.is(value, Number.isFinite(Number(raw)) ? Number(raw) : null)
        if (format.endsWith('64') && typeof raw === 'bigint') t.is(text, String(raw))
      }
      return undefined
    }),
  )
})

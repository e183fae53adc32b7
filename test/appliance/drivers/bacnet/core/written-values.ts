/** Values of every type with their bytes, written by the book (135-2020 20.2) and apart from the product's decoder. */
import fc from 'fast-check'
import type { BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'

type Written = { value: BacnetValue; bytes: Buffer }

export function tagged(number: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 5) return Buffer.concat([Buffer.of((number << 4) | length), content])
  const extended = length < 254 ? [length] : [254, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([(number << 4) | 5, ...extended]), content])
}
const plainOrBig = (whole: bigint): number | bigint => (Number.isSafeInteger(Number(whole)) ? Number(whole) : whole)

export function integerBytes(whole: bigint, length: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, whole))
  return bytes.subarray(8 - length)
}
export const bytesOf = (length: number, write: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(length)
  write(bytes)
  return bytes
}

export const written: fc.Arbitrary<Written> = fc.oneof(
  fc.constant<Written>({ value: { type: 'null' }, bytes: Buffer.of(0) }),
  fc.boolean().map((value): Written => ({ value: { type: 'boolean', value }, bytes: Buffer.of(0x10 | Number(value)) })),
  fc.integer({ min: 1, max: 8 }).chain(length =>
    fc.bigInt({ min: 0n, max: 256n ** BigInt(length) - 1n }).map(
      (whole): Written => ({
        value: { type: 'unsigned', value: plainOrBig(whole) },
        bytes: tagged(2, integerBytes(whole, length)),
      }),
    ),
  ),
  fc.integer({ min: 1, max: 8 }).chain(length => {
    const half = 256n ** BigInt(length) / 2n
    return fc.bigInt({ min: -half, max: half - 1n }).map(
      (whole): Written => ({
        value: { type: 'signed', value: plainOrBig(whole) },
        bytes: tagged(3, integerBytes(whole, length)),
      }),
    )
  }),
  fc.float().map(
    (value): Written => ({
      value: { type: 'real', value },
      bytes: tagged(
        4,
        bytesOf(4, to => to.writeFloatBE(value)),
      ),
    }),
  ),
  fc.double().map(
    (value): Written => ({
      value: { type: 'double', value },
      bytes: tagged(
        5,
        bytesOf(8, to => to.writeDoubleBE(value)),
      ),
    }),
  ),
  fc
    .uint8Array({ maxLength: 300 })
    .map((value): Written => ({ value: { type: 'octets', value: Buffer.from(value) }, bytes: tagged(6, Buffer.from(value)) })),
  fc
    .string({ unit: 'grapheme', maxLength: 80 })
    .filter(value => !value.startsWith('\ufeff'))
    .map(
      (value): Written => ({
        value: { type: 'text', value },
        bytes: tagged(7, Buffer.concat([Buffer.of(0), Buffer.from(value)])),
      }),
    ),
  fc.array(fc.boolean(), { maxLength: 40 }).map((value): Written => {
    const bits = Buffer.alloc(Math.ceil(value.length / 8))
    for (const [i, on] of value.entries()) if (on) bits[i >> 3]! |= 0x80 >> (i & 7)
    return { value: { type: 'bits', value }, bytes: tagged(8, Buffer.concat([Buffer.of(8 * bits.length - value.length), bits])) }
  }),
  fc.integer({ min: 1, max: 4 }).chain(length =>
    fc.integer({ min: 0, max: 256 ** length - 1 }).map(
      (value): Written => ({
        value: { type: 'enumerated', value },
        bytes: tagged(9, integerBytes(BigInt(value), length)),
      }),
    ),
  ),
  fc.record({ type: fc.integer({ min: 0, max: 1023 }), instance: fc.integer({ min: 0, max: 4_194_303 }) }).map(
    (object): Written => ({
      value: { type: 'object', object },
      bytes: tagged(
        12,
        bytesOf(4, to => to.writeUInt32BE(((object.type << 22) | object.instance) >>> 0)),
      ),
    }),
  ),
  fc.constantFrom(
    { value: { type: 'date', value: '*-*-*' }, bytes: tagged(10, Buffer.alloc(4, 0xff)) } satisfies Written,
    { value: { type: 'time', value: '07:30:00.05' }, bytes: tagged(11, Buffer.of(7, 30, 0, 5)) } satisfies Written,
  ),
)

/** Decodes ASN.1 tags and their values, never beyond the given bytes (135-2020 20.2). */
import { decodeText } from './character-string.ts'
import { formatDate, formatTime } from './date-time.ts'

/** The bytes violate the standard. Thrown only within the decoder; its callers turn it into a result. */
export class Malformed extends Error {}

/**
 * Reading position: bytes in [at, end) remain. The other fields are the last tag, without an object of its own because a reply has
 * hundreds of tags.
 */
export type Cursor = { readonly bytes: Uint8Array; at: number; readonly end: number } & Tag

export type BacnetValue =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  /** `bigint` only when a number cannot represent it exactly. */
  | { type: 'unsigned' | 'signed'; value: number | bigint }
  | { type: 'enumerated'; value: number }
  /** May be NaN or infinite. */
  | { type: 'real' | 'double'; value: number }
  | { type: 'text'; value: string }
  | { type: 'octets'; value: Uint8Array }
  | { type: 'bits'; value: boolean[] }
  | { type: 'object'; object: { type: number; instance: number } }
  /** As `formatDate` and `formatTime` write them. */
  | { type: 'date' | 'time'; value: string }
  /** Constructed data: checked for length and balance, not read. */
  | { type: 'opaque' }

type Tag = { number: number; isContext: boolean; shape: 'primitive' | 'opening' | 'closing'; length: number }

const APPLICATION_BOOLEAN = 1
const OPENING = 0x0e
const CLOSING = 0x0f
/** Deeper nesting than any property of the standard has. */
const DEPTH_MAX = 8

export const openCursor = (bytes: Uint8Array): Cursor => ({
  bytes,
  at: 0,
  end: bytes.length,
  number: 0,
  isContext: false,
  shape: 'primitive',
  length: 0,
})
export const isDone = (cursor: Cursor): boolean => cursor.at >= cursor.end

function byte(cursor: Cursor): number {
  const value = cursor.at < cursor.end ? cursor.bytes[cursor.at] : undefined
  if (value === undefined) throw new Malformed('ends too early')
  cursor.at++
  return value
}

/** Big-endian unsigned of up to 6 bytes. */
function unsigned(cursor: Cursor, length: number): number {
  if (length > cursor.end - cursor.at) throw new Malformed('ends too early')
  let value = 0
  for (const after = cursor.at + length; cursor.at < after; cursor.at++) value = value * 256 + cursor.bytes[cursor.at]!
  return value
}

/** Reads the next tag into the cursor. */
function readTag(cursor: Cursor): void {
  const first = byte(cursor)
  const low = first & 0x07
  cursor.isContext = (first & 0x08) !== 0
  cursor.number = first >> 4 === 0x0f ? byte(cursor) : first >> 4
  if (low >= 6) {
    if (!cursor.isContext) throw new Malformed('an application tag cannot open or close')
    cursor.shape = low === 6 ? 'opening' : 'closing'
    cursor.length = 0
    return
  }
  cursor.shape = 'primitive'
  cursor.length = low
  // The low bits of an application boolean are its value, not a length (135-2020 20.2.3).
  if (!cursor.isContext && cursor.number === APPLICATION_BOOLEAN) return
  if (low === 5) cursor.length = extendedLength(cursor)
  if (cursor.length > cursor.end - cursor.at) throw new Malformed('a length runs past the end')
}

function extendedLength(cursor: Cursor): number {
  const first = byte(cursor)
  if (first < 254) return first
  return unsigned(cursor, first === 254 ? 2 : 4)
}

/** Look at the next tag without reading it. `number` 0..14, which one byte encodes (135-2020 20.2.1). */
export const isOpening = ({ bytes, at, end }: Cursor, number: number): boolean =>
  at < end && bytes[at] === ((number << 4) | OPENING)
export const isClosing = ({ bytes, at, end }: Cursor, number: number): boolean =>
  at < end && bytes[at] === ((number << 4) | CLOSING)
export const isContext = ({ bytes, at, end }: Cursor, number: number): boolean =>
  at < end && bytes[at]! >> 3 === ((number << 1) | 1) && (bytes[at]! & 0x07) < 6

export function readOpening(cursor: Cursor, number: number): void {
  if (!isOpening(cursor, number)) throw missing(cursor, 'opening', number)
  cursor.at++
}

export function readClosing(cursor: Cursor, number: number): void {
  if (!isClosing(cursor, number)) throw missing(cursor, 'closing', number)
  cursor.at++
}

const missing = (cursor: Cursor, what: string, number: number): Malformed =>
  new Malformed(isDone(cursor) ? 'ends too early' : `${what} tag ${number} is missing`)

/** @returns length of the content of context tag `number`, 0..14; the bytes exist */
function contextLength(cursor: Cursor, number: number): number {
  if (!isContext(cursor, number)) throw missing(cursor, 'primitive', number)
  const low = byte(cursor) & 0x07
  const length = low < 5 ? low : extendedLength(cursor)
  if (length > cursor.end - cursor.at) throw new Malformed('a length runs past the end')
  return length
}

/** Context-tagged unsigned or enumerated of 1..4 bytes. */
export function readContextUnsigned(cursor: Cursor, number: number): number {
  const length = contextLength(cursor, number)
  if (length < 1 || length > 4) throw new Malformed(`tag ${number} has ${length} bytes`)
  return unsigned(cursor, length)
}

export function readContextObject(cursor: Cursor, number: number): { type: number; instance: number } {
  if (contextLength(cursor, number) !== 4) throw new Malformed('an object identifier has 4 bytes')
  return splitObject(unsigned(cursor, 4))
}

const splitObject = (word: number) => ({ type: Math.floor(word / 0x40_0000), instance: word % 0x40_0000 })

/** An application-tagged enumerated, as in an error. */
export function readEnumerated(cursor: Cursor): number {
  const value = readValue(cursor)
  if (value.type !== 'enumerated') throw new Malformed(`${value.type} instead of enumerated`)
  return value.value
}

/** Values up to the closing tag `number`, which is read too. */
export function readValues(cursor: Cursor, number: number): BacnetValue[] {
  const values: BacnetValue[] = []
  while (!isClosing(cursor, number)) values.push(readValue(cursor))
  readClosing(cursor, number)
  return values
}

/** Reads the next value of any type. */
export function readValue(cursor: Cursor): BacnetValue {
  readTag(cursor)
  if (!cursor.isContext) return readApplication(cursor, cursor.number, cursor.length)
  if (cursor.shape === 'closing') throw new Malformed('a closing tag without its opening')
  if (cursor.shape === 'primitive') cursor.at += cursor.length
  else skipTo(cursor, cursor.number, 1)
  return { type: 'opaque' }
}

function skipTo(cursor: Cursor, closing: number, depth: number): void {
  if (depth > DEPTH_MAX) throw new Malformed('nested too deep')
  for (;;) {
    readTag(cursor)
    if (cursor.shape === 'closing') {
      if (cursor.number !== closing) throw new Malformed('tags do not balance')
      return
    }
    if (cursor.shape === 'opening') skipTo(cursor, cursor.number, depth + 1)
    else if (cursor.isContext || cursor.number !== APPLICATION_BOOLEAN) cursor.at += cursor.length
  }
}

/** @param length bytes of content, which exist; the value of a boolean */
function readApplication(cursor: Cursor, number: number, length: number): BacnetValue {
  switch (number) {
    case 0:
      exactly(0, number, length)
      return { type: 'null' }
    case APPLICATION_BOOLEAN:
      if (length > 1) throw new Malformed('a boolean is 0 or 1')
      return { type: 'boolean', value: length === 1 }
    case 2:
      return { type: 'unsigned', value: integer(cursor, length, false) }
    case 3:
      return { type: 'signed', value: integer(cursor, length, true) }
    case 4:
      exactly(4, number, length)
      SCRATCH.setUint32(0, unsigned(cursor, 4))
      return { type: 'real', value: SCRATCH.getFloat32(0) }
    case 5:
      exactly(8, number, length)
      SCRATCH.setUint32(0, unsigned(cursor, 4))
      SCRATCH.setUint32(4, unsigned(cursor, 4))
      return { type: 'double', value: SCRATCH.getFloat64(0) }
    case 6:
      return { type: 'octets', value: content(cursor, length) }
    case 7:
      return { type: 'text', value: text(content(cursor, length)) }
    case 8:
      return { type: 'bits', value: bits(content(cursor, length)) }
    case 9:
      if (length < 1 || length > 4) throw new Malformed(`an enumerated has ${length} bytes`)
      return { type: 'enumerated', value: unsigned(cursor, length) }
    case 10:
      exactly(4, number, length)
      return { type: 'date', value: formatDate(content(cursor, 4)) }
    case 11:
      exactly(4, number, length)
      return { type: 'time', value: formatTime(content(cursor, 4)) }
    case 12:
      exactly(4, number, length)
      return { type: 'object', object: splitObject(unsigned(cursor, 4)) }
    default:
      throw new Malformed(`application tag ${number} is reserved`)
  }
}

/** Converts bytes to floating point numbers; overwritten by each call. */
const SCRATCH = new DataView(new ArrayBuffer(8))

function exactly(bytes: number, number: number, length: number): void {
  if (length !== bytes) throw new Malformed(`a value of type ${number} has ${length} bytes instead of ${bytes}`)
}

const content = (cursor: Cursor, length: number): Uint8Array => cursor.bytes.subarray(cursor.at, (cursor.at += length))

/** Largest number of bytes whose unsigned values a float64 represents exactly. */
const EXACT_BYTES = 6

function integer(cursor: Cursor, length: number, isSigned: boolean): number | bigint {
  if (length < 1 || length > 8) throw new Malformed(`an integer has ${length} bytes`)
  if (length <= EXACT_BYTES) {
    const value = unsigned(cursor, length)
    return isSigned && value >= 2 ** (8 * length - 1) ? value - 2 ** (8 * length) : value
  }
  const low = length - EXACT_BYTES
  const value = BigInt(unsigned(cursor, EXACT_BYTES)) * 256n ** BigInt(low) + BigInt(unsigned(cursor, low))
  const whole = isSigned ? BigInt.asIntN(8 * length, value) : value
  const number = Number(whole)
  return Number.isSafeInteger(number) ? number : whole
}

function bits(content: Uint8Array): boolean[] {
  const unused = content[0]
  if (unused === undefined || unused > 7 || (content.length === 1 && unused > 0))
    throw new Malformed('a bit string without its bits')
  const count = (content.length - 1) * 8 - unused
  return Array.from({ length: count }, (_, i) => ((content[1 + (i >> 3)] ?? 0) & (0x80 >> (i & 7))) !== 0)
}

function text(content: Uint8Array): string {
  const charset = content[0]
  if (charset === undefined) throw new Malformed('a text without its character set')
  return decodeText(charset, content.subarray(1))
}

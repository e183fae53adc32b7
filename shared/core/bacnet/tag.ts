/** Reads ASN.1 tags and the values behind them, never beyond the bytes given (135-2020 20.2). */

/** The bytes are not what the standard says. Thrown within the decoder only; `readReply` turns it into a result. */
export class Malformed extends Error {}

/** Reading position: bytes in [at, end) are still to be read. */
export type Cursor = { readonly bytes: Uint8Array; at: number; readonly end: number }

export type BacnetValue =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  /** `bigint` only where a number could not hold it exactly. */
  | { type: 'unsigned' | 'signed'; value: number | bigint }
  | { type: 'enumerated'; value: number }
  /** May be NaN or infinite: devices send that. */
  | { type: 'real' | 'double'; value: number }
  | { type: 'text'; value: string }
  | { type: 'octets'; value: Uint8Array }
  | { type: 'bits'; value: boolean[] }
  | { type: 'object'; object: { type: number; instance: number } }
  /** Date, time and constructed data: checked for length and balance, not read. */
  | { type: 'opaque' }

type Tag = { number: number; isContext: boolean; shape: 'primitive' | 'opening' | 'closing'; length: number }

const APPLICATION_BOOLEAN = 1
/** Deeper nesting than any property of the standard has. */
const DEPTH_MAX = 8

export const openCursor = (bytes: Uint8Array): Cursor => ({ bytes, at: 0, end: bytes.length })
export const isDone = (cursor: Cursor): boolean => cursor.at >= cursor.end

function byte(cursor: Cursor): number {
  const value = cursor.at < cursor.end ? cursor.bytes[cursor.at] : undefined
  if (value === undefined) throw new Malformed('ends too early')
  cursor.at++
  return value
}

/** Big-endian unsigned of up to 4 bytes. */
function unsigned(cursor: Cursor, length: number): number {
  let value = 0
  for (let i = 0; i < length; i++) value = value * 256 + byte(cursor)
  return value
}

function readTag(cursor: Cursor): Tag {
  const first = byte(cursor)
  const isContext = (first & 0x08) !== 0
  const number = first >> 4 === 0x0f ? byte(cursor) : first >> 4
  const low = first & 0x07
  if (low >= 6) {
    if (!isContext) throw new Malformed('an application tag cannot open or close')
    return { number, isContext, shape: low === 6 ? 'opening' : 'closing', length: 0 }
  }
  // The low bits of an application boolean are its value, not a length (135-2020 20.2.3).
  if (!isContext && number === APPLICATION_BOOLEAN) return { number, isContext, shape: 'primitive', length: low }
  const length = low < 5 ? low : extendedLength(cursor)
  if (length > cursor.end - cursor.at) throw new Malformed('a length runs past the end')
  return { number, isContext, shape: 'primitive', length }
}

function extendedLength(cursor: Cursor): number {
  const first = byte(cursor)
  if (first < 254) return first
  return unsigned(cursor, first === 254 ? 2 : 4)
}

/** Whether the next tag is context tag `number` of that shape; reads nothing. */
function peek(cursor: Cursor, number: number, shape: Tag['shape']): boolean {
  if (isDone(cursor)) return false
  const tag = readTag({ ...cursor })
  return tag.isContext && tag.number === number && tag.shape === shape
}

export const isContext = (cursor: Cursor, number: number): boolean => peek(cursor, number, 'primitive')
export const isOpening = (cursor: Cursor, number: number): boolean => peek(cursor, number, 'opening')
export const isClosing = (cursor: Cursor, number: number): boolean => peek(cursor, number, 'closing')

function expect(cursor: Cursor, number: number, shape: Tag['shape']): Tag {
  const tag = readTag(cursor)
  if (!tag.isContext || tag.number !== number || tag.shape !== shape) throw new Malformed(`${shape} tag ${number} is missing`)
  return tag
}

export const readOpening = (cursor: Cursor, number: number): void => void expect(cursor, number, 'opening')
export const readClosing = (cursor: Cursor, number: number): void => void expect(cursor, number, 'closing')

/** Context-tagged unsigned or enumerated of 1..4 bytes. */
export function readContextUnsigned(cursor: Cursor, number: number): number {
  const { length } = expect(cursor, number, 'primitive')
  if (length < 1 || length > 4) throw new Malformed(`tag ${number} has ${length} bytes`)
  return unsigned(cursor, length)
}

export function readContextObject(cursor: Cursor, number: number): { type: number; instance: number } {
  const { length } = expect(cursor, number, 'primitive')
  if (length !== 4) throw new Malformed('an object identifier has 4 bytes')
  return splitObject(unsigned(cursor, 4))
}

const splitObject = (word: number) => ({ type: Math.floor(word / 0x40_0000), instance: word % 0x40_0000 })

/** An application-tagged enumerated, as in an error. */
export function readEnumerated(cursor: Cursor): number {
  const value = readValue(cursor)
  if (value.type !== 'enumerated') throw new Malformed(`${value.type} where enumerated is due`)
  return value.value
}

/** Values up to the closing tag `number`, which is read too. */
export function readValues(cursor: Cursor, number: number): BacnetValue[] {
  const values: BacnetValue[] = []
  while (!isClosing(cursor, number)) values.push(readValue(cursor))
  readClosing(cursor, number)
  return values
}

/** The next value, whatever it is. */
export function readValue(cursor: Cursor): BacnetValue {
  const tag = readTag(cursor)
  if (!tag.isContext) return readApplication(cursor, tag.number, tag.length)
  if (tag.shape === 'closing') throw new Malformed('a closing tag without its opening')
  if (tag.shape === 'primitive') cursor.at += tag.length
  else skipTo(cursor, tag.number, 1)
  return { type: 'opaque' }
}

function skipTo(cursor: Cursor, closing: number, depth: number): void {
  if (depth > DEPTH_MAX) throw new Malformed('nested too deep')
  for (;;) {
    const tag = readTag(cursor)
    if (tag.shape === 'closing') {
      if (tag.number !== closing) throw new Malformed('tags do not balance')
      return
    }
    if (tag.shape === 'opening') skipTo(cursor, tag.number, depth + 1)
    else if (tag.isContext || tag.number !== APPLICATION_BOOLEAN) cursor.at += tag.length
  }
}

/** @param length bytes of content, known to be there; for a boolean its value */
function readApplication(cursor: Cursor, number: number, length: number): BacnetValue {
  if (number === APPLICATION_BOOLEAN) {
    if (length > 1) throw new Malformed('a boolean is 0 or 1')
    return { type: 'boolean', value: length === 1 }
  }
  const content = cursor.bytes.subarray(cursor.at, cursor.at + length)
  const view = new DataView(content.buffer, content.byteOffset, length)
  cursor.at += length
  const exactly = (bytes: number) => {
    if (length !== bytes) throw new Malformed(`a value of type ${number} has ${length} bytes instead of ${bytes}`)
  }
  switch (number) {
    case 0:
      exactly(0)
      return { type: 'null' }
    case 2:
      return { type: 'unsigned', value: integer(content, false) }
    case 3:
      return { type: 'signed', value: integer(content, true) }
    case 4:
      exactly(4)
      return { type: 'real', value: view.getFloat32(0) }
    case 5:
      exactly(8)
      return { type: 'double', value: view.getFloat64(0) }
    case 6:
      return { type: 'octets', value: content }
    case 7:
      return { type: 'text', value: text(content) }
    case 8:
      return { type: 'bits', value: bits(content) }
    case 9:
      if (length < 1 || length > 4) throw new Malformed(`an enumerated has ${length} bytes`)
      return { type: 'enumerated', value: Number(integer(content, false)) }
    case 10:
    case 11:
      exactly(4)
      return { type: 'opaque' }
    case 12:
      exactly(4)
      return { type: 'object', object: splitObject(view.getUint32(0)) }
    default:
      throw new Malformed(`application tag ${number} is reserved`)
  }
}

function integer(content: Uint8Array, isSigned: boolean): number | bigint {
  if (content.length < 1 || content.length > 8) throw new Malformed(`an integer has ${content.length} bytes`)
  let value = 0n
  for (const one of content) value = (value << 8n) | BigInt(one)
  if (isSigned) value = BigInt.asIntN(8 * content.length, value)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function bits(content: Uint8Array): boolean[] {
  const unused = content[0]
  if (unused === undefined || unused > 7 || (content.length === 1 && unused > 0))
    throw new Malformed('a bit string without its bits')
  const count = (content.length - 1) * 8 - unused
  return Array.from({ length: count }, (_, i) => ((content[1 + (i >> 3)] ?? 0) & (0x80 >> (i & 7))) !== 0)
}

const UTF8 = new TextDecoder()
const DECODERS = new Map([
  [4, new TextDecoder('utf-16be')],
  [5, new TextDecoder('latin1')],
])

/** Text in UTF-8, UCS-2 or ISO 8859-1; other character sets are read as UTF-8 with replacement marks (135-2020 20.2.9). */
function text(content: Uint8Array): string {
  const charset = content[0]
  if (charset === undefined) throw new Malformed('a text without its character set')
  return (DECODERS.get(charset) ?? UTF8).decode(content.subarray(1))
}

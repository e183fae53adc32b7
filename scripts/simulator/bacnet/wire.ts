/**
 * BACnet/IP as the simulated devices write it: by hand from the standard, so that a mistake in the product's codec
 * cannot agree with a mistake here.
 */

/** Application tag numbers, 135-2020 clause 20.2.1.4. */
const NULL = 0
const BOOLEAN = 1
const UNSIGNED = 2
const REAL = 4
const CHARACTER_STRING = 7
const BIT_STRING = 8
const ENUMERATED = 9
const OBJECT_ID = 12

export const nothing = (): Buffer => tagged(NULL, Buffer.alloc(0))
/** A boolean's value is in the length field of its tag (20.2.3). */
export const boolean = (value: boolean): Buffer => Buffer.from([(BOOLEAN << 4) | (value ? 1 : 0)])
export const unsigned = (value: number): Buffer => tagged(UNSIGNED, big(value))
export const enumerated = (value: number): Buffer => tagged(ENUMERATED, big(value))
/** UTF-8 is character set 0 (20.2.9). */
export const encodeText = (value: string): Buffer => tagged(CHARACTER_STRING, Buffer.concat([Buffer.of(0), Buffer.from(value)]))
export const objectId = (type: number, instance: number): Buffer => tagged(OBJECT_ID, idBytes(type, instance))

export function real(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatBE(value)
  return tagged(REAL, bytes)
}

/** First bit of the string is the highest of the first byte (20.2.10). At most eight bits here. */
export function bits(values: boolean[]): Buffer {
  const byte = values.reduce((sum, on, i) => sum | (on ? 0x80 >> i : 0), 0)
  return tagged(BIT_STRING, Buffer.from([8 - values.length, byte]))
}

export const contextId = (tag: number, type: number, instance: number): Buffer => context(tag, idBytes(type, instance))
export const contextUnsigned = (tag: number, value: number): Buffer => context(tag, big(value))
/** `content` between an opening and a closing tag. */
export const enclosed = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of((tag << 4) | 0x0e), content, Buffer.of((tag << 4) | 0x0f)])

const tagged = (tag: number, content: Buffer): Buffer => Buffer.concat([head(tag, 0, content.length), content])
const context = (tag: number, content: Buffer): Buffer => Buffer.concat([head(tag, 0x08, content.length), content])

/** Tag, class bit and length; lengths over 4 are extended (20.2.1.3). */
function head(tag: number, classBit: number, length: number): Buffer {
  const first = (tag << 4) | classBit
  if (length <= 4) return Buffer.of(first | length)
  if (length <= 253) return Buffer.of(first | 5, length)
  return Buffer.of(first | 5, 254, length >> 8, length & 0xff)
}

/** Big endian in as few bytes as hold it, at least one. */
function big(value: number): Buffer {
  const bytes = [value & 0xff]
  for (let rest = Math.floor(value / 256); rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff)
  return Buffer.from(bytes)
}

function idBytes(type: number, instance: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(((type << 22) | (instance & 0x3fffff)) >>> 0)
  return bytes
}

/** Reads context tags one after the other. */
export type Reader = {
  done(): boolean
  /** The next tag is this context tag with content. */
  at(tag: number): boolean
  id(tag: number): { type: number; instance: number }
  unsigned(tag: number): number
  open(tag: number): void
  closes(tag: number): boolean
}

/** @throws RangeError when the bytes are not what is asked for */
export function readTags(bytes: Buffer): Reader {
  let at = 0
  const content = (tag: number): Buffer => {
    const first = bytes.readUInt8(at)
    if (first >> 4 !== tag || !(first & 0x08) || (first & 7) > 4) throw new RangeError(`no context tag ${tag} at ${at}`)
    const from = at + 1
    at = from + (first & 7)
    if (at > bytes.length) throw new RangeError(`tag ${tag} is longer than the request`)
    return bytes.subarray(from, at)
  }
  const next = (first: number): boolean => at < bytes.length && bytes[at] === first
  return {
    done: () => at >= bytes.length,
    at: tag => at < bytes.length && bytes.readUInt8(at) >> 4 === tag && (bytes.readUInt8(at) & 0x0f) <= 0x0c,
    id: tag => {
      const word = content(tag).readUInt32BE()
      return { type: word >>> 22, instance: word & 0x3fffff }
    },
    unsigned: tag => content(tag).reduce((sum, byte) => sum * 256 + byte, 0),
    open: tag => {
      if (!next((tag << 4) | 0x0e)) throw new RangeError(`no opening tag ${tag} at ${at}`)
      at++
    },
    closes: tag => {
      if (!next((tag << 4) | 0x0f)) return false
      at++
      return true
    },
  }
}

/** One APDU in a unicast BACnet/IP datagram without routing (Annex J, clause 6). */
export function datagram(apdu: Buffer): Buffer {
  const head = Buffer.from([0x81, 0x0a, 0, 0, 0x01, 0x00])
  head.writeUInt16BE(head.length + apdu.length, 2)
  return Buffer.concat([head, apdu])
}

/** @returns the APDU of an unrouted unicast or broadcast datagram; undefined for anything else */
export function apduOf(bytes: Buffer): Buffer | undefined {
  const fits = bytes.length > 6 && bytes[0] === 0x81 && (bytes[1] === 0x0a || bytes[1] === 0x0b)
  if (!fits || bytes.readUInt16BE(2) !== bytes.length || bytes[4] !== 1) return undefined
  const routed = (bytes[5]! & 0x80) | (bytes[5]! & 0x08)
  if (routed) return undefined
  // A destination network (a global broadcast, as Who-Is is often sent) puts DNET, DLEN, DADR and the hop count first.
  const skip = bytes[5]! & 0x20 ? 4 + (bytes[8] ?? 0) : 0
  return bytes.length > 6 + skip ? bytes.subarray(6 + skip) : undefined
}

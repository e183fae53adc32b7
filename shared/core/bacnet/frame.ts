/** The gate: what a datagram must be before anything in it is believed. */

/** A device behind a router: its network and its address there (135-2020 6.2). */
export type Station = { network: number; mac: Uint8Array }

export type Frame = {
  /** Who sent it, when a broadcast manager (BBMD) passed it on; else the sender of the datagram. */
  origin?: string
  /** Set when it came through a router. */
  source?: Station
  apdu: Uint8Array
}

/** Replies from a server, by what they mean to the client that asked. */
export type Apdu =
  | { kind: 'ack'; invokeId: number; service: number; payload: Uint8Array }
  | { kind: 'error'; invokeId: number; service: number; payload: Uint8Array }
  | { kind: 'reject' | 'abort'; invokeId: number; reason: number }
  /** Part of a segmented answer, which no request of ours allows. */
  | { kind: 'segment'; invokeId: number }

const BVLC = 0x81
const FORWARDED = 0x04
const UNICAST = 0x0a
const BROADCAST = 0x0b
/** BVLC of a forwarded message 10, NPDU with a 6-byte source 11, APDU 1476. */
const DATAGRAM_MAX = 1497
const DATAGRAM_MIN = 9

/**
 * @param bytes one datagram
 * @returns undefined for everything but an application message in a well-formed BACnet/IP frame (135-2020 J.2, 6.2)
 */
export function readFrame(bytes: Uint8Array): Frame | undefined {
  if (bytes.length < DATAGRAM_MIN || bytes.length > DATAGRAM_MAX || bytes[0] !== BVLC) return undefined
  if (((bytes[2]! << 8) | bytes[3]!) !== bytes.length) return undefined
  switch (bytes[1]) {
    case UNICAST:
    case BROADCAST:
      return readNpdu(bytes.subarray(4))
    case FORWARDED: {
      const frame = readNpdu(bytes.subarray(10))
      return frame && { ...frame, origin: bytes.subarray(4, 8).join('.') }
    }
    default:
      return undefined
  }
}

const NETWORK_MESSAGE = 0x80
const RESERVED = 0x50
const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08

function readNpdu(bytes: Uint8Array): Frame | undefined {
  const control = bytes[1] ?? RESERVED
  if (bytes[0] !== 1 || control & (NETWORK_MESSAGE | RESERVED)) return undefined
  let at = 2
  // DNET 2, DLEN 1, DADR; the hop count comes after the source.
  if (control & HAS_DESTINATION) at += 3 + (bytes[at + 2] ?? 0)
  let source: Station | undefined
  if (control & HAS_SOURCE) {
    const length = bytes[at + 2] ?? 0
    const network = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    source = { network, mac: bytes.subarray(at + 3, at + 3 + length) }
    if (length === 0 || source.mac.length !== length || network === 0 || network === 0xffff) return undefined
    at += 3 + length
  }
  if (control & HAS_DESTINATION) at += 1
  const apdu = bytes.subarray(at)
  if (apdu.length < 3) return undefined
  return source ? { source, apdu } : { apdu }
}

const SEGMENTED = 0x08

/** @returns undefined for what is not a server's reply: requests, I-Am, notifications, SegmentACK, SimpleACK */
export function readApdu(bytes: Uint8Array): Apdu | undefined {
  const [first = 0, invokeId = 0, third = 0] = bytes
  if (bytes.length < 3) return undefined
  switch (first >> 4) {
    case 3:
      if (first & SEGMENTED) return { kind: 'segment', invokeId }
      return { kind: 'ack', invokeId, service: third, payload: bytes.subarray(3) }
    case 5:
      return { kind: 'error', invokeId, service: third, payload: bytes.subarray(3) }
    case 6:
      return bytes.length === 3 ? { kind: 'reject', invokeId, reason: third } : undefined
    case 7:
      return bytes.length === 3 ? { kind: 'abort', invokeId, reason: third } : undefined
    default:
      return undefined
  }
}

/** Whether a frame came from the station that was asked; both undefined means straight on the IP network. */
export function isSameStation(a: Station | undefined, b: Station | undefined): boolean {
  if (!a || !b) return a === b
  return a.network === b.network && a.mac.length === b.mac.length && a.mac.every((byte, i) => byte === b.mac[i])
}

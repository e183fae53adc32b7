/** Decodes BACnet/IP frames strictly; anything else is dropped. */
import type { Segment } from './segments.ts'

/** A device behind a router: its network and its address there (135-2020 6.2). */
export type Station = { network: number; mac: Uint8Array }

/** IPv4 address and UDP port. */
export type Endpoint = { host: string; port: number }

type Frame = {
  /** The original sender when a broadcast manager (BBMD) forwarded the frame; otherwise absent. */
  origin?: Endpoint
  /** Set when the frame came through a router. */
  source?: Station
  apdu: Uint8Array
}

/** Replies of a server. */
export type Apdu =
  | { kind: 'ack'; invokeId: number; service: number; payload: Uint8Array }
  /** SimpleACK: an acknowledgement without data. */
  | { kind: 'done'; invokeId: number; service: number }
  | { kind: 'error'; invokeId: number; service: number; payload: Uint8Array }
  | { kind: 'reject' | 'abort'; invokeId: number; reason: number }
  /** A part of an answer, see segments.ts. */
  | ({ kind: 'segment' } & Segment)

/** An unconfirmed request: I-Am, a COV notification, Who-Is. */
export type UnconfirmedRequest = Endpoint & {
  /** 0 I-Am, 2 COV notification, 8 Who-Is (135-2020 21, BACnetUnconfirmedServiceChoice). */
  service: number
  payload: Uint8Array
  /** Set when the sender is behind a router; `host` and `port` are then those of the router. */
  station?: Station
}

const BVLC = 0x81
const RESULT = 0x00
const FORWARDED = 0x04
const UNICAST = 0x0a
const BROADCAST = 0x0b
/** BVLC of a forwarded message 10, NPDU with a 6-byte source 11, APDU 1476. */
const DATAGRAM_MAX = 1497
/** Size of a Who-Is without a range; replies have three bytes or more. */
const APDU_MIN = 2

/** What a datagram carries above the network layer: the APDU, or type and content of a message between routers. */
type NetworkPdu = Omit<Frame, 'apdu'> & { isUnicast: boolean; isNetworkMessage: boolean; content: Uint8Array }

/**
 * @param bytes one datagram
 * @returns undefined for everything but an application message in a well-formed BACnet/IP frame (135-2020 J.2, 6.2)
 */
export function readFrame(bytes: Uint8Array): Frame | undefined {
  const pdu = readNetworkPdu(bytes)
  if (!pdu || pdu.isNetworkMessage || pdu.content.length < APDU_MIN) return undefined
  const { origin, source, content: apdu } = pdu
  return { ...(origin && { origin }), ...(source && { source }), apdu }
}

/** @returns undefined for everything but a well-formed BACnet/IP frame */
export function readNetworkPdu(bytes: Uint8Array): NetworkPdu | undefined {
  const [bvlc, linkFunction, high = 0, low = 0] = bytes
  if (bvlc !== BVLC || ((high << 8) | low) !== bytes.length || bytes.length > DATAGRAM_MAX) return undefined
  switch (linkFunction) {
    case UNICAST:
    case BROADCAST:
      return readNpdu(bytes.subarray(4), linkFunction === UNICAST)
    case FORWARDED: {
      const pdu = readNpdu(bytes.subarray(10), false)
      return pdu && { ...pdu, origin: { host: bytes.subarray(4, 8).join('.'), port: (bytes[8]! << 8) | bytes[9]! } }
    }
    default:
      return undefined
  }
}

const NETWORK_MESSAGE = 0x80
const RESERVED = 0x50
const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08

function readNpdu(bytes: Uint8Array, isUnicast: boolean): NetworkPdu | undefined {
  const control = bytes[1] ?? RESERVED
  if (bytes[0] !== 1 || control & RESERVED) return undefined
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
  const isNetworkMessage = (control & NETWORK_MESSAGE) !== 0
  return { isUnicast, isNetworkMessage, ...(source && { source }), content: bytes.subarray(at) }
}

/**
 * Reads the result of a request to a broadcast manager (135-2020 J.2.1).
 *
 * @returns 0 done, 0x30 registration refused, 0x60 broadcast refused; undefined for any other datagram
 */
export function readResult(bytes: Uint8Array): number | undefined {
  const isResult = bytes.length === 6 && bytes[0] === BVLC && bytes[1] === RESULT && bytes[2] === 0 && bytes[3] === 6
  return isResult ? (bytes[4]! << 8) | bytes[5]! : undefined
}

const SEGMENTED = 0x08
const MORE_FOLLOWS = 0x04
const WINDOW_MAX = 127

/** @returns undefined for everything but a reply of a server: requests, I-Am, notifications, SegmentACK */
export function readApdu(bytes: Uint8Array): Apdu | undefined {
  const [first = 0, invokeId = 0, third = 0] = bytes
  if (bytes.length < 3) return undefined
  switch (first >> 4) {
    case 2:
      return bytes.length === 3 ? { kind: 'done', invokeId, service: third } : undefined
    case 3:
      if (first & SEGMENTED) return readSegment(bytes)
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

/** 135-2020 20.1.5: type, invoke id, sequence number, proposed window size, service. */
function readSegment(bytes: Uint8Array): Apdu | undefined {
  const [first = 0, invokeId = 0, sequence = 0, window = 0, service] = bytes
  if (service === undefined || window < 1 || window > WINDOW_MAX) return undefined
  const isLast = (first & MORE_FOLLOWS) === 0
  return { kind: 'segment', invokeId, sequence, window, isLast, service, payload: bytes.subarray(5) }
}

const UNCONFIRMED_REQUEST = 0x10

/**
 * @param from sender of the datagram
 * @returns undefined for everything but an UnconfirmedRequest; its payload is not decoded (135-2020 20.1.3)
 */
export function readUnconfirmed({ apdu, origin, source }: Frame, from: Endpoint): UnconfirmedRequest | undefined {
  if (apdu[0] !== UNCONFIRMED_REQUEST) return undefined
  const { host, port } = origin ?? from
  return { host, port, service: apdu[1]!, payload: apdu.subarray(2), ...(source && { station: source }) }
}

/** @returns whether both are the same station; undefined stands for a device on the IP network itself */
export function isSameStation(a: Station | undefined, b: Station | undefined): boolean {
  if (!a || !b) return a === b
  return a.network === b.network && a.mac.length === b.mac.length && a.mac.every((byte, i) => byte === b.mac[i])
}

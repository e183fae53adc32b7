/** Encodes requests with node-bacnet, which no other file uses. Replies are decoded strictly in `core/`. */
import apdu from 'node-bacnet/lib/apdu.js'
import bvlc from 'node-bacnet/lib/bvlc.js'
import npdu from 'node-bacnet/lib/npdu.js'
import readProperty from 'node-bacnet/lib/services/read-property.js'
import readPropertyMultiple from 'node-bacnet/lib/services/read-property-multiple.js'
import subscribeCov from 'node-bacnet/lib/services/subscribe-cov.js'
import whoIs from 'node-bacnet/lib/services/who-is.js'
import type { Station } from './core/frame.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import type { SegmentAck } from './core/segments.ts'
import { type ServiceRequest, READ_PROPERTY, READ_PROPERTY_MULTIPLE, SUBSCRIBE_COV } from './core/reply.ts'

const BVLC_BYTES = 4
/** Functions of the link layer (135-2020 J.2). */
const REGISTER_FOREIGN_DEVICE = 0x05
const UNICAST = 0x0a
/** Link-layer functions of a broadcast: on the network itself, or through a broadcast manager. */
const BROADCASTS = { network: 0x0b, manager: 0x09 } as const
/** NPCI bit: an answer is expected (135-2020 6.2.2). */
const EXPECTING_REPLY = 0x04
/** Requests are never segmented. */
const CONFIRMED_REQUEST = 0x00
const SEGMENTED_RESPONSE_ACCEPTED = 0x02
const NO_SEGMENTS = 0x00
/** Code of "more than 64" (135-2020 20.1.2.4). */
const MANY_SEGMENTS = 0x70
/** Code of 1476 bytes (135-2020 20.1.2.5). */
const TAKES_1476 = 0x05
const WHOLE = 0xffff_ffff
/** Maximum size of a request, bytes: 92 points of 9 bytes, or 12 with an index. */
const REQUEST_MAX = 1497

/**
 * @param station the device behind a router; undefined when it is on the IP network itself
 * @param segmentation whether the answer may come in parts
 * @returns one datagram with the request: ReadProperty, ReadPropertyMultiple or SubscribeCOV
 * @throws RangeError when it does not fit a datagram
 */
export function encodeRequest(
  question: ServiceRequest,
  invokeId: number,
  station: Station | undefined,
  segmentation: boolean,
): Buffer {
  const bytes = { buffer: DRAFT, offset: BVLC_BYTES }
  encodeNpdu(bytes, EXPECTING_REPLY, station)
  const type = CONFIRMED_REQUEST | (segmentation ? SEGMENTED_RESPONSE_ACCEPTED : 0)
  const segments = segmentation ? MANY_SEGMENTS : NO_SEGMENTS
  apdu.encodeConfirmedServiceRequest(bytes, type, question.service, segments, TAKES_1476, invokeId)
  encodeQuestion(bytes, question)
  return finish(bytes, UNICAST)
}

type Writing = { buffer: Buffer; offset: number }

const encodeNpdu = (bytes: Writing, control: number, station: Station | undefined): void =>
  npdu.encode(bytes, control, station && { net: station.network, adr: [...station.mac] })

function finish(bytes: Writing, linkFunction: number): Buffer {
  bvlc.encode(bytes.buffer, linkFunction, bytes.offset)
  return Buffer.from(bytes.buffer.subarray(0, bytes.offset))
}

/** Buffer for encoding; the result is copied before another request is encoded. */
const DRAFT = Buffer.alloc(REQUEST_MAX)
/** Object 5, opening and closing tag, property 5, index 5. */
const SPECIFICATION_MAX = 17
/** Encoded targets. Polls repeat the same targets, and encoding them is the largest part of encoding a request. */
const specifications = new WeakMap<Target, Uint8Array>()

function specificationOf(target: Target): Uint8Array {
  const known = specifications.get(target)
  if (known) return known
  const { type, instance, property, index = WHOLE } = target
  const bytes = { buffer: Buffer.alloc(SPECIFICATION_MAX), offset: 0 }
  readPropertyMultiple.encode(bytes, [{ objectId: { type, instance }, properties: [{ id: property, index }] }])
  const made = new Uint8Array(bytes.buffer.subarray(0, bytes.offset))
  specifications.set(target, made)
  return made
}

function encodeQuestion(bytes: Writing, question: ServiceRequest): void {
  switch (question.service) {
    case READ_PROPERTY: {
      const { type, instance, property, index = WHOLE } = question.targets[0]!
      return readProperty.encode(bytes, type, instance, property, index)
    }
    case READ_PROPERTY_MULTIPLE:
      for (const target of question.targets) {
        const specification = specificationOf(target)
        bytes.buffer.set(specification, bytes.offset)
        bytes.offset += specification.length
      }
      return undefined
    case SUBSCRIBE_COV: {
      const { processId, object, lifetimeSecs } = question.subscription
      return subscribeCov.encode(bytes, processId, object, false, false, lifetimeSecs)
    }
  }
}

/** The server bit is not set in these PDUs: this process is the client of the transaction. */
const SEGMENT_ACK = 0x40
const NEGATIVE = 0x02
const ABORT = 0x70

/** @returns one datagram with a SegmentACK */
export function encodeSegmentAck(invokeId: number, ack: SegmentAck, station: Station | undefined): Buffer {
  const type = SEGMENT_ACK | (ack.isNegative ? NEGATIVE : 0)
  return encodeShort([type, invokeId, ack.sequence, ack.window], station)
}

/**
 * @param reason 135-2020 18.10
 * @returns one datagram that ends a transaction of this client
 */
export const encodeAbort = (invokeId: number, reason: number, station: Station | undefined): Buffer =>
  encodeShort([ABORT, invokeId, reason], station)

function encodeShort(pdu: number[], station: Station | undefined): Buffer {
  const bytes = { buffer: DRAFT, offset: BVLC_BYTES }
  encodeNpdu(bytes, 0, station)
  for (const byte of pdu) bytes.buffer[bytes.offset++] = byte
  return finish(bytes, UNICAST)
}

/**
 * @param ttlSecs how long the broadcast manager forwards broadcasts to this process, 1..65535
 * @returns one datagram with Register-Foreign-Device (135-2020 J.2.6)
 */
export function encodeRegistration(ttlSecs: number): Buffer {
  const bytes = { buffer: DRAFT, offset: BVLC_BYTES }
  bytes.offset = bytes.buffer.writeUInt16BE(ttlSecs, bytes.offset)
  return finish(bytes, REGISTER_FOREIGN_DEVICE)
}

/** Instances of device objects, both ends included. */
export type InstanceRange = { low: number; high: number }

/** Network number that means all networks. */
export const ALL_NETWORKS = 0xffff
const UNCONFIRMED_REQUEST = 0x10
const WHO_IS = 8

/**
 * @param range instances that answer; undefined means all
 * @param network network on which routers broadcast it, 1..65534 or ALL_NETWORKS; undefined for this IP network only
 * @param broadcast how it is broadcast; undefined for a single address
 * @returns one datagram with a Who-Is request
 */
export function encodeWhoIs(
  range: InstanceRange | undefined,
  network: number | undefined,
  broadcast: keyof typeof BROADCASTS | undefined,
): Buffer {
  const bytes = { buffer: DRAFT, offset: BVLC_BYTES }
  npdu.encode(bytes, 0, network === undefined ? undefined : { net: network, adr: [] })
  apdu.encodeUnconfirmedServiceRequest(bytes, UNCONFIRMED_REQUEST, WHO_IS)
  if (range) whoIs.encode(bytes, range.low, range.high)
  return finish(bytes, broadcast ? BROADCASTS[broadcast] : UNICAST)
}

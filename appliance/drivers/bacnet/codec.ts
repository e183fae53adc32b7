/** Requests as bytes. The one file that knows node-bacnet; replies are read by our own strict decoder. */
import apdu from 'node-bacnet/lib/apdu.js'
import bvlc from 'node-bacnet/lib/bvlc.js'
import npdu from 'node-bacnet/lib/npdu.js'
import readProperty from 'node-bacnet/lib/services/read-property.js'
import readPropertyMultiple from 'node-bacnet/lib/services/read-property-multiple.js'
import subscribeCov from 'node-bacnet/lib/services/subscribe-cov.js'
import whoIs from 'node-bacnet/lib/services/who-is.js'
import type { Station } from '#shared/core/bacnet/frame.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import { type Question, READ_PROPERTY, READ_PROPERTY_MULTIPLE, SUBSCRIBE_COV } from '#shared/core/bacnet/reply.ts'

const BVLC_BYTES = 4
const UNICAST = 0x0a
const BROADCAST = 0x0b
/** NPCI bit: an answer is expected, so routers keep the way back (135-2020 6.2.2). */
const EXPECTING_REPLY = 0x04
/** No segmented answer is accepted, and none of our requests is segmented. */
const CONFIRMED_REQUEST = 0x00
const NO_SEGMENTS = 0x00
/** Code of 1476 bytes (135-2020 20.1.2.5). */
const TAKES_1476 = 0x05
const WHOLE = 0xffff_ffff
/** Longest request: 92 points of 9 bytes each, a point with an index 12. */
const REQUEST_MAX = 1497
/** BVLC 4, NPDU with a destination network 6, APDU 2, two tagged instances of 4 bytes each. */
const WHO_IS_MAX = 20

/**
 * @param station the device behind a router; undefined when it is on the IP network itself
 * @returns one datagram with the request: ReadProperty, ReadPropertyMultiple or SubscribeCOV
 * @throws RangeError when it would not fit a datagram
 */
export function encodeRequest(question: Question, invokeId: number, station: Station | undefined): Buffer {
  const bytes = { buffer: DRAFT, offset: BVLC_BYTES }
  npdu.encode(bytes, EXPECTING_REPLY, station && { net: station.network, adr: [...station.mac] })
  apdu.encodeConfirmedServiceRequest(bytes, CONFIRMED_REQUEST, question.service, NO_SEGMENTS, TAKES_1476, invokeId)
  encodeQuestion(bytes, question)
  bvlc.encode(bytes.buffer, UNICAST, bytes.offset)
  return Buffer.from(bytes.buffer.subarray(0, bytes.offset))
}

/** Requests are written here and copied once their length is known; encoding is over before anything else runs. */
const DRAFT = Buffer.alloc(REQUEST_MAX)
/** Object 5, opening and closing tag, property 5, index 5. */
const SPECIFICATION_MAX = 17
/** A poll asks for the same targets over and over, and writing them costs more than all the rest of a request. */
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

function encodeQuestion(bytes: { buffer: Buffer; offset: number }, question: Question): void {
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

/** Instances of device objects, both ends included. */
export type InstanceRange = { low: number; high: number }

/** A network of the building, or all of them. */
export const ALL_NETWORKS = 0xffff
const UNCONFIRMED_REQUEST = 0x10
const WHO_IS = 8

/**
 * @param range devices that are meant; undefined means all
 * @param network where it is broadcast by routers, 1..65534 or ALL_NETWORKS; undefined for this IP network alone
 * @returns one datagram with a Who-Is request, to be sent to one address or to the broadcast address
 */
export function encodeWhoIs(range: InstanceRange | undefined, network: number | undefined, isBroadcast: boolean): Buffer {
  const bytes = { buffer: Buffer.alloc(WHO_IS_MAX), offset: BVLC_BYTES }
  npdu.encode(bytes, 0, network === undefined ? undefined : { net: network, adr: [] })
  apdu.encodeUnconfirmedServiceRequest(bytes, UNCONFIRMED_REQUEST, WHO_IS)
  if (range) whoIs.encode(bytes, range.low, range.high)
  bvlc.encode(bytes.buffer, isBroadcast ? BROADCAST : UNICAST, bytes.offset)
  return bytes.buffer.subarray(0, bytes.offset)
}

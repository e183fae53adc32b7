/** Requests as bytes. The one file that knows node-bacnet; replies are read by our own strict decoder. */
import apdu from 'node-bacnet/lib/apdu.js'
import bvlc from 'node-bacnet/lib/bvlc.js'
import npdu from 'node-bacnet/lib/npdu.js'
import readProperty from 'node-bacnet/lib/services/read-property.js'
import readPropertyMultiple from 'node-bacnet/lib/services/read-property-multiple.js'
import type { Station } from '#shared/core/bacnet/frame.ts'
import { type Question, READ_PROPERTY } from '#shared/core/bacnet/reply.ts'

const BVLC_BYTES = 4
const UNICAST = 0x0a
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

/**
 * @param station the device behind a router; undefined when it is on the IP network itself
 * @returns one datagram with a ReadProperty or ReadPropertyMultiple request
 * @throws RangeError when it would not fit a datagram
 */
export function encodeRequest(question: Question, invokeId: number, station: Station | undefined): Buffer {
  const bytes = { buffer: Buffer.alloc(REQUEST_MAX), offset: BVLC_BYTES }
  npdu.encode(bytes, EXPECTING_REPLY, station && { net: station.network, adr: [...station.mac] })
  apdu.encodeConfirmedServiceRequest(bytes, CONFIRMED_REQUEST, question.service, NO_SEGMENTS, TAKES_1476, invokeId)
  if (question.service === READ_PROPERTY) {
    const { type, instance, property, index = WHOLE } = question.targets[0]!
    readProperty.encode(bytes, type, instance, property, index)
  } else {
    const specifications = question.targets.map(({ type, instance, property, index = WHOLE }) => ({
      objectId: { type, instance },
      properties: [{ id: property, index }],
    }))
    readPropertyMultiple.encode(bytes, specifications)
  }
  bvlc.encode(bytes.buffer, UNICAST, bytes.offset)
  return bytes.buffer.subarray(0, bytes.offset)
}

/** Decodes notifications of changed values (135-2020 13.7). */
import { DEVICE, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import {
  type BacnetValue,
  isClosing,
  isContext,
  isDone,
  Malformed,
  openCursor,
  readClosing,
  readContextObject,
  readContextUnsigned,
  readOpening,
  readValues,
} from './tag.ts'

/** Service choice of an UnconfirmedCOVNotification (135-2020 21, BACnetUnconfirmedServiceChoice). */
export const COV_NOTIFICATION = 2

/** Object identifier. */
export type ObjectId = { type: number; instance: number }
export const objectKey = ({ type, instance }: ObjectId): string => `${type}:${instance}`

type CovNotification = {
  /** Process id of the subscriber. */
  processId: number
  /** Instance of the sender. */
  device_instance: number
  object: ObjectId
  /** Until the subscription ends, s; 0 when it has no end. */
  remainingSecs: number
  presentValue: BacnetValue[]
}

/** Maximum number of properties; objects of the standard report at most four. */
const PROPERTIES_MAX = 32

/**
 * Decodes the payload of an UnconfirmedCOVNotification strictly; never throws, whatever the bytes.
 *
 * @returns the reason as text when it is malformed or does not contain the present value exactly once
 */
export function readCovNotification(payload: Uint8Array): CovNotification | string {
  try {
    return read(payload)
  } catch (error) {
    if (error instanceof Malformed) return `the notification is malformed: ${error.message}`
    throw error
  }
}

/** [0] process, [1] device, [2] object, [3] time remaining, [4] { [0] property, [1] index?, [2] value, [3] priority? }. */
function read(payload: Uint8Array): CovNotification | string {
  const cursor = openCursor(payload)
  const processId = readContextUnsigned(cursor, 0)
  const device = readContextObject(cursor, 1)
  if (device.type !== DEVICE) throw new Malformed('the sender is not a device')
  const object = readContextObject(cursor, 2)
  const remainingSecs = readContextUnsigned(cursor, 3)
  const found: BacnetValue[][] = []
  readOpening(cursor, 4)
  for (let count = 0; !isClosing(cursor, 4); count++) {
    if (count === PROPERTIES_MAX) throw new Malformed(`more than ${PROPERTIES_MAX} properties`)
    const property = readContextUnsigned(cursor, 0)
    const isElement = isContext(cursor, 1)
    if (isElement) readContextUnsigned(cursor, 1)
    readOpening(cursor, 2)
    const values = readValues(cursor, 2)
    if (isContext(cursor, 3)) readContextUnsigned(cursor, 3)
    if (property === PRESENT_VALUE && !isElement) found.push(values)
  }
  readClosing(cursor, 4)
  if (!isDone(cursor)) throw new Malformed('bytes are left over')
  const [presentValue] = found
  if (!presentValue || found.length > 1) return `the notification contains ${found.length} present values`
  return { processId, device_instance: device.instance, object, remainingSecs, presentValue }
}

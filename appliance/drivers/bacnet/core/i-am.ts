/** Decodes I-Am, the answer of a device to Who-Is (135-2020 16.10). */
import { INSTANCE_MAX, DEVICE } from '#shared/core/bacnet/object.ts'
import { type BacnetValue, type Cursor, isDone, Malformed, openCursor, readValue } from './tag.ts'

/** The unconfirmed service that carries it (135-2020 21, BACnetUnconfirmedServiceChoice). */
export const I_AM = 0

/** Segmentation support of a device, in the order of the enumeration. */
export const SEGMENTATIONS = ['both', 'transmit', 'receive', 'none'] as const
type Segmentation = (typeof SEGMENTATIONS)[number]

export type IAm = {
  /** 0..4194302. */
  device_instance: number
  /** Largest APDU that the device accepts, bytes, 50 and more. */
  max_apdu: number
  segmentation: Segmentation
  /** Vendor id assigned by ASHRAE. */
  vendor_id: number
}

const APDU_LEAST = 50
const VENDOR_MAX = 65_535

/**
 * @param payload of the unconfirmed request, after its service choice
 * @returns the decoded I-Am, or the reason why it is none
 */
export function readIAm(payload: Uint8Array): IAm | string {
  try {
    const cursor = openCursor(payload)
    const object = readValue(cursor)
    if (object.type !== 'object' || object.object.type !== DEVICE) return 'it names no device object'
    const { instance } = object.object
    if (instance > INSTANCE_MAX) return 'its instance is the wildcard'
    const max_apdu = readUnsigned(cursor)
    const segmentation = enumerated(readValue(cursor))
    const vendor_id = readUnsigned(cursor)
    if (!isDone(cursor)) return 'bytes are left over'
    if (max_apdu === undefined || max_apdu < APDU_LEAST) return 'its largest APDU is below 50 bytes'
    if (segmentation === undefined) return 'its segmentation is none of the four'
    if (vendor_id === undefined || vendor_id > VENDOR_MAX) return 'its vendor is no number up to 65535'
    return { device_instance: instance, max_apdu, segmentation, vendor_id }
  } catch (error) {
    if (error instanceof Malformed) return `it is malformed: ${error.message}`
    throw error
  }
}

function readUnsigned(cursor: Cursor): number | undefined {
  const value = readValue(cursor)
  return value.type === 'unsigned' && typeof value.value === 'number' ? value.value : undefined
}

const enumerated = (value: BacnetValue): Segmentation | undefined =>
  value.type === 'enumerated' ? SEGMENTATIONS[value.value] : undefined

/** How many points go into one request, learnt from the device and remembered by its driver. */
import type { Refusal } from './reply.ts'

/** `multiple: false` means ReadProperty, one point at a time. */
export type Batch = { readonly size: number; readonly multiple: boolean }

/** Largest APDU we take and offer, bytes (135-2020 20.1.2.5). */
export const APDU_MAX = 1476
/** Assumed of a device whose entry does not say: what MS/TP devices take. */
export const APDU_DEFAULT = 480
/** ComplexACK header. */
const ACK_HEADER = 3
/** A REAL present value within a ReadPropertyMultiple acknowledgement. */
const RESULT_BYTES = 16

/**
 * The first batch to try. A request takes 9 bytes a point, fewer than its answer, so it always fits.
 *
 * @param maxApdu largest APDU that the device takes, bytes
 * @param most points per request that its entry allows
 * @returns 92, 63, 29, 12 or 7 points for an APDU of 1476, 1024, 480, 206 or 128 bytes
 */
export function firstBatch(maxApdu: number, most = Number.POSITIVE_INFINITY): Batch {
  const fits = Math.floor((Math.min(maxApdu, APDU_MAX) - ACK_HEADER) / RESULT_BYTES)
  const size = Math.max(1, Math.min(fits, most))
  return { size, multiple: size > 1 }
}

const TOO_LARGE = { abort: [1, 4, 11], reject: [1, 7] } as const
const UNRECOGNIZED_SERVICE = 9

/**
 * What to try after a device declined a whole request.
 *
 * @param asked points that the declined request held
 * @returns the batch to use from now on; undefined when the refusal has nothing to do with size or service
 */
export function afterRefusal(batch: Batch, asked: number, refusal: Refusal): Batch | undefined {
  if (refusal.by === 'error' || !batch.multiple) return undefined
  if (refusal.by === 'reject' && refusal.reason === UNRECOGNIZED_SERVICE) return { size: 1, multiple: false }
  if (!(TOO_LARGE[refusal.by] as readonly number[]).includes(refusal.reason)) return undefined
  return asked > 1 ? { size: Math.floor(asked / 2), multiple: true } : { size: 1, multiple: false }
}

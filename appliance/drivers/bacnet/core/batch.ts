/** The number of points in one request: estimated from the size of the answer, and learnt from the device. */
import {
  CHARACTERSTRING_VALUE,
  isText,
  LARGE_ANALOG_VALUE,
  PRESENT_VALUE,
  PRIORITY_ARRAY,
  type Target,
} from '#shared/core/bacnet/object.ts'
import type { RequestRefusal } from './reply.ts'
import { MINUTE } from '#shared/core/time.ts'

/** Limits of one request. `multiple: false` means ReadProperty with one point at a time. */
export type Batch = {
  /** Maximum number of points. */
  readonly size: number
  /** Maximum size of the results in the answer, bytes, estimated by `resultBytes`. */
  readonly bytes: number
  readonly multiple: boolean
}

/** Largest APDU that this process accepts and uses, bytes (135-2020 20.1.2.5). */
export const APDU_MAX = 1476
/** Assumed APDU of a device that does not report it: the size of MS/TP devices. */
export const APDU_DEFAULT = 480
/** Smallest APDU of the standard. */
const APDU_MIN = 50
/** ComplexACK header. */
const ACK_HEADER = 3
/** Object identifier 5, opening and closing tags around the results and around the value 4, tag of the property 1. */
const RESULT_FRAME = 10
/** Bytes of a value with its tag: a REAL, and all types that are not listed. */
const VALUE = 5
const DOUBLE_VALUE = 10
/** Sixteen levels, none of them NULL. */
const PRIORITY_ARRAY_VALUE = 16 * VALUE
/** A text of forty characters; a longer one that does not fit is refused and then requested alone. */
const TEXT_VALUE = 43
/** A REAL present value within an acknowledgement. */
const PLAIN_RESULT = 16

/** @returns bytes of one result in a ReadPropertyMultiple acknowledgement: 16 of a present value, 91 of a priority array */
export function resultBytes(target: Target): number {
  const { property, index } = target
  return RESULT_FRAME + unsignedBytes(property) + (index === undefined ? 0 : 1 + unsignedBytes(index)) + valueBytes(target)
}

function valueBytes(target: Target): number {
  const { type, property, index } = target
  if (property === PRIORITY_ARRAY && index === undefined) return PRIORITY_ARRAY_VALUE
  if (isText(property) || (type === CHARACTERSTRING_VALUE && property === PRESENT_VALUE)) return TEXT_VALUE
  return type === LARGE_ANALOG_VALUE ? DOUBLE_VALUE : VALUE
}

/** Properties have 22 bits at most, indexes 16. */
const unsignedBytes = (value: number): number => (value < 0x100 ? 1 : value < 0x1_0000 ? 2 : 3)

/**
 * The first batch to try. A request needs fewer bytes per point than its answer, so it always fits.
 *
 * @param maxApdu largest APDU that the device accepts, bytes
 * @param most points per request that its entry allows
 * @returns 92, 63, 29, 12 or 7 present values for an APDU of 1476, 1024, 480, 206 or 128 bytes; 16, 5 or 2 whole
 *   priority arrays for 1476, 480 or 206
 */
export function firstBatch(maxApdu: number, most = Number.POSITIVE_INFINITY): Batch {
  const bytes = Math.max(APDU_MIN, Math.min(maxApdu, APDU_MAX)) - ACK_HEADER
  const size = Math.max(1, Math.min(Math.floor(bytes / PLAIN_RESULT), most))
  return { size, bytes, multiple: size > 1 }
}

/** Size of a request: points, and estimated bytes of results. */
type RequestSize = { count: number; bytes: number }

export const sizeOf = (targets: readonly Target[]): RequestSize => ({
  count: targets.length,
  bytes: targets.reduce((sum, target) => sum + resultBytes(target), 0),
})

/** @returns how many of `targets`, from the first on, fit into one request; at least one */
export function fitting({ size, bytes, multiple }: Batch, targets: readonly Target[]): number {
  if (!multiple) return 1
  let room = bytes
  let count = 0
  while (count < Math.min(size, targets.length)) {
    room -= resultBytes(targets[count]!)
    if (room < 0) break
    count++
  }
  return Math.max(1, count)
}

/** @returns how many present values fit into one request */
export const plainSize = ({ size, bytes, multiple }: Batch): number =>
  multiple ? Math.max(1, Math.min(size, Math.floor(bytes / PLAIN_RESULT))) : 1

/** Batch size of a device as earlier reads have learnt it. */
export type BatchLearning = {
  /** The batch that its APDU and its entry allow. */
  readonly first: Batch
  /** The batch that works. */
  readonly batch: Batch
  /** Largest answer so far, bytes of results; 0 when it never answered a ReadPropertyMultiple. */
  readonly proven: number
  /** Time of the next attempt at a larger batch, ms since 1970; null while the batch is not reduced. */
  readonly growAt: number | null
  /** Requests in a row that failed without a bad point, although they were no larger than one that was answered. */
  readonly doubts: number
}

/**
 * Pause before a larger batch is tried. What was learnt may be wrong by chance or forgery, or the firmware may change; each attempt
 * costs at most one failed request.
 */
const GROW_AFTER_MS = 10 * MINUTE
/** Failures in a row after which a proven size is doubted: losses rarely occur alone. */
const DOUBTS_MAX = 3
/** An answer of at least this share of the proven size confirms it. */
const PROOF = 0.75

export const startLearning = (first: Batch): BatchLearning => ({ first, batch: first, proven: 0, growAt: null, doubts: 0 })

/** Updates the learning after an answer; doubles the batch when a larger one is due. */
export function afterAnswer(
  learnt: BatchLearning,
  asked: RequestSize,
  service: 'multiple' | 'single',
  now: number,
): BatchLearning {
  const { first, batch, growAt } = learnt
  const proven = service === 'multiple' ? Math.max(learnt.proven, asked.bytes) : learnt.proven
  const doubts = service === 'multiple' && asked.bytes >= PROOF * proven ? 0 : learnt.doubts
  // Also after the clock was set back.
  const isTime = growAt !== null && (now >= growAt || growAt - now > GROW_AFTER_MS)
  if (!isTime) return proven === learnt.proven && doubts === learnt.doubts ? learnt : { ...learnt, proven, doubts }
  const doubled = batch.multiple ? { size: 2 * batch.size, bytes: 2 * batch.bytes } : { size: 2, bytes: 2 * PLAIN_RESULT }
  const size = Math.min(doubled.size, first.size)
  const bytes = Math.min(doubled.bytes, first.bytes)
  const isWhole = size === first.size && bytes === first.bytes
  return { first, batch: { size, bytes, multiple: first.multiple }, proven, doubts, growAt: isWhole ? null : growAt }
}

/**
 * Updates the learning after a failed request whose points were all answered in smaller ones.
 *
 * @param failed estimated bytes of the failed request
 * @param answered estimated bytes of the largest smaller one
 * @returns a smaller batch; the same, with one more doubt, when that size was answered before and the failure may be accidental
 */
export function afterTooLarge(learnt: BatchLearning, failed: number, answered: number, now: number): BatchLearning {
  const { first, proven, doubts } = learnt
  // Points were answered one by one, and never two at once.
  if (proven === 0) return withoutMultiple(learnt, now)
  const isProven = failed <= proven
  if (isProven && doubts + 1 < DOUBTS_MAX) return { ...learnt, doubts: doubts + 1 }
  const bytes = Math.max(PLAIN_RESULT, answered, isProven ? 0 : proven)
  const size = Math.min(first.size, Math.max(1, Math.floor(bytes / PLAIN_RESULT)))
  const batch = { size, bytes, multiple: true }
  return { first, batch, proven: isProven ? answered : proven, growAt: now + GROW_AFTER_MS, doubts: 0 }
}

const OUTGROWN = { abort: [1, 4, 11], reject: [1, 7] } as const
const UNRECOGNIZED_SERVICE = 9
/** Error class services with service-request-denied or optional-functionality-not-supported. */
const SERVICES = 5
const NO_SUCH_SERVICE = [29, 45]

/** @returns whether the refusal of a ReadPropertyMultiple means that the device does not support the service */
export function deniesService(refusal: RequestRefusal): boolean {
  if (refusal.by === 'error') return refusal.errorClass === SERVICES && NO_SUCH_SERVICE.includes(refusal.errorCode)
  return refusal.by === 'reject' && refusal.reason === UNRECOGNIZED_SERVICE
}

/** @returns whether the refusal of a request for one value means that the value is too large to be sent */
export const deniesSize = (refusal: RequestRefusal): boolean =>
  refusal.by !== 'error' && (OUTGROWN[refusal.by] as readonly number[]).includes(refusal.reason)

/**
 * Updates the learning after a refusal of a whole ReadPropertyMultiple.
 *
 * @returns undefined when the refusal does not concern size or service, or when the request was for a single point
 */
export function afterRefusal(
  learnt: BatchLearning,
  asked: RequestSize,
  refusal: RequestRefusal,
  now: number,
): BatchLearning | undefined {
  if (deniesService(refusal)) return withoutMultiple(learnt, now)
  if (!deniesSize(refusal)) return undefined
  // It has answered twice that size: one point of this request is larger than estimated.
  if (2 * asked.bytes <= learnt.proven) return undefined
  return asked.count > 1 ? shrunk(learnt, asked, 2, now) : undefined
}

/** Switches to ReadProperty, until ReadPropertyMultiple is tried again. */
export const withoutMultiple = (learnt: BatchLearning, now: number): BatchLearning => ({
  ...learnt,
  batch: { ...learnt.batch, size: 1, multiple: false },
  growAt: now + GROW_AFTER_MS,
})

/**
 * Updates the learning after no usable answer to a ReadPropertyMultiple from a device that is up: some drop or truncate answers that
 * are too large. A quarter is tried next, because each attempt costs all timeouts.
 *
 * @returns the same when that size was answered before: then the network is the cause
 */
export function afterSilence(learnt: BatchLearning, asked: RequestSize, now: number): BatchLearning {
  if (!learnt.batch.multiple || asked.bytes <= learnt.proven) return learnt
  return asked.count === 1 ? withoutMultiple(learnt, now) : shrunk(learnt, asked, 4, now)
}

/** Reduces the batch, but not below the proven size unless that size failed. */
function shrunk(learnt: BatchLearning, asked: RequestSize, by: number, now: number): BatchLearning {
  const known = asked.bytes > learnt.proven ? learnt.proven : 0
  const size = Math.max(1, Math.floor(asked.count / by), Math.floor(known / PLAIN_RESULT))
  const bytes = Math.max(PLAIN_RESULT, Math.floor(asked.bytes / by), known)
  return { ...learnt, batch: { size, bytes, multiple: true }, growAt: now + GROW_AFTER_MS }
}

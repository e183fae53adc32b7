/** How many points go into one request: planned from the size of the answer, learnt from the device. */
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

/** What one request may ask for. `multiple: false` means ReadProperty, one point at a time. */
export type Batch = {
  /** Most points. */
  readonly size: number
  /** Most bytes of results in the answer, as `resultBytes` reckons them. */
  readonly bytes: number
  readonly multiple: boolean
}

/** Largest APDU we take and offer, bytes (135-2020 20.1.2.5). */
export const APDU_MAX = 1476
/** Assumed of a device that does not say: what MS/TP devices take. */
export const APDU_DEFAULT = 480
/** Smallest that the standard has. */
const APDU_MIN = 50
/** ComplexACK header. */
const ACK_HEADER = 3
/** Object identifier 5, opening and closing tags around the results and around the value 4, tag of the property 1. */
const RESULT_FRAME = 10
/** Bytes of a value with its tag: a REAL, and everything else that is not listed. */
const VALUE = 5
const DOUBLE_VALUE = 10
/** Sixteen slots, none of them NULL. */
const PRIORITY_ARRAY_VALUE = 16 * VALUE
/** A text of forty letters; a longer one that does not fit is refused and then asked for alone. */
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
 * The first batch to try. A request takes fewer bytes a point than its answer, so it always fits.
 *
 * @param maxApdu largest APDU that the device takes, bytes
 * @param most points per request that its entry allows
 * @returns 92, 63, 29, 12 or 7 present values for an APDU of 1476, 1024, 480, 206 or 128 bytes; 16, 5 or 2 whole
 *   priority arrays for 1476, 480 or 206
 */
export function firstBatch(maxApdu: number, most = Number.POSITIVE_INFINITY): Batch {
  const bytes = Math.max(APDU_MIN, Math.min(maxApdu, APDU_MAX)) - ACK_HEADER
  const size = Math.max(1, Math.min(Math.floor(bytes / PLAIN_RESULT), most))
  return { size, bytes, multiple: size > 1 }
}

/** What a request asked for: points, and bytes of results as planned. */
type Asked = { count: number; bytes: number }

export const sizeOf = (targets: readonly Target[]): Asked => ({
  count: targets.length,
  bytes: targets.reduce((sum, target) => sum + resultBytes(target), 0),
})

/** @returns how many of `targets`, from the first on, go into one request; at least one */
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

/** Present values that go into one request. */
export const plainSize = ({ size, bytes, multiple }: Batch): number =>
  multiple ? Math.max(1, Math.min(size, Math.floor(bytes / PLAIN_RESULT))) : 1

/** What a device has taught. */
export type BatchLearning = {
  /** What its APDU and its entry allow. */
  readonly first: Batch
  /** What works, as far as is known. */
  readonly batch: Batch
  /** Most bytes of results that it has answered at once; 0 when it never answered a ReadPropertyMultiple. */
  readonly proven: number
  /** When a larger batch is tried again, ms since 1970; null while the batch is whole. */
  readonly growAt: number | null
  /** Requests in a row that failed though they asked for no more than has been answered, and held no bad point. */
  readonly doubts: number
}

/**
 * A chance, or a forger, may teach what is not so, and a device may be given new firmware: one request in vain each time
 * finds out.
 */
const GROW_AFTER_MS = 10 * MINUTE
/** A loss is seldom alone. */
const DOUBTS_MAX = 3
/** What shows that batches of the size that has been answered still are: this share of it. */
const PROOF = 0.75

export const startLearning = (first: Batch): BatchLearning => ({ first, batch: first, proven: 0, growAt: null, doubts: 0 })

/** After an answer to a ReadPropertyMultiple, or to a ReadProperty: twice as much when it is time to try that again. */
export function afterAnswer(learnt: BatchLearning, asked: Asked, service: 'multiple' | 'single', now: number): BatchLearning {
  const { first, batch, growAt } = learnt
  const proven = service === 'multiple' ? Math.max(learnt.proven, asked.bytes) : learnt.proven
  const doubts = service === 'multiple' && asked.bytes >= PROOF * proven ? 0 : learnt.doubts
  // The clock was set back, or it is time.
  const isTime = growAt !== null && (now >= growAt || growAt - now > GROW_AFTER_MS)
  if (!isTime) return proven === learnt.proven && doubts === learnt.doubts ? learnt : { ...learnt, proven, doubts }
  const doubled = batch.multiple ? { size: 2 * batch.size, bytes: 2 * batch.bytes } : { size: 2, bytes: 2 * PLAIN_RESULT }
  const size = Math.min(doubled.size, first.size)
  const bytes = Math.min(doubled.bytes, first.bytes)
  const isWhole = size === first.size && bytes === first.bytes
  return { first, batch: { size, bytes, multiple: first.multiple }, proven, doubts, growAt: isWhole ? null : growAt }
}

/**
 * After a request failed of which every point was answered in smaller ones.
 *
 * @param failed bytes of results that it asked for
 * @param answered most bytes that one of the smaller ones asked for
 * @returns a smaller batch; the same, with a doubt, when as much has been answered before: then it may have been chance
 */
export function afterTooLarge(learnt: BatchLearning, failed: number, answered: number, now: number): BatchLearning {
  const { first, proven, doubts } = learnt
  // One by one they were answered, and never two at once.
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

/** Whether the refusal of a ReadPropertyMultiple says that the device does not have this service. */
export function deniesService(refusal: RequestRefusal): boolean {
  if (refusal.by === 'error') return refusal.errorClass === SERVICES && NO_SUCH_SERVICE.includes(refusal.errorCode)
  return refusal.by === 'reject' && refusal.reason === UNRECOGNIZED_SERVICE
}

/** Whether the refusal of a request for one value says that this value is too large to be sent. */
export const deniesSize = (refusal: RequestRefusal): boolean =>
  refusal.by !== 'error' && (OUTGROWN[refusal.by] as readonly number[]).includes(refusal.reason)

/**
 * After a device declined a whole ReadPropertyMultiple.
 *
 * @returns what is known from now on; undefined when the refusal has nothing to do with size or service, or when the
 *   request was for a single point
 */
export function afterRefusal(
  learnt: BatchLearning,
  asked: Asked,
  refusal: RequestRefusal,
  now: number,
): BatchLearning | undefined {
  if (deniesService(refusal)) return withoutMultiple(learnt, now)
  if (!deniesSize(refusal)) return undefined
  // It has answered twice as much: one point in this request is larger than planned.
  if (2 * asked.bytes <= learnt.proven) return undefined
  return asked.count > 1 ? shrunk(learnt, asked, 2, now) : undefined
}

/** After ReadProperty gave what ReadPropertyMultiple never did. */
export const withoutMultiple = (learnt: BatchLearning, now: number): BatchLearning => ({
  ...learnt,
  batch: { ...learnt.batch, size: 1, multiple: false },
  growAt: now + GROW_AFTER_MS,
})

/**
 * After no usable answer to a ReadPropertyMultiple from a device that is there: some drop what is too large for them, or
 * cut it short. A quarter is tried next, as each try costs all timeouts.
 *
 * @returns the same when it has answered as much before: then it is the network
 */
export function afterSilence(learnt: BatchLearning, asked: Asked, now: number): BatchLearning {
  if (!learnt.batch.multiple || asked.bytes <= learnt.proven) return learnt
  return asked.count === 1 ? withoutMultiple(learnt, now) : shrunk(learnt, asked, 4, now)
}

/** Not to less than has been answered once, unless that is what failed. */
function shrunk(learnt: BatchLearning, asked: Asked, by: number, now: number): BatchLearning {
  const known = asked.bytes > learnt.proven ? learnt.proven : 0
  const size = Math.max(1, Math.floor(asked.count / by), Math.floor(known / PLAIN_RESULT))
  const bytes = Math.max(PLAIN_RESULT, Math.floor(asked.bytes / by), known)
  return { ...learnt, batch: { size, bytes, multiple: true }, growAt: now + GROW_AFTER_MS }
}

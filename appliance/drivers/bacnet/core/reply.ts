/** Decodes a reply strictly: it must contain exactly the requested properties. */
import { type Apdu } from './frame.ts'
import { formatTarget, type Target, targetKey } from '#shared/core/bacnet/object.ts'
import {
  type BacnetValue,
  type Cursor,
  isContext,
  isClosing,
  isDone,
  isOpening,
  Malformed,
  openCursor,
  readClosing,
  readContextObject,
  readContextUnsigned,
  readEnumerated,
  readOpening,
  readValues,
} from './tag.ts'

export const READ_PROPERTY = 12
export const READ_PROPERTY_MULTIPLE = 14
export const SUBSCRIBE_COV = 5

/** ReadProperty takes exactly one target. */
export type ReadRequest = { service: typeof READ_PROPERTY | typeof READ_PROPERTY_MULTIPLE; targets: Target[] }
/** Subscribes to changes by unconfirmed notifications (135-2020 13.14). */
type SubscribeRequest = { service: typeof SUBSCRIBE_COV; subscription: Subscription }
export type ServiceRequest = ReadRequest | SubscribeRequest

/** `lifetimeSecs` 1 and more: a subscription without an end would stay in the device after this process has ended. */
type Subscription = { processId: number; object: { type: number; instance: number }; lifetimeSecs: number }

export type PropertyError = { errorClass: number; errorCode: number }
export type PropertyResult = { values: BacnetValue[] } | { error: PropertyError }

/** A refusal of the whole request. */
export type RequestRefusal = ({ by: 'error' } & PropertyError) | { by: 'reject' | 'abort'; reason: number }

export type BacnetReply =
  /** In the order of the targets; empty for an accepted subscription. */
  | { state: 'results'; results: PropertyResult[] }
  | { state: 'refused'; refusal: RequestRefusal }
  /** Not an answer to this request. */
  | { state: 'garbled'; reason: string }

/** @returns the decoded reply; never throws, whatever the bytes */
export function readReply(apdu: Apdu, request: ServiceRequest): BacnetReply {
  try {
    switch (apdu.kind) {
      case 'segment':
        return { state: 'garbled', reason: 'the answer is segmented, which the request does not allow' }
      case 'reject':
      case 'abort':
        return { state: 'refused', refusal: { by: apdu.kind, reason: apdu.reason } }
      case 'error':
        return readError(apdu.service, apdu.payload, request)
      case 'ack':
        return readAck(apdu.service, apdu.payload, request)
      case 'done':
        if (apdu.service !== request.service) return otherService(apdu.service)
        if (request.service === SUBSCRIBE_COV) return { state: 'results', results: [] }
        return { state: 'garbled', reason: 'the answer contains no values' }
    }
  } catch (error) {
    if (error instanceof Malformed) return { state: 'garbled', reason: `the answer is malformed: ${error.message}` }
    throw error
  }
}

const otherService = (service: number): BacnetReply => ({ state: 'garbled', reason: `the answer is to service ${service}` })

function readError(service: number, payload: Uint8Array, request: ServiceRequest): BacnetReply {
  if (service !== request.service) return otherService(service)
  const cursor = openCursor(payload)
  const error = readErrorPair(cursor)
  if (!isDone(cursor)) throw new Malformed('bytes are left over')
  if (request.service === READ_PROPERTY) return { state: 'results', results: [{ error }] }
  return { state: 'refused', refusal: { by: 'error', ...error } }
}

function readErrorPair(cursor: Cursor): PropertyError {
  return { errorClass: readEnumerated(cursor), errorCode: readEnumerated(cursor) }
}

function readAck(service: number, payload: Uint8Array, request: ServiceRequest): BacnetReply {
  if (service !== request.service) return otherService(service)
  if (request.service === SUBSCRIBE_COV) return { state: 'garbled', reason: 'the answer to a subscription contains values' }
  const cursor = openCursor(payload)
  const found = service === READ_PROPERTY ? [readPropertyAck(cursor)] : readMultipleAck(cursor, request.targets.length)
  if (!isDone(cursor)) throw new Malformed('bytes are left over')
  return order(found, request.targets)
}

type Found = { target: Target; result: PropertyResult }

const targetOf = ({ type, instance }: { type: number; instance: number }, property: number, index: number | undefined): Target =>
  index === undefined ? { type, instance, property } : { type, instance, property, index }

/** 135-2020 21, ReadProperty-ACK: [0] object, [1] property, [2] index?, [3] value. */
function readPropertyAck(cursor: Cursor): Found {
  const object = readContextObject(cursor, 0)
  const property = readContextUnsigned(cursor, 1)
  const index = isContext(cursor, 2) ? readContextUnsigned(cursor, 2) : undefined
  readOpening(cursor, 3)
  return { target: targetOf(object, property, index), result: { values: readValues(cursor, 3) } }
}

/** 135-2020 21, ReadAccessResult: [0] object, [1] { [2] property, [3] index?, [4] value | [5] error }. */
function readMultipleAck(cursor: Cursor, most: number): Found[] {
  const found: Found[] = []
  while (!isDone(cursor)) {
    const object = readContextObject(cursor, 0)
    readOpening(cursor, 1)
    while (!isClosing(cursor, 1)) {
      if (found.length === most) throw new Malformed('more results than requested')
      const property = readContextUnsigned(cursor, 2)
      const index = isContext(cursor, 3) ? readContextUnsigned(cursor, 3) : undefined
      found.push({ target: targetOf(object, property, index), result: readResult(cursor) })
    }
    readClosing(cursor, 1)
  }
  return found
}

function readResult(cursor: Cursor): PropertyResult {
  if (isOpening(cursor, 4)) {
    readOpening(cursor, 4)
    return { values: readValues(cursor, 4) }
  }
  readOpening(cursor, 5)
  const error = readErrorPair(cursor)
  readClosing(cursor, 5)
  return { error }
}

/** Puts the results into the order of the targets; a device may answer in another order. */
function order(found: Found[], targets: Target[]): BacnetReply {
  // Devices nearly always answer in the requested order, and then no keys are needed.
  if (found.length === targets.length && found.every(({ target }, i) => isSameTarget(target, targets[i]!))) {
    return { state: 'results', results: found.map(({ result }) => result) }
  }
  const byKey = new Map(found.map(({ target, result }) => [targetKey(target), result]))
  const results: PropertyResult[] = []
  for (const target of targets) {
    const result = byKey.get(targetKey(target))
    if (!result)
      return { state: 'garbled', reason: `the answer does not contain ${formatTarget(target)}${instead(found, targets)}` }
    results.push(result)
  }
  return { state: 'results', results }
}

/** @returns whether `targetKey` of both is equal, without creating texts */
const isSameTarget = (a: Target, b: Target): boolean =>
  a.instance === b.instance && a.type === b.type && a.property === b.property && a.index === b.index

function instead(found: Found[], targets: Target[]): string {
  const asked = new Set(targets.map(targetKey))
  const other = found.find(({ target }) => !asked.has(targetKey(target)))
  return other ? ` but ${formatTarget(other.target)}` : ''
}

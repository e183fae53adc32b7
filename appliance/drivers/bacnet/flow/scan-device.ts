/** Reads the name and the objects of one device, and the properties of each that a point needs. It ends whatever the device does. */
import {
  afterAnswer,
  afterRefusal,
  afterSilence,
  firstBatch,
  fitting,
  type BatchLearning,
  plainSize,
  sizeOf,
  startLearning,
} from '../core/batch.ts'
import type { DeviceAddress, DeviceResult, FoundObject } from '../core/discovery/discovery.ts'
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'
import { formatError, formatRefusal } from '../core/refusal.ts'
import {
  type PropertyResult,
  READ_PROPERTY,
  READ_PROPERTY_MULTIPLE,
  type ReadRequest,
  type RequestRefusal,
} from '../core/reply.ts'
import {
  type Answers,
  describeDevice,
  describeObject,
  deviceTargets,
  entryValues,
  listEntryTargets,
  listLengthTarget,
  listTarget,
  listValues,
  numberOf,
  OBJECTS_MAX,
  objectTargets,
  POINT_TYPES,
  sortEntries,
  stateCountTarget,
  STATE_TEXTS_MAX,
  stateTargets,
  stateTextsTarget,
} from '../core/device-scan.ts'
import { splitEvenly, FAILURES_MAX } from '../../../core/poll/isolate.ts'
import { countOf } from '#shared/core/number-text.ts'

/** The outcome of a request. */
type ScanAnswer =
  | { state: 'results'; results: PropertyResult[] }
  | { state: 'refused'; refusal: RequestRefusal }
  | { state: 'silent' | 'garbled' | 'cancelled'; reason: string }

export type ScanParts = {
  /** Sends a request to a device, with all retries. */
  ask(device: DeviceAddress, question: ReadRequest, signal: AbortSignal): Promise<ScanAnswer>
  /** Resolves when the next request may be sent. */
  pace(signal: AbortSignal): Promise<void>
  now(): number
}

/** The device no longer answers, or the scan was stopped. */
class BrokenOff extends Error {
  readonly isCancelled: boolean
  constructor(answer: { state: string; reason: string }) {
    super(answer.reason)
    this.isCancelled = answer.state === 'cancelled'
  }
}

/**
 * Fills in `device` and its outcome. Objects that were not read are left out, because as points they would have no name and unit; the
 * next discovery reads them.
 */
export async function scanDevice(parts: ScanParts, device: DeviceResult, signal: AbortSignal): Promise<void> {
  const reader = openReader(parts, device, signal)
  device.outcome = 'reading'
  const lacks: string[] = []
  const done = { objects: 0 }
  try {
    await readName(reader, device)
    const refusal = await readList(reader, device, lacks)
    if (refusal !== undefined) return end(device, 'refused', `it does not list its objects: ${refusal}`)
    await readObjects(reader, device, lacks, done)
    const unanswered = reader.unanswered()
    if (unanswered) lacks.push(`it did not answer ${countOf(unanswered, 'read')}`)
    end(device, lacks.length ? 'partial' : 'found', lacks.length ? lacks.join('; ') : null)
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error
    const far =
      device.listed === null
        ? 'before its objects were known'
        : `with ${done.objects} of ${countOf(device.objects.length, 'point')} read`
    device.objects = device.objects.slice(0, done.objects)
    if (error.isCancelled) end(device, 'partial', `stopped ${far}`)
    else if (reader.hasAnswered()) end(device, 'partial', `broke off ${far}: ${error.message}`)
    else end(device, 'timeout', `${error.message}, though it answered the call`)
  }
}

function end(device: DeviceResult, outcome: DeviceResult['outcome'], reason: string | null): void {
  device.outcome = outcome
  device.reason = reason
}

type Reader = ReturnType<typeof openReader>

/** The function is long because every request teaches the next how much to ask for. */
function openReader({ ask, pace, now }: ScanParts, device: DeviceResult, signal: AbortSignal) {
  let learnt: BatchLearning = startLearning(firstBatch(device.max_apdu))
  let answered = false
  let failures = 0
  let unanswered = 0

  /** One request. @throws BrokenOff when `signal` aborts */
  async function put(targets: Target[], multiple: boolean): Promise<ScanAnswer> {
    await pace(signal)
    device.requests++
    const answer = await ask(device, { service: multiple ? READ_PROPERTY_MULTIPLE : READ_PROPERTY, targets }, signal)
    if (answer.state === 'cancelled' || signal.aborted) throw new BrokenOff({ state: 'cancelled', reason: 'stopped' })
    if (answer.state !== 'silent') answered = true
    device.multiple = learnt.batch.multiple
    device.batch_size = plainSize(learnt.batch)
    return answer
  }

  /** Puts some of `targets`. @returns what is left to do */
  async function readSome(targets: Target[], found: Map<string, PropertyResult>): Promise<Target[][]> {
    const { multiple } = learnt.batch
    const asked = targets.slice(0, fitting(learnt.batch, targets))
    const rest = asked.length < targets.length ? [targets.slice(asked.length)] : []
    const answer = await put(asked, multiple)
    const size = sizeOf(asked)
    if (answer.state === 'results') {
      learnt = afterAnswer(learnt, size, multiple ? 'multiple' : 'single', now())
      for (const [i, target] of asked.entries()) found.set(targetKey(target), answer.results[i]!)
      return rest
    }
    if (answer.state === 'refused') {
      const before = learnt
      learnt = multiple ? (afterRefusal(learnt, size, answer.refusal, now()) ?? learnt) : learnt
      if (learnt !== before) return [asked, ...rest]
      // Some devices decline a whole request because of one property; the halves show which.
      return asked.length > 1 ? [...splitEvenly(asked, 2), ...rest] : rest
    }
    const before = learnt
    if (multiple) learnt = afterSilence(learnt, size, now())
    if (learnt !== before) return [asked, ...rest]
    await probeDevice(answer)
    if (asked.length === 1) unanswered++
    return asked.length === 1 ? rest : [...rest, ...splitEvenly(asked, 4)]
  }

  /** Reads the device name to test whether the device is up: then only some properties get no answer. */
  async function probeDevice(failed: { state: string; reason: string }): Promise<void> {
    if (++failures > FAILURES_MAX) throw new BrokenOff(failed)
    const probe = await put(deviceTargets(device.device_instance).slice(0, 1), false)
    if (probe.state !== 'results' && probe.state !== 'refused') throw new BrokenOff(failed)
  }

  return {
    hasAnswered: () => answered,
    /** Properties, each asked alone, to which a device that is there gave no answer. */
    unanswered: () => unanswered,
    /** One property by itself. */
    one: (target: Target) => put([target], false),
    /** As many as there are; what the device declines, or is silent to, is left out. @throws BrokenOff when it gives no more */
    async many(targets: Target[], found = new Map<string, PropertyResult>()): Promise<Answers> {
      const todo = targets.length ? [targets] : []
      for (let chunk = todo.shift(); chunk; chunk = todo.shift()) todo.unshift(...(await readSome(chunk, found)))
      return found
    },
  }
}

/** Its name first and alone: every device must answer that, so one that does not is not there. */
async function readName(reader: Reader, device: DeviceResult): Promise<void> {
  const [name, ...rest] = deviceTargets(device.device_instance)
  const answer = await reader.one(name!)
  if (answer.state === 'silent') throw new BrokenOff(answer)
  const found = new Map(answer.state === 'results' ? [[targetKey(name!), answer.results[0]!]] : [])
  describeDevice(device, await reader.many(rest, found))
}

/** The whole list, or else entry by entry. @returns why there is none, in words */
async function readList(reader: Reader, device: DeviceResult, lacks: string[]): Promise<string | undefined> {
  const { device_instance } = device
  const target = listTarget(device_instance)
  const whole = await reader.one(target)
  const answers = new Map(whole.state === 'results' ? [[targetKey(target), whole.results[0]!]] : [])
  const values = listValues(answers, device_instance)
  if (values) return takeList(device, values, lacks)
  const length = await reader.one(listLengthTarget(device_instance))
  const count = countIn(length, listLengthTarget(device_instance))
  if (count === undefined) {
    if (length.state === 'silent') throw new BrokenOff(length)
    return wordsOf(length)
  }
  if (count > OBJECTS_MAX) lacks.push(`it lists ${countOf(count, 'object')}, and the first ${OBJECTS_MAX} were read`)
  const targets = listEntryTargets(device_instance, Math.min(count, OBJECTS_MAX))
  const found = new Map<string, PropertyResult>()
  try {
    await reader.many(targets, found)
    const missing = targets.length - found.size
    if (missing) lacks.push(`it did not give ${missing} of the ${targets.length} entries of its list`)
  } finally {
    takeList(
      device,
      entryValues(
        found,
        targets.filter(one => found.has(targetKey(one))),
      ),
      lacks,
    )
    device.listed = count
  }
  return undefined
}

function takeList(device: DeviceResult, values: Parameters<typeof sortEntries>[0], lacks: string[]): undefined {
  const { objects, others, unusable } = sortEntries(values.slice(0, OBJECTS_MAX))
  device.objects = objects
  device.others = others
  device.listed = values.length
  if (values.length > OBJECTS_MAX)
    lacks.push(`it lists ${countOf(values.length, 'object')}, and the first ${OBJECTS_MAX} were taken`)
  if (unusable) lacks.push(`${unusable} of its list's entries are no objects, or are there twice`)
}

function countIn(answer: ScanAnswer, target: Target): number | undefined {
  return answer.state === 'results' ? numberOf(new Map([[targetKey(target), answer.results[0]!]]), target) : undefined
}

function wordsOf(answer: ScanAnswer): string {
  if (answer.state === 'refused') return formatRefusal(answer.refusal)
  if (answer.state !== 'results') return answer.reason
  const [result] = answer.results
  return result && 'error' in result ? formatError(result.error) : 'the length of its list is no number'
}

/** Objects whose properties are asked together: enough to fill requests, few enough that a break loses little. */
const TOGETHER = 100

/** @param done counts the objects that were read completely */
async function readObjects(reader: Reader, device: DeviceResult, lacks: string[], done: { objects: number }): Promise<void> {
  for (let from = 0; from < device.objects.length; from += TOGETHER) {
    const some = device.objects.slice(from, from + TOGETHER)
    const found = new Map<string, PropertyResult>()
    try {
      await reader.many(some.flatMap(objectTargets), found)
      for (const object of some) await readTexts(reader, object, found)
      done.objects = from + some.length
    } catch (error) {
      done.objects = from + readBefore(some, found)
      throw error
    } finally {
      for (const [i, object] of some.entries()) device.objects[from + i] = describeObject(object, found)
    }
  }
  const nameless = device.objects.filter(({ name }) => name === undefined).length
  if (nameless) lacks.push(`${countOf(nameless, 'object')} gave no name`)
}

/** @returns how many of the first objects a break has left nothing of to be asked */
function readBefore(objects: readonly FoundObject[], found: Answers): number {
  const at = objects.findIndex(object => objectTargets(object).some(target => !found.has(targetKey(target))))
  return at < 0 ? objects.length : at
}

/** State texts that did not come as a whole, one by one. */
async function readTexts(reader: Reader, object: FoundObject, found: Map<string, PropertyResult>): Promise<void> {
  const whole = stateTextsTarget(object)
  if (POINT_TYPES.get(object.type) !== 'multistate' || found.has(targetKey(whole))) return
  const length = stateCountTarget(object)
  const count = numberOf(await reader.many([length]), length)
  if (count === undefined || count > STATE_TEXTS_MAX) return
  const targets = stateTargets(object, count)
  const values = entryValues(await reader.many(targets), targets)
  if (values.every(value => value !== undefined)) found.set(targetKey(whole), { values })
}

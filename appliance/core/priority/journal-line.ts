/** Payloads of the priority journal: a reading in full, or a mark that nothing changed. FORMAT.md specifies both. */
import { isId } from '#shared/core/model/model.ts'
import {
  changedLevels,
  LEVELS,
  type PriorityReading,
  type PriorityRecord,
  type PriorityTarget,
  priorityKey,
  type Slot,
  type SlotValue,
} from '#shared/core/priority/priority-record.ts'

/** A reading in full. `previous_segment`: SHA-256 of the segment before, in the first record of every segment but the first. */
export type FullPayload = Omit<PriorityRecord, 'seq'> & { previous_segment?: string }
/** A mark: everything else is as in record `same_as`, a full record of the same segment. */
type MarkPayload = Pick<PriorityReading, 'observed_at' | 'target' | 'source'> & { same_as: number }
export type JournalPayload = FullPayload | MarkPayload

/** The members of a payload that the index needs. `same_as` is undefined for a full record. */
export type PayloadHead = {
  observed_at: number
  /** As `targetJson` writes it. */
  target: string
  same_as: number | undefined
  previous_segment: string | undefined
}

/** Names are read without a JSON parser at a start, so they contain no character that JSON escapes. */
const OBJECT_TYPE = /^[a-z0-9-]{1,64}$/
const LINE =
  /^\{"n":\d{1,16},"g":\d{1,16},"r":\d{1,16},"p":"[0-9a-f]{8}","d":\{"observed_at":(\d{1,16}),"target":(\{(?:"device_id":"[A-Za-z0-9._-]{1,128}",)?"device_instance":\d{1,8},"object_type":"[a-z0-9-]{1,64}","object_instance":\d{1,8}\}),"source":"(?:scheduled|triggered)",(?:"same_as":(\d{1,16})\}|(?:"previous_segment":"([0-9a-f]{64})",)?"changed":)/
/** Longest text that `LINE` matches. */
export const LINE_HEAD_MAX = 640

/**
 * Reads the first members of the payload of a line.
 *
 * @param text the first `LINE_HEAD_MAX` characters of the line, or all of a shorter line
 * @returns undefined when the payload does not belong to a priority journal
 */
export function readPayloadHead(text: string): PayloadHead | undefined {
  const found = LINE.exec(text)
  if (!found) return undefined
  const [, observed_at, target, same_as, previous_segment] = found
  return {
    observed_at: Number(observed_at),
    target: target!,
    same_as: same_as === undefined ? undefined : Number(same_as),
    previous_segment,
  }
}

/** The JSON text of a target in a line. */
export const targetJson = (target: PriorityTarget): string => JSON.stringify(targetOf(target))
export const parseTargetJson = (text: string): PriorityTarget => JSON.parse(text) as PriorityTarget

/** Finds the device of an instance for records that do not name it; undefined when there is none, or more than one. */
export type FindDevice = (device_instance: number) => string | undefined

/** Adds the device id to a target of format 1, when only one device has the instance. */
export function withDeviceId(target: PriorityTarget, ownerOf: FindDevice): PriorityTarget {
  if (target.device_id !== undefined) return target
  const device_id = ownerOf(target.device_instance)
  return device_id === undefined ? target : targetOf({ ...target, device_id })
}

/** The newest record of a point, and the sequence of the full record with the same state. */
export type LatestRecord = { record: PriorityRecord; full: number }

/** The payloads of one visit. `latest` holds the newest record of each of its points afterwards, by `targetJson`. */
export type VisitPayloads = {
  payloads: JournalPayload[]
  records: PriorityRecord[]
  latest: Map<string, LatestRecord>
}

/**
 * Decides what is written for a visit.
 *
 * @param visit as `normalizeReading` returns it
 * @param latestOf gives the newest record of a point within the retention; undefined at its first visit
 * @param first sequence of the visit's first record
 * @param segmentFirst sequence of the first record of the segment that is written to; a mark never refers to an older one
 */
export function payloadsOfVisit(
  visit: PriorityReading[],
  latestOf: (key: string) => LatestRecord | undefined,
  first: number,
  segmentFirst: number,
): VisitPayloads {
  const plan: VisitPayloads = { payloads: [], records: [], latest: new Map() }
  for (const [i, reading] of visit.entries()) {
    const seq = first + i
    const key = targetJson(reading.target)
    const before = plan.latest.get(key) ?? latestOf(key)
    const changed = before ? changedLevels(before.record.slots, reading.slots) : reading.slots.map(({ level }) => level)
    const isMark = before !== undefined && before.full >= segmentFirst && changed.length === 0 && isSame(before.record, reading)
    const record = inOrder({ ...reading, seq, changed, slots: isMark ? before.record.slots : reading.slots })
    plan.payloads.push(isMark ? markOf(reading, before.full) : fullOf(reading, changed))
    plan.records.push(record)
    plan.latest.set(key, { record, full: isMark ? before.full : seq })
  }
  return plan
}

const isSame = (a: PriorityReading, b: PriorityReading): boolean =>
  a.active_level === b.active_level &&
  a.present_value === b.present_value &&
  a.relinquish_default === b.relinquish_default &&
  a.out_of_service === b.out_of_service &&
  a.label === b.label

const targetOf = ({ device_id, device_instance, object_type, object_instance }: PriorityTarget): PriorityTarget => ({
  ...(device_id !== undefined && { device_id }),
  device_instance,
  object_type,
  object_instance,
})

// The order of the members is part of the format: `LINE` reads it.
const markOf = ({ observed_at, target, source }: PriorityReading, same_as: number): MarkPayload => ({
  observed_at,
  target: targetOf(target),
  source,
  same_as,
})
const fullOf = ({ observed_at, target, source, ...rest }: PriorityReading, changed: number[]): FullPayload => ({
  observed_at,
  target: targetOf(target),
  source,
  changed,
  ...rest,
  // Every segment has each point in full once, and most levels are empty.
  slots: rest.slots.filter(({ state }) => state !== 'null'),
})

/** Adds the hash of the segment before to a full payload. */
export const withPreviousSegment = ({ observed_at, target, source, ...rest }: FullPayload, sha256: string): FullPayload => ({
  observed_at,
  target,
  source,
  previous_segment: sha256,
  ...rest,
})

/** @returns the record of a payload; `full` gives the payload that a mark refers to */
export function recordOf(seq: number, payload: JournalPayload, full: (seq: number) => JournalPayload): PriorityRecord {
  const whole = 'same_as' in payload ? full(payload.same_as) : payload
  if ('same_as' in whole) throw new Error(`record ${seq} refers to a record that is not in full`)
  const { observed_at, target, source } = payload
  const changed = 'same_as' in payload ? [] : whole.changed
  return inOrder({ ...whole, seq, observed_at, target, source, changed, slots: allSlots(whole.slots) })
}

/** Puts the members of a record into one order, so that equal records have equal JSON. */
function inOrder({ seq, observed_at, target, slots, active_level, changed, source, ...rest }: PriorityRecord): PriorityRecord {
  const { label, present_value, relinquish_default, out_of_service } = rest
  return {
    seq,
    observed_at,
    target,
    ...(label !== undefined && { label }),
    slots,
    active_level,
    ...(present_value !== undefined && { present_value }),
    ...(relinquish_default !== undefined && { relinquish_default }),
    ...(out_of_service !== undefined && { out_of_service }),
    changed,
    source,
  }
}

/** Most slots are empty. They share one object for each level, which saves memory with thousands of points. */
const NULLS: readonly Slot[] = Array.from({ length: LEVELS }, (_, i) => Object.freeze({ level: i + 1, state: 'null' as const }))
/** @returns [16], P1 first; levels that were not written are empty */
function allSlots(written: readonly Slot[]): Slot[] {
  const slots = [...NULLS]
  for (const slot of written) slots[slot.level - 1] = shared(slot)
  return slots
}
const shared = (slot: Slot): Slot => (slot.state === 'null' ? NULLS[slot.level - 1]! : slot)

/**
 * Converts a reading to what JSON can hold, so that a record is the same now and after it was read back. A number that is
 * not finite becomes its name: "NaN", "Infinity", "-Infinity".
 *
 * @throws TypeError when the target is no BACnet object, the time is invalid, or the levels are not 1 to 16
 */
export function normalizeReading(reading: PriorityReading): PriorityReading {
  const { target, observed_at, slots } = reading
  const name = priorityKey(target)
  const numbers = [target.device_instance, target.object_instance]
  if (!OBJECT_TYPE.test(target.object_type) || !numbers.every(isInstance)) throw new TypeError(`${name} is no BACnet object`)
  if (target.device_id !== undefined && !isId(target.device_id)) throw new TypeError(`${name} is of no device id`)
  if (!Number.isSafeInteger(observed_at) || observed_at < 0) throw new TypeError(`${name} was not observed at ${observed_at}`)
  if (slots.length !== LEVELS || slots.some(({ level }, i) => level !== i + 1))
    throw new TypeError(`${name} does not have the levels 1 to ${LEVELS}`)
  return {
    observed_at,
    target: targetOf(target),
    ...(reading.label !== undefined && { label: reading.label }),
    slots: slots.map(plainSlot),
    active_level: reading.active_level,
    ...(reading.present_value !== undefined && { present_value: plainValue(reading.present_value) }),
    ...(reading.relinquish_default !== undefined && { relinquish_default: plainValue(reading.relinquish_default) }),
    ...(reading.out_of_service !== undefined && { out_of_service: reading.out_of_service }),
    source: reading.source,
  }
}

function plainSlot(slot: Slot): Slot {
  const { level } = slot
  if (slot.state === 'value') return { level, state: 'value', type: slot.type, value: plainValue(slot.value) }
  return slot.state === 'error' ? { level, state: 'error', error: slot.error } : shared(slot)
}

/** JSON has one zero, and only finite numbers. */
function plainValue(value: SlotValue): SlotValue {
  if (typeof value !== 'number') return value
  return Number.isFinite(value) ? value + 0 : String(value)
}

/** Instances have 22 bits (135-2020 20.2.14). */
const isInstance = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < 2 ** 22

/** What the priority journal keeps of a visit: a reading in full, or a mark that it was as before. FORMAT.md draws both. */
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

/** A payload in full. `previous_segment`: SHA-256 of the segment before, in the first record of every segment but the first. */
export type KeptFull = Omit<PriorityRecord, 'seq'> & { previous_segment?: string }
/** A payload that says: all as in record `same_as`, which is in full and stands in the same segment. */
export type KeptMark = Pick<PriorityReading, 'observed_at' | 'target' | 'source'> & { same_as: number }
export type Kept = KeptFull | KeptMark

/** What the index needs of a payload. `same_as` is undefined for a record in full. */
export type KeptHead = {
  observed_at: number
  /** As `targetText` writes it. */
  target: string
  same_as: number | undefined
  previous_segment: string | undefined
}

/** Names are read without a JSON parser at start-up, so they may hold nothing that JSON escapes. */
const OBJECT_TYPE = /^[a-z0-9-]{1,64}$/
const LINE =
  /^\{"n":\d{1,16},"g":\d{1,16},"r":\d{1,16},"p":"[0-9a-f]{8}","d":\{"observed_at":(\d{1,16}),"target":(\{(?:"device_id":"[A-Za-z0-9._-]{1,128}",)?"device_instance":\d{1,8},"object_type":"[a-z0-9-]{1,64}","object_instance":\d{1,8}\}),"source":"(?:scheduled|triggered)",(?:"same_as":(\d{1,16})\}|(?:"previous_segment":"([0-9a-f]{64})",)?"changed":)/
/** No line is longer before what `LINE` matches has ended. */
export const LINE_HEAD_MAX = 640

/**
 * Reads the head of a line of the log.
 *
 * @param text the line's first `LINE_HEAD_MAX` characters; fewer where it is shorter
 * @returns undefined when the payload is none of this journal's
 */
export function readHead(text: string): KeptHead | undefined {
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

/** A target as a line has it. */
export const targetText = (target: PriorityTarget): string => JSON.stringify(targetOf(target))
export const targetFrom = (text: string): PriorityTarget => JSON.parse(text) as PriorityTarget

/** Finds the entry of the catalogue for records that do not name it; undefined where it is none, or more than one. */
export type OwnerOf = (device_instance: number) => string | undefined

/** A target of a record from before journals held device ids, with the id of the one device that it can be of. */
export function ownedTarget(target: PriorityTarget, ownerOf: OwnerOf): PriorityTarget {
  if (target.device_id !== undefined) return target
  const device_id = ownerOf(target.device_instance)
  return device_id === undefined ? target : targetOf({ ...target, device_id })
}

/** The newest record of a point, and the sequence of the full record that says the same. */
export type Known = { record: PriorityRecord; full: number }

/** One visit as it will be written. `known` holds what every point of it stands at afterwards. */
export type Plan = { kept: Kept[]; records: PriorityRecord[]; known: Map<string, Known> }

/**
 * Says what is written of a visit.
 *
 * @param visit as `plainReading` gives it
 * @param known of a point: its newest record within retention, undefined at its first visit
 * @param first sequence of the visit's first record
 * @param segmentFirst sequence of the first record of the segment that is written to: marks refer to nothing before it
 */
export function planVisit(
  visit: PriorityReading[],
  known: (key: string) => Known | undefined,
  first: number,
  segmentFirst: number,
): Plan {
  const plan: Plan = { kept: [], records: [], known: new Map() }
  for (const [i, reading] of visit.entries()) {
    const seq = first + i
    const key = targetText(reading.target)
    const before = plan.known.get(key) ?? known(key)
    const changed = before ? changedLevels(before.record.slots, reading.slots) : reading.slots.map(({ level }) => level)
    const isMark = before !== undefined && before.full >= segmentFirst && changed.length === 0 && isSame(before.record, reading)
    const record = inOrder({ ...reading, seq, changed, slots: isMark ? before.record.slots : reading.slots })
    plan.kept.push(isMark ? markOf(reading, before.full) : fullOf(reading, changed))
    plan.records.push(record)
    plan.known.set(key, { record, full: isMark ? before.full : seq })
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
const markOf = ({ observed_at, target, source }: PriorityReading, same_as: number): KeptMark => ({
  observed_at,
  target: targetOf(target),
  source,
  same_as,
})
const fullOf = ({ observed_at, target, source, ...rest }: PriorityReading, changed: number[]): KeptFull => ({
  observed_at,
  target: targetOf(target),
  source,
  changed,
  ...rest,
  // Every segment has each point in full once, and most levels are empty.
  slots: rest.slots.filter(({ state }) => state !== 'null'),
})

/** A payload in full, with the hash of the segment before its own. */
export const withPreviousSegment = ({ observed_at, target, source, ...rest }: KeptFull, sha256: string): KeptFull => ({
  observed_at,
  target,
  source,
  previous_segment: sha256,
  ...rest,
})

/** @returns the record that a payload stands for; `full` is the payload that a mark refers to */
export function recordOf(seq: number, kept: Kept, full: (seq: number) => Kept): PriorityRecord {
  const whole = 'same_as' in kept ? full(kept.same_as) : kept
  if ('same_as' in whole) throw new Error(`record ${seq} refers to a record that is not in full`)
  const { observed_at, target, source } = kept
  const changed = 'same_as' in kept ? [] : whole.changed
  return inOrder({ ...whole, seq, observed_at, target, source, changed, slots: allSlots(whole.slots) })
}

/** The members of a record, in the order in which all of them are given. */
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

/** Most slots command nothing: one object each for all of them keeps thousands of points small. */
const NULLS: readonly Slot[] = Array.from({ length: LEVELS }, (_, i) => Object.freeze({ level: i + 1, state: 'null' as const }))
/** @returns [16], P1 first; a level that is not kept is empty */
function allSlots(kept: readonly Slot[]): Slot[] {
  const slots = [...NULLS]
  for (const slot of kept) slots[slot.level - 1] = shared(slot)
  return slots
}
const shared = (slot: Slot): Slot => (slot.state === 'null' ? NULLS[slot.level - 1]! : slot)

/**
 * A reading as JSON can hold it: what is returned now is what is read later. A value that is no finite number becomes its
 * name: "NaN", "Infinity", "-Infinity".
 *
 * @throws TypeError when it is no reading of 16 levels
 */
export function plainReading(reading: PriorityReading): PriorityReading {
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

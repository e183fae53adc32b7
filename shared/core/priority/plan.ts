/** Which points a visit asks for: as many as may be, going on where the visit before ended. */
import { formatTarget, parseTarget, PRESENT_VALUE, tellsChanges } from '../bacnet/object.ts'
import { DAY } from '../time.ts'
import type { ArrayAnswer, ScanDevice, ScanObject } from './scan.ts'

/** A point of the catalogue, as far as it matters here. */
export type ScanPoint = { address: string; name: string; priority_history?: boolean }

/** Analog, binary and multi-state outputs and values: the standard gives them a priority array, values may lack it (135-2020 12). */
const COMMANDABLE: readonly number[] = [1, 2, 4, 5, 14, 19]
/** Analog, binary and multi-state inputs: they may be out of service. */
const INPUTS: readonly number[] = [0, 3, 13]
/** Inputs and the device: the standard gives them no array. */
const NEVER_COMMANDED: readonly number[] = [...INPUTS, 8]

/** Whether the catalogue may ask for the priority array of such an object. */
export const mayBeCommanded = (type: number): boolean => !NEVER_COMMANDED.includes(type)

/**
 * The objects of a device whose priority arrays are read: those of the types above, and those whose point says
 * `priority_history: true`; none of which a point says `false`.
 *
 * @param points of one device; several may be of one object, which is then named after the one for its present value
 */
export const commandableObjects = (device_instance: number, points: readonly ScanPoint[]): ScanObject[] =>
  objectsOf(device_instance, points, (type, wanted) => wanted ?? COMMANDABLE.includes(type))

/** The inputs besides, of which none of the points says `priority_history: false`. */
export const visitedObjects = (device_instance: number, points: readonly ScanPoint[]): ScanObject[] =>
  objectsOf(device_instance, points, (type, wanted) => wanted ?? (COMMANDABLE.includes(type) || INPUTS.includes(type)))

function objectsOf(
  device_instance: number,
  points: readonly ScanPoint[],
  isMeant: (type: number, wanted: boolean | undefined) => boolean,
): ScanObject[] {
  const objects = new Map<string, ScanObject & { isNamed: boolean; wanted: boolean | undefined }>()
  for (const { address, name, priority_history } of points) {
    const found = parseTarget(address)
    if (typeof found === 'string') continue
    const { type, instance } = found
    const [object_type = ''] = formatTarget({ type, instance, property: PRESENT_VALUE }).split(',')
    const key = objectKey({ type, instance })
    const before = objects.get(key)
    const isNamed = tellsChanges(found)
    const label = before && (before.isNamed || !isNamed) ? before.label : name
    const wanted = [before?.wanted, priority_history].includes(false) ? false : (priority_history ?? before?.wanted)
    const target = { device_instance, object_type, object_instance: instance }
    objects.set(key, { type, instance, target, label, isNamed: isNamed || (before?.isNamed ?? false), wanted })
  }
  return [...objects.values()]
    .filter(({ type, wanted }) => isMeant(type, wanted))
    .map(({ type, instance, target, label }) => ({ type, instance, target, label }))
    .toSorted(inOrder)
}

type Place = { type: number; instance: number }
const objectKey = ({ type, instance }: Place): string => `${type},${instance}`
const inOrder = (a: Place, b: Place): number => a.type - b.type || a.instance - b.instance

/** Where the visits to one device stand. */
export type DeviceCursor = {
  /** The object that was asked last in turn; it may have left the catalogue since. */
  after?: Place
  /** Objects that gave nothing in the visit before: they come first in the next one, once. */
  again: string[]
  /** Objects without a priority array, and when that was said, ms since 1970 UTC. */
  without: Record<string, number>
}

export const START: DeviceCursor = { again: [], without: {} }

/** A controller may be given another program, or have answered while it was being given one; one request in vain a day finds out. */
const WITHOUT_MS = DAY

const mayHaveArray = ({ without }: DeviceCursor, object: Place, now: number): boolean => {
  const at = without[objectKey(object)]
  // A clock that was set back must not keep it away for longer.
  return at === undefined || now >= at + WITHOUT_MS || now < at
}

/**
 * @param most points in one visit, >= 1
 * @param now ms since 1970 UTC
 * @returns what to ask for, in this order; empty when no object of the device has a priority array
 */
export function dueObjects(objects: readonly ScanObject[], cursor: DeviceCursor, most: number, now: number): ScanObject[] {
  const { after } = cursor
  const askable = objects.filter(object => mayHaveArray(cursor, object, now))
  const failed = new Set(cursor.again)
  const again = askable.filter(object => failed.has(objectKey(object))).slice(0, most)
  const next = after ? askable.findIndex(object => inOrder(object, after) > 0) : 0
  const inTurn = next < 0 ? askable : [...askable.slice(next), ...askable.slice(0, next)]
  return [...again, ...inTurn.filter(object => !failed.has(objectKey(object)))].slice(0, most)
}

/**
 * Where the device's visits stand after one.
 *
 * @param objects all of the device: what has left the catalogue is forgotten
 * @param answers of a visit that may have broken off: what has none is asked next
 */
export function cursorAfter(
  cursor: DeviceCursor,
  objects: readonly ScanObject[],
  answers: readonly ArrayAnswer[],
  now: number,
): DeviceCursor {
  const before = new Set(cursor.again)
  const inTurn = answers.filter(({ object }) => !before.has(objectKey(object)))
  const last = inTurn.at(-1)?.object
  const after = last ? { type: last.type, instance: last.instance } : cursor.after
  const known = new Set(objects.map(objectKey))
  const without = new Map(Object.entries(cursor.without).filter(([key]) => known.has(key)))
  for (const { state, object } of answers) {
    if (state === 'not_commandable') without.set(objectKey(object), now)
    else if (state === 'read') without.delete(objectKey(object))
  }
  const asked = new Set(answers.map(({ object }) => objectKey(object)))
  const unasked = cursor.again.filter(key => known.has(key) && !asked.has(key))
  const again = [...unasked, ...inTurn.filter(({ state }) => state === 'failed').map(({ object }) => objectKey(object))]
  return { ...(after && { after }), again, without: Object.fromEntries(without) }
}

/** @returns the objects of `answers` of which it was not known that they have no priority array */
export const newlyWithout = (cursor: DeviceCursor, answers: readonly ArrayAnswer[]): ScanObject[] =>
  answers.flatMap(({ state, object }) =>
    state === 'not_commandable' && cursor.without[objectKey(object)] === undefined ? [object] : [],
  )

/** @returns the device after `last` by its id, and after the last the first; undefined when there is none */
export function deviceAfter(devices: readonly ScanDevice[], last: string | null): ScanDevice | undefined {
  const sorted = devices.toSorted((a, b) => (a.device_id < b.device_id ? -1 : 1))
  return sorted.find(({ device_id }) => last === null || device_id > last) ?? sorted[0]
}

/**
 * When the next visit is due after a time in which there was none: at once when there never was one, else when it would have
 * been due anyway. Visits that were missed are not made up for.
 *
 * @param due as it was planned, ms; null when there never was a visit
 * @returns in [now, now + intervalMs]
 */
export function nextDue(due: number | null, now: number, intervalMs: number): number {
  if (due === null) return now
  if (due < now) return due + Math.ceil((now - due) / intervalMs) * intervalMs
  // The clock was set back.
  return Math.min(due, now + intervalMs)
}

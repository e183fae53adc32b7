/** Which points a visit asks for: as many as may be, going on where the visit before ended. */
import { formatTarget, parseTarget, PRESENT_VALUE, tellsChanges } from '#shared/core/bacnet/object.ts'
import { DAY } from '#shared/core/time.ts'
import { isInput } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer, ScanDevice, ScanObject } from './visit.ts'

/** A device as the catalogue names it; its instance may be that of another one too. */
export type DeviceName = Pick<ScanDevice, 'device_id' | 'device_instance'>

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
export const commandableObjects = (device: DeviceName, points: readonly ScanPoint[]): ScanObject[] =>
  objectsOf(device, points, (type, wanted) => wanted ?? COMMANDABLE.includes(type))

/** The inputs besides, of which none of the points says `priority_history: false`. */
export const visitedObjects = (device: DeviceName, points: readonly ScanPoint[]): ScanObject[] =>
  objectsOf(device, points, (type, wanted) => wanted ?? (COMMANDABLE.includes(type) || INPUTS.includes(type)))

function objectsOf(
  { device_id, device_instance }: DeviceName,
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
    const target = { device_id, device_instance, object_type, object_instance: instance }
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
  /** The object that may be commanded which was asked last in turn; it may have left the catalogue since. */
  after?: Place
  /** The same of inputs. */
  after_input?: Place
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

const isOutput = ({ target }: ScanObject): boolean => !isInput(target)

/** @returns `objects` from the one after `after` on, up to the last, and those before it */
function ringFrom(objects: readonly ScanObject[], after: Place | undefined): { rest: ScanObject[]; wrapped: ScanObject[] } {
  const found = after ? objects.findIndex(object => inOrder(object, after) > 0) : 0
  const next = found < 0 ? objects.length : found
  return { rest: objects.slice(next), wrapped: objects.slice(0, next) }
}

/**
 * Outputs come before inputs: who commands what is why a device is visited. Where one visit cannot hold all outputs, inputs
 * have what is left when the outputs have been asked once round; a round that fills its last visit exactly leaves them one
 * of their own. So outputs wait one visit longer at most, and inputs do not wait for ever.
 *
 * @param most points in one visit, >= 1
 * @param now ms since 1970 UTC
 * @returns what to ask for, in this order; empty when no object of the device has a priority array
 */
export function dueObjects(objects: readonly ScanObject[], cursor: DeviceCursor, most: number, now: number): ScanObject[] {
  const askable = objects.filter(object => mayHaveArray(cursor, object, now))
  const outputs = askable.filter(isOutput)
  const inputs = askable.filter(object => !isOutput(object))
  const failed = new Set(cursor.again)
  const again = (some: readonly ScanObject[]) => some.filter(object => failed.has(objectKey(object)))
  const inTurn = (some: readonly ScanObject[]) => some.filter(object => !failed.has(objectKey(object)))
  const { rest, wrapped } = ringFrom(outputs, cursor.after)
  const ofInputs = ringFrom(inputs, cursor.after_input)
  const next = [...again(inputs), ...inTurn(ofInputs.rest), ...inTurn(ofInputs.wrapped)]
  const first = [...again(outputs), ...inTurn(rest)]
  const isWhole = outputs.length < most
  return (isWhole ? [...first, ...inTurn(wrapped), ...next] : [...first, ...next, ...inTurn(wrapped)]).slice(0, most)
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
  const lastOf = (isMeant: (object: ScanObject) => boolean): Place | undefined => {
    const last = inTurn.findLast(({ object }) => isMeant(object))?.object
    return last && { type: last.type, instance: last.instance }
  }
  const known = new Set(objects.map(objectKey))
  const without = new Map(Object.entries(cursor.without).filter(([key]) => known.has(key)))
  for (const { state, object } of answers) {
    if (state === 'not_commandable') without.set(objectKey(object), now)
    else if (state === 'read') without.delete(objectKey(object))
  }
  const asked = new Set(answers.map(({ object }) => objectKey(object)))
  const asksInputs = answers.some(({ object }) => !isOutput(object))
  const output = lastOf(isOutput) ?? cursor.after
  const next = { ...cursor, without: Object.fromEntries(without) }
  const outputs = objects.filter(object => isOutput(object) && mayHaveArray(next, object, now))
  // Inputs have had what the outputs' round left them: the next round begins.
  const isRoundOver = asksInputs && ringFrom(outputs, output).rest.length === 0
  const after = isRoundOver ? undefined : output
  const after_input = lastOf(object => !isOutput(object)) ?? cursor.after_input
  const unasked = cursor.again.filter(key => known.has(key) && !asked.has(key))
  const again = [...unasked, ...inTurn.filter(({ state }) => state === 'failed').map(({ object }) => objectKey(object))]
  return { ...(after && { after }), ...(after_input && { after_input }), again, without: next.without }
}

/** Visits that a device needs until all its outputs, and all its objects, have been asked once. */
export type RoundVisits = { outputs: number; all: number }

/** @param most points in one visit, >= 1 */
export function roundVisits(objects: readonly ScanObject[], cursor: DeviceCursor, most: number, now: number): RoundVisits {
  const askable = objects.filter(object => mayHaveArray(cursor, object, now))
  const outputs = askable.filter(isOutput).length
  const inputs = askable.length - outputs
  if (inputs === 0) return { outputs: Math.ceil(outputs / most), all: Math.ceil(outputs / most) }
  if (outputs === 0) return { outputs: 0, all: Math.ceil(inputs / most) }
  // The visit in which the round of outputs ends has room for inputs, see `dueObjects`.
  const visits = Math.floor(outputs / most) + 1
  const room = visits * most - outputs
  return { outputs: visits, all: Math.ceil(inputs / room) * visits }
}

/**
 * How long it takes until every output, and every object, has been asked once at today's settings. Devices take turns, so
 * each visit to a device takes one turn of all.
 *
 * @param devices what each needs
 * @param intervalMs between two visits
 * @returns ms; the time that visits themselves take comes on top
 */
export function roundMs(devices: readonly RoundVisits[], intervalMs: number): { outputs: number; all: number } {
  const turn = devices.length * intervalMs
  const most = (of: (device: RoundVisits) => number) => turn * Math.max(0, ...devices.map(of))
  return { outputs: most(({ outputs }) => outputs), all: most(({ all }) => all) }
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

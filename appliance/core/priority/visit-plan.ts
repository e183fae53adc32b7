/** Which objects of a device a visit reads: as many as the setting allows, starting after the last object of the visit before. */
import { isInput } from '#shared/core/priority/priority-record.ts'
import { DAY } from '#shared/core/time.ts'
import type { ArrayAnswer } from './array-answer.ts'
import { compareObjects, type ObjectRef, objectRefKey, type PriorityObject } from './visit-objects.ts'

/** Progress of the visits to one device. The member names are those of `priority-scan.json`. */
export type DeviceCursor = {
  /** The output read last in turn; it may have left the catalogue since. */
  after?: ObjectRef
  /** The input read last in turn. */
  after_input?: ObjectRef
  /** Keys of the objects that failed in the visit before. The next visit reads them first, once. */
  again: string[]
  /** By object key: when the device said that the object has no priority array, ms since 1970 UTC. */
  without: Record<string, number>
}

export const NEW_CURSOR: DeviceCursor = { again: [], without: {} }

/**
 * How long an object without a priority array is left out. The controller may get another program, or may have answered
 * while it was being programmed; asking once a day finds out.
 */
const WITHOUT_MS = DAY

const mayHaveArray = ({ without }: DeviceCursor, object: ObjectRef, now: number): boolean => {
  const at = without[objectRefKey(object)]
  // After the clock was set back, `at` is in the future; the object must not be left out for longer because of that.
  return at === undefined || now >= at + WITHOUT_MS || now < at
}

/** Everything that is not an input counts as an output here. */
const isOutput = ({ target }: PriorityObject): boolean => !isInput(target)

/** Splits `objects` into those behind `after` and those up to `after`. */
function splitAfter(
  objects: readonly PriorityObject[],
  after: ObjectRef | undefined,
): { rest: PriorityObject[]; wrapped: PriorityObject[] } {
  const found = after ? objects.findIndex(object => compareObjects(object, after) > 0) : 0
  const next = found < 0 ? objects.length : found
  return { rest: objects.slice(next), wrapped: objects.slice(0, next) }
}

/**
 * Selects what the next visit reads, in this order.
 *
 * Outputs come before inputs, because visits exist to find out who commands the outputs. When one visit cannot hold all
 * outputs, the inputs get the room that is left in the visit that ends the round of outputs; a round that fills its last
 * visit exactly is followed by a visit of inputs. So outputs wait at most one visit longer, and inputs are always reached.
 *
 * @param maxObjects in one visit, >= 1
 * @param now ms since 1970 UTC
 * @returns empty when no object of the device has a priority array
 */
export function dueObjects(
  objects: readonly PriorityObject[],
  cursor: DeviceCursor,
  maxObjects: number,
  now: number,
): PriorityObject[] {
  const readable = objects.filter(object => mayHaveArray(cursor, object, now))
  const outputs = readable.filter(isOutput)
  const inputs = readable.filter(object => !isOutput(object))
  const failed = new Set(cursor.again)
  const again = (some: readonly PriorityObject[]) => some.filter(object => failed.has(objectRefKey(object)))
  const inTurn = (some: readonly PriorityObject[]) => some.filter(object => !failed.has(objectRefKey(object)))
  const { rest, wrapped } = splitAfter(outputs, cursor.after)
  const ofInputs = splitAfter(inputs, cursor.after_input)
  const firstOutputs = [...again(outputs), ...inTurn(rest)]
  const allInputs = [...again(inputs), ...inTurn(ofInputs.rest), ...inTurn(ofInputs.wrapped)]
  const fitsOutputs = outputs.length < maxObjects
  const order = fitsOutputs
    ? [...firstOutputs, ...inTurn(wrapped), ...allInputs]
    : [...firstOutputs, ...allInputs, ...inTurn(wrapped)]
  return order.slice(0, maxObjects)
}

/**
 * Advances the cursor of a device after a visit.
 *
 * @param objects all objects of the device; entries of objects that left the catalogue are dropped
 * @param answers of the visit; an object without an answer, because the visit ended early, stays next in turn
 */
export function advanceCursor(
  cursor: DeviceCursor,
  objects: readonly PriorityObject[],
  answers: readonly ArrayAnswer[],
  now: number,
): DeviceCursor {
  const before = new Set(cursor.again)
  const inTurn = answers.filter(({ object }) => !before.has(objectRefKey(object)))
  const lastOf = (isSelected: (object: PriorityObject) => boolean): ObjectRef | undefined => {
    const last = inTurn.findLast(({ object }) => isSelected(object))?.object
    return last && { type: last.type, instance: last.instance }
  }
  const listed = new Set(objects.map(objectRefKey))
  const without = new Map(Object.entries(cursor.without).filter(([key]) => listed.has(key)))
  for (const { state, object } of answers) {
    if (state === 'not_commandable') without.set(objectRefKey(object), now)
    else if (state === 'read') without.delete(objectRefKey(object))
  }
  const asked = new Set(answers.map(({ object }) => objectRefKey(object)))
  const asksInputs = answers.some(({ object }) => !isOutput(object))
  const output = lastOf(isOutput) ?? cursor.after
  const next = { ...cursor, without: Object.fromEntries(without) }
  const outputs = objects.filter(object => isOutput(object) && mayHaveArray(next, object, now))
  // The inputs got the room behind the last output, so the next round of outputs begins.
  const isRoundOver = asksInputs && splitAfter(outputs, output).rest.length === 0
  const after = isRoundOver ? undefined : output
  const after_input = lastOf(object => !isOutput(object)) ?? cursor.after_input
  const unasked = cursor.again.filter(key => listed.has(key) && !asked.has(key))
  const again = [...unasked, ...inTurn.filter(({ state }) => state === 'failed').map(({ object }) => objectRefKey(object))]
  return { ...(after && { after }), ...(after_input && { after_input }), again, without: next.without }
}

/** @returns the objects that have no priority array and of which that is new */
export const newlyNotCommandable = (cursor: DeviceCursor, answers: readonly ArrayAnswer[]): PriorityObject[] =>
  answers.flatMap(({ state, object }) =>
    state === 'not_commandable' && cursor.without[objectRefKey(object)] === undefined ? [object] : [],
  )

/** Visits that a device needs until all its outputs, and all its objects, have been read once. */
type RoundLength = { outputs: number; all: number }

/** @param maxObjects in one visit, >= 1 */
export function visitsPerRound(
  objects: readonly PriorityObject[],
  cursor: DeviceCursor,
  maxObjects: number,
  now: number,
): RoundLength {
  const readable = objects.filter(object => mayHaveArray(cursor, object, now))
  const outputs = readable.filter(isOutput).length
  const inputs = readable.length - outputs
  if (inputs === 0) return { outputs: Math.ceil(outputs / maxObjects), all: Math.ceil(outputs / maxObjects) }
  if (outputs === 0) return { outputs: 0, all: Math.ceil(inputs / maxObjects) }
  // Inputs get the room in the visit that ends the round of outputs, see `dueObjects`.
  const visits = Math.floor(outputs / maxObjects) + 1
  const room = visits * maxObjects - outputs
  return { outputs: visits, all: Math.ceil(inputs / room) * visits }
}

/**
 * Computes how long it takes until every output, and every object, has been read once. Devices take turns, so each visit to
 * a device takes one turn of all devices.
 *
 * @param devices the visits that each device needs
 * @param intervalMs between two visits
 * @returns ms, without the time that the visits themselves take
 */
export function roundMs(devices: readonly RoundLength[], intervalMs: number): { outputs: number; all: number } {
  const turn = devices.length * intervalMs
  const longest = (of: (device: RoundLength) => number) => turn * Math.max(0, ...devices.map(of))
  return { outputs: longest(({ outputs }) => outputs), all: longest(({ all }) => all) }
}

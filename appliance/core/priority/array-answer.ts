/** The answers of a visited device, and the readings that the journal stores of them. */
import {
  activeLevel,
  isInput,
  priorityKey,
  type PriorityReading,
  type PriorityRecord,
  type Slot,
  type SlotValue,
} from '#shared/core/priority/priority-record.ts'
import type { PriorityObject } from './visit-objects.ts'

/** The answer of a device for one object. */
export type ArrayAnswer = { object: PriorityObject } & (
  | ArrayRead
  /** The object exists and has no priority array; an input of this state has no out-of-service property. */
  | { state: 'not_commandable' }
  | { state: 'failed'; reason: string }
)
/** `observed_at`: arrival of the answer, ms since 1970 UTC. `slots`: [16], P1 first. */
type ArrayRead = { state: 'read'; observed_at: number; slots: Slot[] } & ArrayExtras
/** Properties read with the array. Those that the device did not give are absent. */
export type ArrayExtras = { present_value?: SlotValue; relinquish_default?: SlotValue; out_of_service?: boolean }

/** @returns the readings of the objects that were read */
export function readingsOf(answers: readonly ArrayAnswer[], source: PriorityReading['source']): PriorityReading[] {
  return answers.flatMap(answer => {
    if (answer.state !== 'read') return []
    const { object, state: _, ...values } = answer
    const { target, label } = object
    return [{ ...values, target, label, active_level: activeLevel(values.slots), source }]
  })
}

/**
 * Selects the readings that the journal stores. An input is stored while it is out of service and once after it is back in
 * service; an input in service takes no record.
 *
 * @param latest the newest record of every point, by `priorityKey`
 */
export const readingsToStore = (
  readings: readonly PriorityReading[],
  latest: ReadonlyMap<string, PriorityRecord>,
): PriorityReading[] =>
  readings.filter(
    ({ target, out_of_service }) => !isInput(target) || out_of_service || latest.get(priorityKey(target))?.out_of_service,
  )

/** @returns why the last object that failed did; null when none failed */
export function failureReason(answers: readonly ArrayAnswer[]): string | null {
  const failed = answers.filter(answer => answer.state === 'failed')
  const last = failed.at(-1)
  if (!last) return null
  const { object_type, object_instance } = last.object.target
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : ''
  return `${object_type},${object_instance}: ${last.reason}${more}`
}

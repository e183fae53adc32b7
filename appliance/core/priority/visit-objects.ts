/** The BACnet objects that a visit reads: objects with a priority array, and inputs. */
import { formatTarget, parseTarget, PRESENT_VALUE, tellsChanges } from '#shared/core/bacnet/object.ts'
import type { PriorityTarget } from '#shared/core/priority/priority-record.ts'

/** An object of the catalogue that may have a priority array, or an input. */
export type PriorityObject = {
  /** BACnet object type, 0..1023 */
  type: number
  instance: number
  target: PriorityTarget
  /** Name of the point in the catalogue. */
  label: string
}

/** A device of the catalogue with the objects that visits read, ascending by type and instance. */
export type PriorityDevice = { device_id: string; device_instance: number; objects: readonly PriorityObject[] }

/** Two devices of a catalogue may have one instance; their `device_id` differs. */
type DeviceKey = Pick<PriorityDevice, 'device_id' | 'device_instance'>

/** The fields of a point of the catalogue that decide whether visits read its object. */
export type CataloguePoint = { address: string; name: string; priority_history?: boolean }

/** Analog, binary and multi-state outputs and values. Outputs have a priority array, values may have one (135-2020 12). */
const COMMANDABLE: readonly number[] = [1, 2, 4, 5, 14, 19]
/** Analog, binary and multi-state inputs. They have no priority array and can be out of service. */
const INPUTS: readonly number[] = [0, 3, 13]
const DEVICE = 8

/** @returns whether the catalogue may ask for the priority array of an object of this type */
export const mayHavePriorityArray = (type: number): boolean => !INPUTS.includes(type) && type !== DEVICE

/**
 * Selects the objects of a device that visits read: objects of the types in `COMMANDABLE` and `INPUTS`, and objects with a
 * point that says `priority_history: true`. An object with a point that says `false` is left out.
 *
 * @param points of one device; an object of several points is named after the point of its present value
 */
export function visitedObjects({ device_id, device_instance }: DeviceKey, points: readonly CataloguePoint[]): PriorityObject[] {
  const objects = new Map<string, PriorityObject & { isNamed: boolean; wanted: boolean | undefined }>()
  for (const { address, name, priority_history } of points) {
    const found = parseTarget(address)
    if (typeof found === 'string') continue
    const { type, instance } = found
    const [object_type = ''] = formatTarget({ type, instance, property: PRESENT_VALUE }).split(',')
    const key = objectRefKey({ type, instance })
    const before = objects.get(key)
    const isNamed = tellsChanges(found)
    const label = before && (before.isNamed || !isNamed) ? before.label : name
    const wanted = [before?.wanted, priority_history].includes(false) ? false : (priority_history ?? before?.wanted)
    const target = { device_id, device_instance, object_type, object_instance: instance }
    objects.set(key, { type, instance, target, label, isNamed: isNamed || (before?.isNamed ?? false), wanted })
  }
  return [...objects.values()]
    .filter(({ type, wanted }) => wanted ?? (COMMANDABLE.includes(type) || INPUTS.includes(type)))
    .map(({ type, instance, target, label }) => ({ type, instance, target, label }))
    .toSorted(compareObjects)
}

/** Type and instance of an object within its device. */
export type ObjectRef = Pick<PriorityObject, 'type' | 'instance'>

/** Equal for equal ids. */
export const objectRefKey = ({ type, instance }: ObjectRef): string => `${type},${instance}`

/** Orders by type and instance. */
export const compareObjects = (a: ObjectRef, b: ObjectRef): number => a.type - b.type || a.instance - b.instance

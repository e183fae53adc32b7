/** What a visit to a device asks for, and what comes of it. */
import type { PriorityTarget, Slot, SlotValue } from '#shared/core/priority/priority-record.ts'

/** An object of the catalogue that may be commanded, or an input. */
export type ScanObject = {
  /** BACnet object type, 0..1023 */
  type: number
  instance: number
  target: PriorityTarget
  /** The point's name in the catalogue. */
  label: string
}

/** A device of the catalogue with the objects that are visited, ascending by type and instance. */
export type ScanDevice = { device_id: string; device_instance: number; objects: readonly ScanObject[] }

/** What a device said of one object. */
export type ArrayAnswer = { object: ScanObject } & (
  | ArrayState
  /** The object is there and has no priority array, or, of an input, cannot be out of service. */
  | { state: 'not_commandable' }
  | { state: 'failed'; reason: string }
)
/** `observed_at`: when the answer came, ms since 1970 UTC. `slots`: [16], P1 first. */
export type ArrayState = { state: 'read'; observed_at: number; slots: Slot[] } & Fallback
/** What the device did not give is absent. */
export type Fallback = { present_value?: SlotValue; relinquish_default?: SlotValue; out_of_service?: boolean }

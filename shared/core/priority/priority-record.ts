/** Records of the priority array of a point: the value at each level, the level that commands, the relinquish default. */

/** Levels of the array, P1 (manual life safety) to P16 (135-2020 19.2.2). */
export const LEVELS = 16

export type SlotValue = number | boolean | string

/** One level of the array. `error`: the device refused this level; the others are valid. */
export type Slot = { level: number } & (
  | { state: 'null' }
  /** `type` as BACnet names it: real, unsigned, enumerated, boolean … */
  | { state: 'value'; type: string; value: SlotValue }
  | { state: 'error'; error: string }
)

/**
 * The commandable object. `object_type` is written as in the catalogue, for example `analog-output`.
 *
 * `device_id` names the entry of the catalogue, because instances are not unique in every building. It is absent in records of
 * format 1, and in queries for every device of the instance.
 */
export type PriorityTarget = { device_id?: string; device_instance: number; object_type: string; object_instance: number }

const INPUTS: ReadonlySet<string> = new Set(['analog-input', 'binary-input', 'multi-state-input'])
/** An input has no priority array. A person overrides it by taking it out of service and setting its value (135-2020 12.2.10). */
export const isInput = ({ object_type }: PriorityTarget): boolean => INPUTS.has(object_type)

/** One point as one visit read it. */
export type PriorityReading = {
  /** When the answer came, ms since 1970 UTC. */
  observed_at: number
  target: PriorityTarget
  /** The point's name in the catalogue. */
  label?: string
  /** [16], P1 first */
  slots: Slot[]
  /** The highest level that commands, 1..16; null when none does. */
  active_level: number | null
  present_value?: SlotValue
  relinquish_default?: SlotValue
  out_of_service?: boolean
  source: 'scheduled' | 'triggered'
}

/** A reading in the journal. `changed`: the levels that differ from the visit before; all 16 at the first visit. */
export type PriorityRecord = PriorityReading & { seq: number; changed: number[] }

/** Equal for equal targets. An id of the catalogue has no slash. */
export const priorityKey = ({ device_id, device_instance, object_type, object_instance }: PriorityTarget): string =>
  `${device_id === undefined ? '' : `${device_id}/`}${device_instance}/${object_type},${object_instance}`

/** @returns the highest level that commands; a level that could not be read is skipped */
export const activeLevel = (slots: readonly Slot[]): number | null => slots.find(({ state }) => state === 'value')?.level ?? null

/** @returns the levels whose state or value differs, ascending */
export function changedLevels(before: readonly Slot[], after: readonly Slot[]): number[] {
  return after.flatMap((slot, i) => (isSame(before[i]!, slot) ? [] : [slot.level]))
}

function isSame(a: Slot, b: Slot): boolean {
  if (a.state === 'value') return b.state === 'value' && a.type === b.type && a.value === b.value
  if (a.state === 'error') return b.state === 'error' && a.error === b.error
  return b.state === 'null'
}

/** What was seen of a commandable point's priority array: who commands it, at which level, and what it falls back to. */

/** Levels of the array, P1 (manual life safety) to P16 (135-2020 19.2.2). */
export const LEVELS = 16

export type SlotValue = number | boolean | string

/** One level. A device that refuses one level says so there; the others count. */
export type Slot = { level: number } & (
  | { state: 'null' }
  /** `type` as BACnet names it: real, unsigned, enumerated, boolean … */
  | { state: 'value'; type: string; value: SlotValue }
  | { state: 'error'; error: string }
)

/**
 * The commandable object. `object_type` is written as in the catalogue, for example `analog-output`.
 *
 * `device_id` is the entry of the catalogue: instances are not unique in every building. It is absent in records that were
 * written before journals held it, and in queries that mean every device of the instance.
 */
export type PriorityTarget = { device_id?: string; device_instance: number; object_type: string; object_instance: number }

const INPUTS: ReadonlySet<string> = new Set(['analog-input', 'binary-input', 'multi-state-input'])
/** Nobody commands an input: by hand it is taken out of service, and then says what it was told (135-2020 12.2.10). */
export const isInput = ({ object_type }: PriorityTarget): boolean => INPUTS.has(object_type)

/** One visit to one point. */
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

/** A reading as the journal gives it back. `changed`: the levels that differ from the visit before; all 16 at the first. */
export type PriorityRecord = PriorityReading & { seq: number; changed: number[] }

/** Equal for equal targets. An id of the catalogue has no slash. */
export const priorityKey = ({ device_id, device_instance, object_type, object_instance }: PriorityTarget): string =>
  `${device_id === undefined ? '' : `${device_id}/`}${device_instance}/${object_type},${object_instance}`

/** @returns the highest level that commands; a level that could not be read is passed over */
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

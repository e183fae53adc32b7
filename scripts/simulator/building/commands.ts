/** A priority array that changes by script, as people and programs command a point. */
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import type { Commands, PropertyError, SimObject } from '../bacnet/objects.ts'

/** From `at` on the level holds this; null: it is released. */
export type Command = { at: number; level: number; value: number | null | PropertyError }

/**
 * @param script ascending in time
 * @param now instants as in the script
 * @returns the part of an object that is commanded: its present value follows the highest level that commands
 */
export function commandedBy(
  script: readonly Command[],
  now: () => number,
  { relinquishDefault, array }: Pick<Commands, 'relinquishDefault' | 'array'>,
): Pick<SimObject, 'value' | 'commands'> {
  const level = (wanted: number) => script.findLast(one => one.level === wanted && one.at <= now())?.value ?? null
  const value = () => {
    const held = Array.from({ length: LEVELS }, (_, i) => level(i + 1))
    return held.find(one => typeof one === 'number') ?? relinquishDefault
  }
  return { value, commands: { level, relinquishDefault, ...(array && { array }) } }
}

/**
 * What the sixteen levels are called, and which of them are an override.
 *
 * @source ASHRAE 135-2020 19.2.1, table 19-1: the standard names 1, 2, 5, 6 and 8 and leaves the others to the site
 */
import { LEVELS } from './priority-record.ts'

export type LevelMeaning = { name: string; override: boolean }
/** What a site says of one level; what it leaves out is as the standard has it. */
export type LevelSetting = { level: number; name?: string; override?: boolean }

const STANDARD: Record<number, string> = {
  1: 'Manual life safety',
  2: 'Automatic life safety',
  5: 'Critical equipment control',
  6: 'Minimum on/off',
  8: 'Manual operator',
}
const AVAILABLE = 'Available'
/** The lowest level at which people override; below it are programs. */
const MANUAL_OPERATOR = 8
/** The device's own timer holds it for minutes so that a motor does not cycle (19.2.3). Nobody has overridden anything. */
const MINIMUM_ON_OFF = 6
/** What stands behind the array: nothing commands, and the relinquish default counts. */
export const RELINQUISHED = LEVELS + 1

/**
 * @param settings of the site, for any of the levels
 * @returns [16], P1 first
 */
export function levelMeanings(settings: readonly LevelSetting[] = []): LevelMeaning[] {
  return Array.from({ length: LEVELS }, (_, i) => {
    const level = i + 1
    const own = settings.find(setting => setting.level === level)
    return {
      name: own?.name ?? STANDARD[level] ?? AVAILABLE,
      override: own?.override ?? (level <= MANUAL_OPERATOR && level !== MINIMUM_ON_OFF),
    }
  })
}

/** @returns whether a person or a life-safety system holds the point */
export const isOverride = (level: number | null, meanings: readonly LevelMeaning[]): boolean =>
  level !== null && meanings[level - 1]?.override === true

/**
 * Names of the sixteen priority levels, and which of them are overrides.
 *
 * @source ASHRAE 135-2020 19.2.1, table 19-1: the standard names 1, 2, 5, 6 and 8 and leaves the others to the site
 */
import { LEVELS } from './priority-record.ts'

export type LevelMeaning = { name: string; override: boolean }
/** The settings of a site for one level. Missing members are as in the standard. */
type LevelSetting = { level: number; name?: string; override?: boolean }

const STANDARD: Record<number, string> = {
  1: 'Manual life safety',
  2: 'Automatic life safety',
  5: 'Critical equipment control',
  6: 'Minimum on/off',
  8: 'Manual operator',
}
const AVAILABLE = 'Available'
/** The lowest level at which people command. Programs command at lower priority. */
const MANUAL_OPERATOR = 8
/** A timer of the device holds this level for minutes so that a motor does not cycle (19.2.3). That is no override. */
const MINIMUM_ON_OFF = 6
/** Stands for the relinquish default, which applies when no level commands. */
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

/** @returns the settings of a site that give these meanings: what is as in the standard is left out */
export const levelSettings = (meanings: readonly LevelMeaning[]): LevelSetting[] =>
  levelMeanings().flatMap((standard, i) => {
    const { name, override } = meanings[i]!
    const own = { ...(name !== standard.name && { name }), ...(override !== standard.override && { override }) }
    return Object.keys(own).length === 0 ? [] : [{ level: i + 1, ...own }]
  })

/** @returns whether a person or a life-safety system holds the point */
export const isOverride = (level: number | null, meanings: readonly LevelMeaning[]): boolean =>
  level !== null && meanings[level - 1]?.override === true

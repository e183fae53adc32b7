/** What a person has chosen for the pages. */
import type { UnitSystem } from '#shared/core/model/model.ts'

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/**
 * The choices of one person. Without a language the browser's counts (`Accept-Language`, English where it asks for none that there
 * is), without a unit system that of each building.
 */
export type Preferences = { language?: Language; unit_system?: UnitSystem }

/** By the subject of the caller: named users, the logins of the settings, and whoever works where no login is configured. */
export interface PreferenceStore {
  /** @returns no choices for a person without a row */
  get(subject: string): Preferences
  /** Replaces all choices of a person. */
  put(subject: string, preferences: Preferences): void
  /** Removes all choices of a person. */
  remove(subject: string): void
}

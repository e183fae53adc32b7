/** The command on a person's own preferences, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { UNIT_SYSTEMS } from '#shared/core/model/model.ts'
import { type Language, LANGUAGES, type Preferences } from '#shared/core/preferences.ts'
import type { UnitSystem } from '#shared/core/model/model.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, assertPerson } from './command.ts'

/** One of the words, or null to take the choice back. */
const orNull = <T extends string>(words: readonly T[]) => Type.Unsafe<T | null>({ enum: [...words, null] })
export const LANGUAGE_CHOICE = orNull(LANGUAGES)
export const UNIT_CHOICE = orNull(UNIT_SYSTEMS)
/** The fields of a change; one that is left out stays as it was. */
export const PREFERENCE_CHANGE = { language: Type.Optional(LANGUAGE_CHOICE), unit_system: Type.Optional(UNIT_CHOICE) }
type PreferenceChange = { language?: Language | null; unit_system?: UnitSystem | null }

/**
 * Changes what the caller has chosen for the pages.
 *
 * @returns all choices of the caller
 * @throws Problem forbidden for an API token, which reads no pages
 */
export function changePreferences(
  { preferences }: Pick<CentralContext, 'preferences'>,
  { caller, audit }: Actor,
  change: PreferenceChange,
): Preferences {
  assertPerson({ caller }, 'preferences')
  const { subject } = caller!
  const before = preferences.get(subject)
  const chosen = Object.entries({ ...before, ...change }).filter(([, choice]) => choice !== null)
  const after: Preferences = Object.fromEntries(chosen)
  preferences.put(subject, after)
  audit({ subject, before, after })
  return after
}

/** Which language a page has for its reader. */
import { type Language, LANGUAGES, type PreferenceStore } from '#shared/core/preferences.ts'
import type { PageLanguage, PageLanguageOf } from '#shared/node/http/language.ts'
import { GERMAN } from './german.ts'

/** English needs no translation. */
const PAGE_LANGUAGES: Record<Language, PageLanguage | undefined> = { en: undefined, de: GERMAN }

/** The language that the reader has chosen, otherwise the browser's; who has not signed in has chosen none. */
export const pageLanguageOf =
  ({ preferences }: { preferences: Pick<PreferenceStore, 'get'> }): PageLanguageOf =>
  ({ caller, headers }) =>
    PAGE_LANGUAGES[(caller && preferences.get(caller.subject).language) ?? acceptedLanguage(headers['accept-language'])]

/**
 * The language with the greatest weight of those that there are.
 *
 * @returns English where none is asked for
 * @source RFC 9110, 12.5.4
 */
function acceptedLanguage(header = ''): Language {
  const asked = header.split(',').flatMap(part => {
    const [range = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
    const weight = Number(parameters.find(text => text.startsWith('q='))?.slice(2) ?? 1)
    const language = LANGUAGES.find(one => range === one || range.startsWith(`${one}-`))
    return language && weight > 0 ? [{ language, weight }] : []
  })
  return asked.toSorted((a, b) => b.weight - a.weight)[0]?.language ?? 'en'
}

/** The form on which people choose what pages show them. */
import type { UnitSystem } from '#shared/core/model/model.ts'
import { type Language, LANGUAGES, type Preferences } from '#shared/core/preferences.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, PREFERENCES_PATH } from '#shared/central/ui/frame.ts'
import { UNIT_SYSTEM_WORDS } from '#shared/central/ui/measure.ts'
import { say } from '#shared/node/http/language.ts'

type PreferencesForm = { chosen: Preferences; isSaved: boolean; csrf: string }

export const preferencesBody = ({ chosen, isSaved, csrf }: PreferencesForm): Html => html`<h1>Language and units</h1>
<p class="lead">This counts for you alone, on every page and in every browser. What is stored does not change.</p>
${isSaved && html`<div class="toast" role="status"><p>Your choice is saved.</p></div>`}
<form class="fields card" method="post" action="${PREFERENCES_PATH}">${csrfField(csrf)}
<label>Language <select name="language">${languageOption(undefined, chosen)}${LANGUAGES.map(one => languageOption(one, chosen))}</select></label>
<label>Units <select name="unit_system">${unitOption(undefined, chosen)}${unitOption('si', chosen)}${unitOption('us', chosen)}</select></label>
<button class="primary">Save</button></form>`

/** Each language in itself: who reads no other finds it. */
const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'Deutsch' }

const languageOption = (language: Language | undefined, { language: chosen }: Preferences): Html =>
  html`<option value="${language}"${language && html` lang="${language}"`}${language === chosen && html` selected`}>${language === undefined ? say`that of the browser` : LANGUAGE_NAMES[language]}</option>`

const unitOption = (system: UnitSystem | undefined, { unit_system: chosen }: Preferences): Html =>
  html`<option value="${system}"${system === chosen && html` selected`}>${system === undefined ? say`those of each building` : UNIT_SYSTEM_WORDS[system]}</option>`

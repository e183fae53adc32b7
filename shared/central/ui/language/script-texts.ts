/** Texts that the scripts of pages write themselves, given to them in the language of the answer. */
import { currentLanguage, words } from '#shared/node/http/language.ts'

/** As they stand in `say(…)` of the files in `shared/static`; values are `{0}`. */
const TEXTS = words([
  'The session has ended. What you typed stays; the password is asked for when you send it.',
  'No answer since then: this page is old.',
  'from the edge, {0} bytes',
  'to the edge, {0} bytes',
  'Pause',
  'Go on ({0} waiting)',
  'Connected to the broker.',
  'Not connected to the broker.',
  '{0} messages since the start',
  '{0} messages since the start, {1} not shown because too many came at once',
  'No answer from the hub.',
  'Time',
  'on',
  'off',
  '{0} least',
  '{0} greatest',
  'worst {0}',
  'on/off',
  'state',
  'value',
  '{0} to {1}, {2}',
  'This time could not be loaded. Try again, or load the page anew.',
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
])
/** In English, because this is read outside of any request. */
export const SCRIPT_TEXTS: readonly string[] = [...TEXTS]

/** @returns for a language beside English the texts by their English, as JSON for the scripts */
export const scriptTexts = (): string | undefined =>
  currentLanguage() === 'en' ? undefined : JSON.stringify(Object.fromEntries(SCRIPT_TEXTS.map((text, i) => [text, TEXTS[i]])))

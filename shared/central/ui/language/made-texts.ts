/** Recognises texts that were made from a message with values, so that they can be said in another language. */

const PLACE = /\{\d+\}/
const SPECIAL = /[.*+?^${}()|[\]\\]/g
const NUMBER = /^[-−]?\d[\d,]*(\.\d+)?(?![\d.,])/

type Pattern = { text: RegExp; translation: string }

/**
 * @param messages translation by message; the values of a message are `{0}`, `{1}` …
 * @param number writes the number at the beginning of a value
 * @returns the translation of a text, undefined where no message makes it
 */
export function madeTexts(messages: ReadonlyMap<string, string>, number: (english: string) => string) {
  const byStart = new Map<string, Pattern[]>()
  for (const [message, translation] of messages) {
    if (!PLACE.test(message)) continue
    const source = message
      .split(PLACE)
      .map(part => part.replaceAll(SPECIAL, String.raw`\$&`))
      .join('(.*?)')
    // A value in the first word may be any: such a message is tried on every text.
    const start = PLACE.test(firstWord(message)) ? '' : firstWord(message)
    byStart.set(start, [...(byStart.get(start) ?? []), { text: new RegExp(`^${source}$`, 's'), translation }])
  }
  const inWords = (value: string) => translate(value) ?? value.replace(NUMBER, found => number(found))
  const translate = (text: string): string | undefined => {
    const whole = messages.get(text)
    if (whole !== undefined) return whole
    for (const pattern of [...(byStart.get(firstWord(text)) ?? []), ...(byStart.get('') ?? [])]) {
      const values = pattern.text.exec(text)?.slice(1)
      if (values) return pattern.translation.replaceAll(/\{(\d+)\}/g, (_, place: string) => inWords(values[Number(place)]!))
    }
    return undefined
  }
  return translate
}

const firstWord = (text: string): string => text.split(' ', 1)[0]!

/**
 * The language in which a request is answered, and plain texts in it. English is what the sources say, and what is used where
 * nobody asked for another: by the API, in logs and audit rows, and outside of requests.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import { formatNumber } from '#shared/core/number-text.ts'

/** What one language makes of the English messages. Create it once: templates remember their translation by it. */
export type PageLanguage = {
  /** As in `<html lang>`. */
  language: string
  /** @returns undefined for a message that stays English */
  translate(message: string): string | undefined
  /** The same for a text that was made in English from a message with values. */
  translateMade(text: string): string | undefined
  decimal: string
  thousands: string
}

/** The language of a page for a request; undefined for English. */
export type PageLanguageOf = (request: FastifyRequest) => PageLanguage | undefined

const answered = new AsyncLocalStorage<PageLanguage | undefined>()

/** Runs `work` with the texts of a language; with undefined they are English. */
export const inLanguage = <T>(language: PageLanguage | undefined, work: () => T): T => answered.run(language, work)
export const pageLanguage = (): PageLanguage | undefined => answered.getStore()
/** @returns for example `de` */
export const currentLanguage = (): string => answered.getStore()?.language ?? 'en'

const keys = new WeakMap<TemplateStringsArray, string>()
/** The message of a tagged text: its values are `{0}`, `{1}` … */
export const messageOf = (strings: readonly string[]): string =>
  strings.reduce((message, part, i) => `${message}{${i - 1}}${part}`)
const PLACE = /\{(\d)\}/g
/** What a message is about where another language needs two words for one of English: `Equipment ¦ several`. It is never shown. */
const ABOUT = ' ¦ '
const withoutAbout = (text: string): string => {
  const at = text.indexOf(ABOUT)
  return at === -1 ? text : text.slice(0, at)
}

/**
 * A plain text of the product in the language of the answer: say`${n} h of ${name}`, or `say(TITLES[kind])` for a text that is
 * listed elsewhere. Texts of devices, files and people are only ever values.
 */
export function say(text: TemplateStringsArray | string, ...values: (string | number | null | undefined)[]): string {
  const language = answered.getStore()
  if (typeof text === 'string') return language?.translate(text) ?? withoutAbout(text)
  const translated = language?.translate(keyOf(text))
  if (translated === undefined) return String.raw({ raw: text }, ...values)
  return translated.replace(PLACE, (_, place: string) => String(values[Number(place)]))
}

/** A text that was made in English and stored or reported so, such as the sentence of a finding; an unknown one stays. */
export const sayMade = (text: string): string => answered.getStore()?.translateMade(text) ?? text

/** The same for a text behind the place that it is about: `AHU-1/history.csv: is empty`. */
export function sayPlaced(text: string): string {
  const whole = sayMade(text)
  const colon = text.indexOf(': ')
  return whole !== text || colon === -1 ? whole : `${text.slice(0, colon)}: ${sayMade(text.slice(colon + 2))}`
}

/** Marks an English text that `say` or `words` is given elsewhere. */
export const message = (text: TemplateStringsArray): string => text.join('')

function keyOf(strings: TemplateStringsArray): string {
  const known = keys.get(strings)
  if (known !== undefined) return known
  const key = messageOf(strings)
  keys.set(strings, key)
  return key
}

/**
 * A table or list of texts that are read in the language of the answer. Lists and tables in it are treated likewise.
 *
 * @param names only properties with these names are texts; none: every string is
 */
export function words<T extends object>(table: T, ...names: string[]): T {
  const own: object = Array.isArray(table) ? [] : Object.create(Object.getPrototypeOf(table))
  for (const [name, value] of Object.entries(table)) {
    const isText = typeof value === 'string' && (names.length === 0 || names.includes(name))
    const child = typeof value === 'object' && value !== null ? words(value, ...names) : value
    Object.defineProperty(own, name, { enumerable: true, ...(isText ? { get: () => say(value) } : { value: child }) })
  }
  return own as T
}

/** @returns `1,204.5` as the language of the answer writes it */
export function sayNumber(value: number, decimals: number): string {
  return inSeparators(formatNumber(value, decimals))
}

/** @returns a figure as it is, with the decimal sign of the language of the answer and without a thousands separator */
export const sayFigure = (value: number): string => inSeparators(String(value))

/** A number that was written in English, without a thousands separator or with commas. */
function inSeparators(english: string): string {
  const language = answered.getStore()
  if (!language) return english
  return english.replace(/[.,]/g, sign => (sign === '.' ? language.decimal : language.thousands))
}

/** @returns `18,204` as the language of the answer writes it */
export const sayCount = (n: number): string => sayNumber(n, 0)

/** @returns `1 message`, `4,120 messages`; the message is `1 message|{0} messages` */
export function sayCountOf(n: number, noun: string): string {
  const count = sayCount(n)
  const translated = answered.getStore()?.translate(countMessage(noun))
  if (translated === undefined) return `${count} ${noun}${n === 1 ? '' : 's'}`
  const [one = '', many = ''] = translated.split('|')
  return n === 1 ? one : many.replace('{0}', count)
}

/** @returns the message of a counted noun */
export const countMessage = (noun: string): string => `1 ${noun}|{0} ${noun}s`

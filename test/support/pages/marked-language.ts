/** A language that marks each text of the product, and what a page says outside of these marks. */
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import type { PageLanguage } from '#shared/node/http/language.ts'
import { madeTexts } from '#shared/central/ui/language/made-texts.ts'
import { GERMAN_MESSAGES, MADE } from '#shared/central/ui/language/german.ts'

const PLACE = /(\{\d+\}|<\/?\d+>|\|)/
const mark = (message: string): string =>
  message
    .split(PLACE)
    .map((part, i) => (i % 2 === 1 || part.trim() === '' ? part : `⟦${part}⟧`))
    .join('')

/** Marks what the German catalogue has. */
export const MARKED: PageLanguage = {
  language: 'en',
  translate: message => (GERMAN_MESSAGES.has(message) ? mark(message) : undefined),
  translateMade: madeTexts(new Map([...MADE.keys()].map(message => [message, mark(message)])), number => number),
  decimal: '.',
  thousands: ',',
}

const READ =
  /\s(?:alt|aria-description|aria-label|aria-roledescription|aria-valuetext|data-label|data-say-[a-z-]+|label|placeholder|title)="([^"]*)"/g
/** Code, what a field holds, and choices of data are no texts of the product. */
const NOT_READ = /<(script|style|code|pre|textarea|kbd)\b[\s\S]*?<\/\1>/g

/** @returns the texts that people read and that no mark holds, each once */
function unmarkedTexts(page: string): string[] {
  const marksOut = page.replaceAll(NOT_READ, ' ').replaceAll(/⟦[^⟧]*⟧/g, '')
  const attributes = [...marksOut.matchAll(READ)].map(([, text]) => text!)
  const texts = marksOut.replaceAll(/<!--[\s\S]*?-->|<[^>]+>/g, '\n').split('\n')
  return [...new Set([...texts, ...attributes].map(text => text.trim()).filter(text => /\p{L}{2}/u.test(text)))]
}

/** Names and codes: ids, addresses, roles and units. */
const CODES =
  /\b(?:[\w-]*[_\d.][\w.-]*|[A-Z]{2,}[A-Z\d-]*|America\/Chicago|Haystack|Brick|English|Deutsch|cfm|in\. w\.c\.|min|kW\/ton|Btu)\b/g

const CODE_NAMES = new Set([...Object.keys(ROLES), ...Object.keys(UNITS)])
const isCodes = (text: string) => text.split(', ').every(part => CODE_NAMES.has(part))

/** @returns the same without names from `data`, codes, and what the API says */
export const unmarkedWords = (page: string, data: readonly string[]): string[] =>
  unmarkedTexts(page).filter(text => {
    if (isCodes(text)) return false
    return /\p{L}{3}/u.test(data.reduce((rest, name) => rest.replaceAll(name, ' '), text).replaceAll(CODES, ' '))
  })

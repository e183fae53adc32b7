import { nameTable } from '#shared/core/name-table.ts'
import { type PageLanguage, pageLanguage } from './language.ts'
import { parseTemplate, type Piece, translatePieces } from './template-messages.ts'

/** Markup that is safe to send. Only `html` and `raw` create it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

const ENTITIES = nameTable<string>({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })

/** Marks that turn the direction of what follows on the line, and control characters but tab, line feed and carriage return. */
const LEFT_OUT = String.raw`\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`
const ESCAPED = new RegExp(`[&<>"'${LEFT_OUT}]`, 'g')

/**
 * Escapes text for markup or a quoted attribute. What no page should have is left out: a mark of direction in a name would turn the
 * words of the page after it, and HTML has no control characters.
 */
const escapeHtml = (text: string): string => text.replace(ESCAPED, char => ENTITIES[char] ?? '')

/** Marks trusted text as markup. Text from a device, a file or a person must never be passed to it. */
export const raw = (text: string): Html => new Html(text)

/**
 * Tag for server-rendered markup. Values are escaped unless they are `Html`; lists are joined; null, undefined and booleans
 * render nothing. Attribute values are quoted in the template. What the template says is translated into the language of the
 * answer, its values are not.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): Html {
  const language = pageLanguage()
  if (language) {
    const parts = partsOf(strings, language)
    return new Html(parts.map(part => (typeof part === 'number' ? render(values[part]) : part)).join(''))
  }
  let text = strings[0] ?? ''
  for (const [i, value] of values.entries()) text += render(value) + (strings[i + 1] ?? '')
  return new Html(text)
}

function render(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(render).join('')
  if (value === null || value === undefined || typeof value === 'boolean') return ''
  return escapeHtml(String(value))
}

type Parts = (string | number)[]
const templates = new WeakMap<TemplateStringsArray, Piece[]>()
const translated = new WeakMap<PageLanguage, WeakMap<TemplateStringsArray, Parts>>()

/** A template in a language: read once, translated once for each language. */
function partsOf(strings: TemplateStringsArray, language: PageLanguage): Parts {
  const ofLanguage = translated.get(language) ?? new WeakMap<TemplateStringsArray, Parts>()
  translated.set(language, ofLanguage)
  const known = ofLanguage.get(strings)
  if (known) return known
  const pieces = templates.get(strings) ?? parseTemplate(strings)
  templates.set(strings, pieces)
  const parts = translatePieces(pieces, message => language.translate(message))
  ofLanguage.set(strings, parts)
  return parts
}

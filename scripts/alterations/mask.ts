/** Blanks what is no code in a TypeScript source, so that operators can be found by patterns. */
import { stripTypeScriptTypes } from 'node:module'

/** Characters that may stand before a slash that begins a regular expression. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|await))\s*$/

/**
 * @param source a TypeScript module whose types can be erased
 * @returns a text of the same length: types, comments and the contents of strings, templates and regular expressions are
 *   blank, line ends stay. Code inside `${}` of a template stays.
 */
export function maskSource(source: string): string {
  const code = stripTypeScriptTypes(source, { mode: 'strip' })
  const out = code.split('')
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' '
  }
  /** For each open template expression: how many braces are open in it. */
  const templates: number[] = []
  let at = 0

  const endOfQuoted = (from: number): number => {
    let end = from + 1
    while (end < code.length && code[end] !== code[from] && code[end] !== '\n') end += code[end] === '\\' ? 2 : 1
    return end
  }
  const endOfTemplate = (from: number): number => {
    let end = from
    while (end < code.length && code[end] !== '`' && !code.startsWith('${', end)) end += code[end] === '\\' ? 2 : 1
    return end
  }
  const endOfRegex = (from: number): number => {
    let end = from + 1
    for (let inClass = false; end < code.length && (inClass || code[end] !== '/'); end++) {
      if (code[end] === '\\') end++
      else if (code[end] === '[') inClass = true
      else if (code[end] === ']') inClass = false
    }
    return end
  }
  const skipTemplate = (from: number) => {
    const end = endOfTemplate(from)
    blank(from, end)
    if (code[end] === '$') templates.push(0)
    at = end + (code[end] === '$' ? 2 : 1)
  }

  while (at < code.length) {
    const char = code[at]!
    if (code.startsWith('//', at)) {
      const end = code.indexOf('\n', at)
      blank(at, (at = end < 0 ? code.length : end))
    } else if (code.startsWith('/*', at)) blank(at, (at = code.indexOf('*/', at) + 2))
    else if (char === "'" || char === '"') {
      const end = endOfQuoted(at)
      blank(at + 1, end)
      at = end + 1
    } else if (char === '`') skipTemplate(at + 1)
    else if (char === '/' && BEFORE_REGEX.test(out.slice(Math.max(0, at - 40), at).join(''))) {
      // Its slashes as well, or they would be divisions.
      const end = endOfRegex(at) + 1
      blank(at, end)
      at = end
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop()
      skipTemplate(at + 1)
    } else {
      if (templates.length > 0 && char === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && char === '}') templates[templates.length - 1]!--
      at++
    }
  }
  return out.join('')
}

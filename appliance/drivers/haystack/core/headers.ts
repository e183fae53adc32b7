/**
 * The headers of Project Haystack's authentication over HTTP, and cookies.
 *
 * @source project-haystack.org/doc/docHaystack/Auth; RFC 7235 section 2.1 for the grammar
 */
/** Names of the scheme and of the parameters in lower case, because their case does not matter (RFC 7235 2.1). */
export type Challenge = { scheme: string; params: Record<string, string> }

const TOKEN = String.raw`[A-Za-z0-9!#$%&'*+.^_\x60|~-]+`
const SCHEME_AND_PARAM = new RegExp(`^(${TOKEN})\\s+(${TOKEN}\\s*=.*)$`, 's')
const SCHEME = new RegExp(`^${TOKEN}$`)
const PARAM = new RegExp(`^(${TOKEN})\\s*=\\s*(.*)$`, 's')
/** Commas within quotes do not separate. */
const PARTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g

/** @returns the challenges of a `WWW-Authenticate` header, which may contain several */
export function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = []
  for (const part of header.match(PARTS) ?? []) {
    const text = part.trim()
    const opening = SCHEME_AND_PARAM.exec(text)
    if (opening) challenges.push({ scheme: opening[1]!.toLowerCase(), params: {} })
    else if (SCHEME.test(text)) challenges.push({ scheme: text.toLowerCase(), params: {} })
    addParam(challenges.at(-1), opening ? opening[2]! : text)
  }
  return challenges
}

/** @returns the parameters of an `Authentication-Info` header, their names in lower case */
export function parseParams(header: string): Record<string, string> {
  const holder: Challenge = { scheme: '', params: {} }
  for (const part of header.match(PARTS) ?? []) addParam(holder, part.trim())
  return holder.params
}

function addParam(challenge: Challenge | undefined, text: string): void {
  const param = PARAM.exec(text)
  if (!challenge || !param) return
  const [, name, value = ''] = param
  challenge.params[name!.toLowerCase()] = value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : value
}

/** Encodes a `username` or `data` parameter: base64url without padding. */
export const encodeData = (text: string): string => Buffer.from(text).toString('base64url')

/** Decodes base64 and base64url, with or without padding. */
export const decodeData = (text: string): string => Buffer.from(text, 'base64').toString()

/** Cookies of the session with one server. Paths and domains are ignored, because cookies are sent only to its endpoint. */
export type Cookies = ReadonlyMap<string, string>

const COOKIES_MAX = 20
const COOKIE_BYTES_MAX = 4096

/** @param headers `Set-Cookie` headers of one answer @returns the updated cookies */
export function takeCookies(cookies: Cookies, headers: readonly string[]): Cookies {
  const next = new Map(cookies)
  for (const header of headers) {
    const [pair = '', ...attributes] = header.split(';')
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    const value = pair.slice(at + 1).trim()
    if (at <= 0 || name === '' || header.length > COOKIE_BYTES_MAX) continue
    if (value === '' || attributes.some(text => /^\s*max-age\s*=\s*(?:0|-\d+)\s*$/i.test(text))) next.delete(name)
    else if (next.has(name) || next.size < COOKIES_MAX) next.set(name, value)
  }
  return next
}

/** @returns the `Cookie` header; undefined when there are no cookies */
export const cookieHeader = (cookies: Cookies): string | undefined =>
  cookies.size ? Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') : undefined

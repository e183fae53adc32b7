/** Cookies of one server's session. Paths and domains do not matter: they only ever go back to the one endpoint. */
export type Cookies = ReadonlyMap<string, string>

const COOKIES_MAX = 20
const COOKIE_BYTES_MAX = 4096

/** @param headers `Set-Cookie` headers of one answer @returns the cookies after it */
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

/** @returns the `Cookie` header, or undefined when there is none to send */
export const cookieHeader = (cookies: Cookies): string | undefined =>
  cookies.size ? Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') : undefined

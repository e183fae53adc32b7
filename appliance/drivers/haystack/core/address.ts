/** The address of a Haystack server, its kinds of login, and the address of a point on it. */

/** `bearer-haystack` is Project Haystack's `BEARER authToken=`, `bearer` the plain one of RFC 6750. */
export const HAYSTACK_AUTHS = ['bearer-haystack', 'bearer', 'scram', 'basic'] as const
export type HaystackAuth = (typeof HAYSTACK_AUTHS)[number]

/** @returns the address, ending in `/`, or the reason why the text is not one */
export function parseEndpoint(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must begin with https:// or http://, for example https://skyspark.example/api/demo/'
  }
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password; they are set separately'
  if (url.search !== '' || url.hash !== '') return 'must not contain ? or #, because the name of the op is appended'
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/** Address of a point of the catalogue: `@p:demo:r:2a7c-13`, or a filter that matches one record. */
export type HaystackAddress = { ref: string } | { filter: string }

const REF = /^@[A-Za-z0-9_:.~-]+$/

/** @returns the address, or the reason why the text is none; `checkFilter` of the codec checks filters */
export function parseHaystackAddress(text: string): HaystackAddress | string {
  if (!text.startsWith('@')) return { filter: text }
  return REF.test(text)
    ? { ref: text.slice(1) }
    : `"${text}" is not a reference: after the @ only letters, digits and _ : . ~ - are allowed`
}

/**
 * Whether two ids name the same record. A server may answer `@a-1` with `@p:demo:r:a-1`, its absolute form.
 *
 * @param requested @param received ids without the `@`
 */
export const isSameRef = (requested: string, received: string): boolean =>
  requested === received || tail(requested) === received || tail(received) === requested

const tail = (id: string): string => /^p:[^:]+:r:(.+)$/.exec(id)?.[1] ?? id

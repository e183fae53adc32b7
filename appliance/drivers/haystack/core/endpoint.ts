/** The address of a Haystack server, and its kinds of authentication. */

/** `bearer-haystack` is Project Haystack's `BEARER authToken=`, `bearer` the plain one of RFC 6750. */
export const HAYSTACK_AUTHS = ['bearer-haystack', 'bearer', 'scram', 'basic'] as const
export type HaystackAuth = (typeof HAYSTACK_AUTHS)[number]

/** @returns the address, ending in `/`, or in words what is wrong with the text */
export function parseEndpoint(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'takes an address that begins with https:// or http://, for example https://skyspark.example/api/demo/'
  }
  if (url.username !== '' || url.password !== '') return 'takes no name or password; they have variables of their own'
  if (url.search !== '' || url.hash !== '') return 'takes no ? or #; the names of ops are added to it'
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

/** Longest address of an edge. */
const LENGTH_MAX = 1024

/**
 * Where a hub reaches an edge: HTTPS, a host, perhaps a port and a path, and nothing else.
 *
 * @returns the address ending in `/`, or why it is not taken
 */
export function readConnectorUrl(text: string): { ok: true; url: string } | { ok: false; reason: string } {
  const refuse = (reason: string) => ({ ok: false as const, reason })
  if (text.length > LENGTH_MAX) return refuse(`has more than ${LENGTH_MAX} characters`)
  if (!URL.canParse(text)) return refuse('is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:') return refuse('must begin with https://')
  if (url.username !== '' || url.password !== '') return refuse('must not carry a user name or password')
  if (/[?#]/.test(text)) return refuse('must not carry a query or fragment')
  return { ok: true, url: url.href.endsWith('/') ? url.href : `${url.href}/` }
}

const HERE = 'http://here'

/** @returns a path of this site, whatever the address asks for: `//elsewhere` and `/\elsewhere` leave it */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !URL.canParse(next, HERE)) return '/'
  const { origin, pathname, search } = new URL(next, HERE)
  return origin === HERE && !pathname.startsWith('//') ? pathname + search : '/'
}

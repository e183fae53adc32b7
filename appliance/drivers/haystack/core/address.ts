/** A point of the catalogue on a Haystack server: `@p:demo:r:2a7c-13`, or a filter that fits one record. */
export type HaystackAddress = { ref: string } | { filter: string }

const REF = /^@[A-Za-z0-9_:.~-]+$/

/** @returns the address, or in words what is wrong; whether a filter can be read is the codec's to say */
export function parseHaystackAddress(text: string): HaystackAddress | string {
  if (!text.startsWith('@')) return { filter: text }
  return REF.test(text) ? { ref: text.slice(1) } : `"${text}" is no reference; it takes letters, digits and _ : . ~ - after the @`
}

/**
 * Whether two ids name the same record. A server may answer `@a-1` with `@p:demo:r:a-1`, its absolute form.
 *
 * @param asked, given ids without the `@`
 */
export const isSameRef = (asked: string, given: string): boolean =>
  asked === given || tail(asked) === given || tail(given) === asked

const tail = (id: string): string => /^p:[^:]+:r:(.+)$/.exec(id)?.[1] ?? id

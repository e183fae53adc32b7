/** Longest id that is made from a name, so that a number fits behind it. */
const LENGTH_MAX = 100

/** @returns `air-handler-1` for `Air handler 1`, with a number behind it where that is taken */
export function freeId(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LENGTH_MAX)
  const base = plain === '' ? 'equipment' : plain
  if (!taken.has(base)) return base
  for (let i = 2; ; i++) if (!taken.has(`${base}-${i}`)) return `${base}-${i}`
}

/** What an archive or an upload may hold, judged before a byte of it is written. */

export type PackageLimits = {
  /** Files and folders. */
  entriesMax: number
  /** Bytes when unpacked, all together. */
  expandedMax: number
  /** Unpacked bytes for each packed one. */
  ratioMax: number
  /** Folders above a file. */
  depthMax: number
}

export const PACKAGE_LIMITS: PackageLimits = {
  entriesMax: 2000,
  expandedMax: 512 * 1024 * 1024,
  ratioMax: 100,
  depthMax: 8,
}

/** Below this an entry cannot do harm, and one repeated value packs better than any ratio. */
const SMALL_BYTES = 1024 * 1024

type EntryHead = { path: string; bytes: number; packed: number; isLink: boolean; isEncrypted: boolean }

/** Judges the entries of one package as they come. */
export function createEntryCheck(limits: PackageLimits) {
  const seen = new Map<string, string>()
  let [entries, expanded] = [0, 0]
  return {
    /** @returns what is wrong with the entry, in words that name it; undefined when it may be unpacked */
    fault(entry: EntryHead): string | undefined {
      const { path, bytes, packed } = entry
      entries++
      expanded += bytes
      if (entries > limits.entriesMax) return `the package has more than ${limits.entriesMax} entries`
      const wrong = pathFault(path, limits.depthMax)
      if (wrong) return wrong
      if (entry.isLink) return `${path} is a link; packages hold plain files`
      if (entry.isEncrypted) return `${path} is encrypted`
      if (expanded > limits.expandedMax) return `${path} brings the package to more than ${limits.expandedMax} bytes unpacked`
      if (bytes > SMALL_BYTES && bytes > limits.ratioMax * packed) {
        return `${path} unpacks to more than ${limits.ratioMax} times its size, as bombs do`
      }
      const plain = path.normalize('NFC').toLowerCase()
      const other = seen.get(plain)
      seen.set(plain, path)
      return other === undefined
        ? undefined
        : other === path
          ? `${path} is in it twice`
          : `${path} and ${other} differ in case only`
    },
  }
}

/** @returns what is wrong with a path within a package, or undefined */
function pathFault(path: string, depthMax: number): string | undefined {
  const shown = JSON.stringify(path)
  const parts = path.replace(/\/$/, '').split('/')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return `${shown} holds a backslash or a control character`
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return `${shown} is an absolute path`
  if (parts.includes('..')) return `${shown} leads out of the package`
  if (parts.some(part => part === '' || part === '.')) return `${shown} is no plain path`
  return parts.length - 1 > depthMax ? `${shown} lies more than ${depthMax} folders deep` : undefined
}

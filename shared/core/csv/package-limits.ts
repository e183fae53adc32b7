/** Limits of an archive or an upload, checked before the first byte is written. */

export type PackageLimits = {
  /** Files and folders. */
  entriesMax: number
  /** Total size when unpacked, bytes. */
  expandedMax: number
  /** Unpacked bytes for each packed one. */
  ratioMax: number
  /** Maximum number of folders above a file. */
  depthMax: number
}

export const PACKAGE_LIMITS: PackageLimits = {
  entriesMax: 2000,
  expandedMax: 512 * 1024 * 1024,
  ratioMax: 100,
  depthMax: 8,
}

/** Smaller entries are harmless, and one repeated value compresses beyond any ratio. */
const SMALL_BYTES = 1024 * 1024

type EntryHead = { path: string; bytes: number; packed: number; isLink: boolean; isEncrypted: boolean }

/** Checks the entries of one package in their order. */
export function createEntryCheck(limits: PackageLimits) {
  const seen = new Map<string, string>()
  let [entries, expanded] = [0, 0]
  return {
    /** @returns the error of the entry, with its name; undefined when it may be unpacked */
    fault(entry: EntryHead): string | undefined {
      const { path, bytes, packed } = entry
      entries++
      expanded += bytes
      if (entries > limits.entriesMax) return `the package has more than ${limits.entriesMax} entries`
      const wrong = pathFault(path, limits.depthMax)
      if (wrong) return wrong
      if (entry.isLink) return `${path} is a link; a package may contain only plain files`
      if (entry.isEncrypted) return `${path} is encrypted`
      if (expanded > limits.expandedMax) return `${path} makes the package larger than ${limits.expandedMax} bytes when unpacked`
      if (bytes > SMALL_BYTES && bytes > limits.ratioMax * packed) {
        return `${path} unpacks to more than ${limits.ratioMax} times its size`
      }
      const plain = path.normalize('NFC').toLowerCase()
      const other = seen.get(plain)
      seen.set(plain, path)
      return other === undefined
        ? undefined
        : other === path
          ? `${path} occurs twice`
          : `${path} and ${other} differ only in case`
    },
  }
}

/** @returns the error of a path within a package, or undefined */
function pathFault(path: string, depthMax: number): string | undefined {
  const shown = JSON.stringify(path)
  const parts = path.replace(/\/$/, '').split('/')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return `${shown} contains a backslash or a control character`
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return `${shown} is an absolute path`
  if (parts.includes('..')) return `${shown} leaves the package`
  if (parts.some(part => part === '' || part === '.')) return `${shown} is not a plain path`
  return parts.length - 1 > depthMax ? `${shown} is more than ${depthMax} folders deep` : undefined
}

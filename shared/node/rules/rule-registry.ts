/**
 * The rules of this process for all pages and routes. A request compares the times and sizes of the rule files; they are
 * read again only after a change.
 */
import { type RuleStamp, stampRules } from './rule-files.ts'
import { openTurns } from '#shared/node/turns.ts'

/** A file that changed within this time may change again with the same timestamp, ms: two ticks of any kernel. */
const TICK_MS = 20

type RuleRegistry<T> = {
  /**
   * The rules in the folders at the moment of the call. Calls that find the same files share one reading.
   *
   * @throws the error of `read`; the next call reads again
   */
  current(): Promise<T>
  /** How often the files were read. */
  reads(): number
}

type RuleRegistryOptions<T> = {
  /** Folders in rising precedence. */
  dirs: () => string[]
  /** Reads and parses the files, outside of this thread. */
  read: (dirs: string[]) => Promise<T>
}

type Entry<T> = { stamp: RuleStamp; rules: Promise<T>; isPending: boolean; isFinal: boolean }

/** @param read returns `isProvisional` when the same files may soon give another result: they are read again then */
export function openRuleRegistry<T extends { isProvisional: boolean }>({ dirs, read }: RuleRegistryOptions<T>): RuleRegistry<T> {
  const turn = openTurns()
  let entry: Entry<T> | undefined
  let count = 0

  const start = (folders: string[], stamp: RuleStamp, takenAt: number): Entry<T> => {
    count++
    const next: Entry<T> = { stamp, rules: read(folders), isPending: true, isFinal: false }
    next.rules
      .then(({ isProvisional }) => {
        next.isFinal = !isProvisional && Math.abs(takenAt - stamp.changedAt) > TICK_MS
      })
      .catch(() => undefined) // Each caller gets this error.
      .finally(() => (next.isPending = false))
    return next
  }

  return {
    async current() {
      await turn()
      const folders = dirs()
      // The time is read before the stamp: after a change in between the stamp is too new rather than too old.
      const takenAt = Date.now()
      const stamp = stampRules(folders)
      const isSame = entry?.stamp.text === stamp.text
      if (!entry || !isSame || !(entry.isPending || entry.isFinal)) entry = start(folders, stamp, takenAt)
      const { rules, isPending } = entry
      if (!isPending) return rules
      await rules
      await turn()
      return rules
    },
    reads: () => count,
  }
}

import { MINUTE, SECOND } from '#shared/core/time.ts'

/** Failures that one address may make for one user name within the window. */
const FAILURES_MAX = 8
const WINDOW_MS = 15 * MINUTE
/** Most pairs kept; beyond it the oldest is forgotten, so that a flood of names cannot fill the memory. */
const PAIRS_MAX = 10_000

export type Throttle = {
  /** @returns seconds to wait, or 0 when a try is allowed */
  waitSecs(key: string): number
  failed(key: string): void
  succeeded(key: string): void
}

/** Counts failed logins by key. @param now the wall clock, ms */
export function openThrottle(now: () => number): Throttle {
  const failures = new Map<string, number[]>()
  const recent = (key: string) => (failures.get(key) ?? []).filter(at => at > now() - WINDOW_MS)
  return {
    waitSecs(key) {
      const times = recent(key)
      return times.length < FAILURES_MAX ? 0 : Math.max(1, Math.ceil((times[0]! + WINDOW_MS - now()) / SECOND))
    },
    failed(key) {
      const times = [...recent(key), now()]
      failures.delete(key)
      failures.set(key, times)
      if (failures.size > PAIRS_MAX) failures.delete(failures.keys().next().value!)
    },
    succeeded: key => void failures.delete(key),
  }
}

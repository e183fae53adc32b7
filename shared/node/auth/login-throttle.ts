import { ThrottledProblem } from '#shared/core/problem.ts'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'

const NEAR_MS = 15 * MINUTE
const FAR_MS = HOUR
/** Failures within `NEAR_MS` from one network for one name, and from one network for all names: an office behind one address fits. */
const NEAR = { pair: 8, network: 32 }
/**
 * Failures within `FAR_MS` for one name and for all names together. Up to `calm` only the bounds above count. From there on every
 * network has one failure an hour, so a person who knows the password still gets in, and each guess costs an attacker
 * another network. At `most` nobody is let try who has not signed in from the same network before.
 */
const FAR = { user: { calm: 100, most: 500 }, all: { calm: 300, most: 1000 } }

/** One try: from which network, and for which user name or secret. */
type Try = { network: string; name: string }
/** The networks from which each user has signed in. */
export type KnownNetworks = { has(one: Try): boolean; add(one: Try): void }

export type Throttle = {
  /** @returns seconds to wait, or 0 when a try is allowed */
  waitSecs(one: Try): number
  /**
   * Counts a failure.
   *
   * @param print of what was tried: a repeated value is no new guess and does not count
   * @returns whether it counts
   */
  failed(one: Try, print?: string): boolean
  /** Removes the failures of this network for this name, and records the network as known. */
  succeeded(one: Try): void
}

type Failure = { at: number; print: string | undefined }

/**
 * Bounds guesses at passwords and secrets.
 *
 * A failure is removed only when its window is over, never to make room. Memory is bounded by the bounds themselves: a
 * try that is refused is not checked and not counted, so no more than `FAR.all.most` failures an hour are ever stored, and
 * those from known networks within `NEAR`.
 *
 * @param now the wall clock, ms
 */
export function openThrottle(now: () => number, known: KnownNetworks = rememberNetworks()): Throttle {
  const pairs = openFailures(now)
  const networks = openFailures(now)
  const names = openFailures(now)
  const all = openFailures(now)

  const nearWait = ({ network, name }: Try) =>
    Math.max(pairs.wait(pairKey({ network, name }), NEAR.pair, NEAR_MS), networks.wait(network, NEAR.network, NEAR_MS))

  const farWait = (one: Try) => {
    if (known.has(one)) return 0
    const wait = (bound: 'calm' | 'most') =>
      Math.max(names.wait(one.name, FAR.user[bound], FAR_MS), all.wait('', FAR.all[bound], FAR_MS))
    return Math.max(wait('most'), Math.min(wait('calm'), networks.wait(one.network, 1, FAR_MS)))
  }

  return {
    waitSecs(one) {
      const wait = Math.max(nearWait(one), farWait(one))
      return wait > 0 ? Math.max(1, Math.ceil(wait / SECOND)) : 0
    },
    failed(one, print) {
      if (print !== undefined && pairs.has(pairKey(one), print)) return false
      pairs.add(pairKey(one), print)
      networks.add(one.network)
      names.add(one.name)
      all.add('')
      return true
    },
    succeeded(one) {
      pairs.forget(pairKey(one))
      known.add(one)
    },
  }
}

const pairKey = ({ network, name }: Try) => JSON.stringify([network, name])

/** Failures of the last hour by key. */
function openFailures(now: () => number) {
  const byKey = new Map<string, Failure[]>()
  const recent = (key: string, windowMs = FAR_MS) => {
    const failures = byKey.get(key) ?? []
    // A wall clock that was set back would otherwise delay people until it has caught up.
    for (const failure of failures) failure.at = Math.min(failure.at, now())
    return failures.filter(({ at }) => at > now() - windowMs)
  }
  /** Keys stand in the order of their last failure, so those that are over come first. */
  const sweep = () => {
    for (const [key, failures] of byKey) {
      if (failures.at(-1)!.at > now() - FAR_MS) return
      byKey.delete(key)
    }
  }
  return {
    /** @returns ms until fewer than `bound` failures lie within the window, or 0 */
    wait(key: string, bound: number, windowMs: number): number {
      const failures = recent(key, windowMs)
      return failures.length < bound ? 0 : failures[failures.length - bound]!.at + windowMs - now()
    },
    has: (key: string, print: string) => recent(key).some(failure => failure.print === print),
    add(key: string, print?: string) {
      const failures = [...recent(key), { at: now(), print }]
      byKey.delete(key)
      byKey.set(key, failures)
      sweep()
    },
    forget: (key: string) => void byKey.delete(key),
  }
}

/** Networks that are remembered for each name; the one that was used longest ago makes room. */
export const NETWORKS_MAX = 64

/** Known networks of a process without a store. */
export function rememberNetworks(): KnownNetworks {
  const byName = new Map<string, Set<string>>()
  return {
    has: ({ network, name }) => byName.get(name)?.has(network) ?? false,
    add({ network, name }) {
      const networks = byName.get(name) ?? new Set<string>()
      byName.set(name, networks)
      networks.delete(network)
      networks.add(network)
      if (networks.size > NETWORKS_MAX) networks.delete(networks.values().next().value!)
    },
  }
}

/** Too many failures; the answer carries `Retry-After`. */
export class LoginThrottled extends ThrottledProblem {
  constructor(retryAfterSecs: number) {
    super('login_throttled', `Too many wrong passwords or tokens; try again in ${retryAfterSecs} s`, retryAfterSecs)
  }
}

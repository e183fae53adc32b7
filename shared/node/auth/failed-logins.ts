/** Wrong passwords, keys and tokens: the remaining attempts, and the report of each. */
import type { FastifyRequest } from 'fastify'
import { networkOf } from '#shared/core/auth/network.ts'
import type { RefusedLogin } from './refused-logins.ts'
import { type KnownNetworks, LoginThrottled, openThrottle } from './login-throttle.ts'

/** Guesses at passwords. */
export type PasswordGuesses = {
  /** @throws LoginThrottled while this network may not try this user */
  assertLogin(name: string, address: string): void
  wrongPassword(name: string, address: string): void
  rightPassword(name: string, address: string): void
  /** The name under which guesses at a user that does not exist are counted: a hash, for a person may have typed a password there. */
  unknownName(typed: string): string
}

type Guesses = PasswordGuesses & {
  /** @returns whether a secret that a person may have chosen is compared at all now */
  maySecret(request: FastifyRequest, name: string): boolean
  /** @returns the problem of one wrong value too many; a value that came before is no new guess */
  wrongSecret(request: FastifyRequest, name: string, value: string): LoginThrottled | undefined
  rightSecret(request: FastifyRequest, name: string): void
}

type GuessOptions = {
  /** The wall clock, ms. */
  now: () => number
  networks?: KnownNetworks | undefined
  onRefused?: ((refused: RefusedLogin) => void) | undefined
  /** A short keyed hash, so that no secret is stored. */
  print: (value: string) => string
}

/** Name in logs and audit of a user that does not exist. */
const UNKNOWN_NAME = 'unknown user'
/** Begins the names under which unknown users are counted; no user name holds it. */
const UNKNOWN_MARK = '?'

export function openGuesses({ now, networks, onRefused, print }: GuessOptions): Guesses {
  const logins = openThrottle(now, networks)
  // Apart from logins: invalid tokens do not block sign-ins.
  const secrets = openThrottle(now)
  const tryOf = (name: string, address: string | undefined) => ({ network: networkOf(address), name })
  const tell = (name: string, address: string, throttled: boolean) =>
    onRefused?.({ user: name.startsWith(UNKNOWN_MARK) ? UNKNOWN_NAME : name, address, network: networkOf(address), throttled })
  return {
    unknownName: typed => `${UNKNOWN_MARK}${print(typed)}`,
    assertLogin(name, address) {
      const wait = logins.waitSecs(tryOf(name, address))
      if (wait === 0) return
      tell(name, address, true)
      throw new LoginThrottled(wait)
    },
    wrongPassword(name, address) {
      logins.failed(tryOf(name, address))
      tell(name, address, false)
    },
    rightPassword: (name, address) => logins.succeeded(tryOf(name, address)),
    maySecret: ({ ip }, name) => secrets.waitSecs(tryOf(name, ip)) === 0,
    wrongSecret({ ip }, name, value) {
      const one = tryOf(name, ip)
      const wait = secrets.waitSecs(one)
      const isNew = wait > 0 || secrets.failed(one, print(value))
      if (isNew) tell(name, ip, wait > 0)
      return wait > 0 ? new LoginThrottled(wait) : undefined
    },
    rightSecret: ({ ip }, name) => secrets.succeeded(tryOf(name, ip)),
  }
}

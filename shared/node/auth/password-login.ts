/** Compares user name and password, of the logins of the settings and of named users. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { BUILT_IN_LOGINS, type BuiltInLogin, isBuiltIn, type StoredUser } from '#shared/core/auth/users.ts'
import { Problem } from '#shared/core/problem.ts'
import type { UserStore } from '#shared/core/stores.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { TokenHolder } from './access-token.ts'
import type { AuthSettings } from './auth-settings.ts'
import type { PasswordGuesses } from './failed-logins.ts'
import { verifyPassword } from './password-hash.ts'

type LoginOptions = {
  passwords: AuthSettings['passwords']
  /** Undefined in a process without named users. */
  users: UserStore | undefined
  guesses: PasswordGuesses
  /** The count of a user's tokens, which a new one carries. */
  epochOf: (username: string) => number
  /** The wall clock, ms. */
  now: () => number
}

/** The person who signs in. `epoch` is that of the check: an end of the user's tokens after it ends this one too. */
type SignedIn = { holder: TokenHolder; epoch: number }

/**
 * @returns a function that returns the user who signs in; its promise rejects with Problem unauthenticated, in the same words for an unknown
 *   user, a wrong password, a locked user and a first password that has expired, or with LoginThrottled
 */
export function passwordLogin({ passwords, users, guesses, epochOf, now }: LoginOptions) {
  const inTurn = createSerialQueue()

  const builtInLogin = (username: BuiltInLogin, password: string, address: string): SignedIn => {
    guesses.assertLogin(username, address)
    const wanted = passwords[username]
    // A login without a password takes the same comparison, and is never right.
    const isRight = sameText(password, wanted ?? '') && wanted !== undefined
    if (!isRight) throw refuse(guesses, username, address)
    guesses.rightPassword(username, address)
    return { holder: { subject: username, role: BUILT_IN_LOGINS[username] }, epoch: epochOf(username) }
  }

  const namedLogin = async (store: UserStore, username: string, password: string, address: string): Promise<SignedIn> => {
    const before = store.get(username)
    // Failures are counted for each name that is tried, so that the throttle does not reveal which of them exist.
    const name = before ? username : guesses.unknownName(username)
    guesses.assertLogin(name, address)
    const isRight = await verifyPassword(password, before?.password_hash)
    const user = store.get(username)
    if (!isRight || !user || !maySignIn(user, now()) || user.password_hash !== before?.password_hash) {
      throw refuse(guesses, name, address)
    }
    guesses.rightPassword(name, address)
    const { role, must_change_password } = user
    return {
      holder: { subject: username, role, ...(must_change_password && { must_change_password }) },
      epoch: epochOf(username),
    }
  }

  return async (given: string, password: string, address: string): Promise<SignedIn> => {
    const username = given.trim().toLowerCase()
    if (isBuiltIn(username)) return builtInLogin(username, password, address)
    if (!users) {
      const name = guesses.unknownName(username)
      guesses.assertLogin(name, address)
      throw refuse(guesses, name, address)
    }
    // One at a time: each sees the failures of those before it, and only one needs the memory of a hash.
    return inTurn(() => namedLogin(users, username, password, address))
  }
}

/** Locked users cannot sign in, nor can those whose first password has expired. */
const maySignIn = ({ locked_at, password_expires_at }: StoredUser, now: number): boolean =>
  locked_at === null && (password_expires_at === null || now < password_expires_at)

function refuse(guesses: PasswordGuesses, name: string, address: string): Problem {
  guesses.wrongPassword(name, address)
  return new Problem('unauthenticated', 'User name or password is wrong')
}

/** @returns whether two texts are the same, in a time that does not depend on where they differ */
export const sameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const digest = (text: string) => createHash('sha256').update(text).digest()

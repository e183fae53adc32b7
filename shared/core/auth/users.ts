/** Named users: their roles, what a user name may be, and which passwords are taken. */

export const USER_ROLES = ['viewer', 'operator', 'admin'] as const
export type UserRole = (typeof USER_ROLES)[number]

/** The three logins whose passwords the settings hold, with their roles. */
export const BUILT_IN_LOGINS = { admin: 'admin', agent: 'operator', viewer: 'viewer' } as const satisfies Record<string, UserRole>
export type BuiltInLogin = keyof typeof BUILT_IN_LOGINS

/** @returns whether the settings hold the password of this login */
export const isBuiltIn = (username: string): username is BuiltInLogin => Object.hasOwn(BUILT_IN_LOGINS, username)

/** Names that the audit uses for callers who are no person. */
const RESERVED = new Set([...Object.keys(BUILT_IN_LOGINS), 'api-key', 'edge', 'hub', 'local', 'nobody', 'open', 'system'])
/** Lower case, so that no two names differ in case alone. An e-mail address fits. */
export const USERNAME_PATTERN = '^[a-z0-9][a-z0-9._@-]{0,63}$'

/** @returns why nobody may be added under this name; undefined when the name may be used */
export const refuseUsername = (username: string): string | undefined =>
  RESERVED.has(username) ? `${username} is a name of the program itself; choose another user name` : undefined

/** Characters; NIST SP 800-63B 5.1.1.2 asks for 8 and against rules on which characters are used. */
const PASSWORD_MIN = 12
/** Longer ones would only cost time to hash. */
const PASSWORD_MAX = 200
/** Text of a form on a new password. */
export const PASSWORD_RULE = `${PASSWORD_MIN} to ${PASSWORD_MAX} characters of any kind, and not the user name`

/** @returns why this password is not taken; undefined when it may be used. The text never contains the password. */
export function refusePassword(password: string, username: string): string | undefined {
  const length = [...password].length
  if (length < PASSWORD_MIN || length > PASSWORD_MAX)
    return `The new password has ${length} characters; it takes ${PASSWORD_RULE}`
  return password.trim().toLowerCase() === username ? 'The new password is the user name' : undefined
}

/** A user as it is stored. Times are ms since 1970 UTC. */
export type StoredUser = {
  username: string
  /** The person's name as pages show it; may be empty. */
  name: string
  role: UserRole
  /** With its parameters, `shared/node/auth/password-hash.ts`. */
  password_hash: string
  /** The password is the one-time first one: it opens nothing but the choice of another, until `password_expires_at`. */
  must_change_password: boolean
  password_expires_at: number | null
  locked_at: number | null
  last_login_at: number | null
  created_by: string
  created_at: number
}

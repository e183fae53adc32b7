/** Commands on named users, which the pages and the API both call. What ends a user's right to be here ends the tokens first. */
import { say } from '#shared/node/http/language.ts'
import { Type } from '@sinclair/typebox'
import {
  isBuiltIn,
  refusePassword,
  refuseUsername,
  type StoredUser,
  USER_ROLES,
  USERNAME_PATTERN,
} from '#shared/core/auth/users.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import type { LoginSession } from '#shared/node/auth/access-token.ts'
import { hashPassword, randomPassword } from '#shared/node/auth/password-hash.ts'
import { type Call, oneOf } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, assertPerson, invalidField } from './command.ts'

/** Named users of one process: the list is one page of a browser, and every name is a row of the throttle. */
const USERS_MAX = 1000
/** How long a first password opens the choice of another; an admin can make a new one. */
const FIRST_PASSWORD_DAYS = 7

const USERNAME = Type.String({ pattern: USERNAME_PATTERN })
export const USER_ROLE = oneOf(USER_ROLES)
/** A person's name as pages show it. */
export const PERSON_NAME = Type.String({ maxLength: 100 })
/** Longest password that a login accepts; the policy for new ones is stricter. */
export const PASSWORD = Type.String({ maxLength: 1024 })
/** The fields of a new user. */
export const NEW_USER = { username: USERNAME, name: Type.Optional(PERSON_NAME), role: USER_ROLE }
/** The fields of a user that an admin changes. */
export const USER_CHANGE = {
  name: Type.Optional(PERSON_NAME),
  role: Type.Optional(USER_ROLE),
  locked: Type.Optional(Type.Boolean()),
}
type UserChange = { name?: string; role?: StoredUser['role']; locked?: boolean }

type UserContext = Pick<CentralContext, 'users' | 'auth'>
/** A user as pages, the API and the audit show it: without the password's hash. */
export type ShownUser = Omit<StoredUser, 'password_hash'>
/** `first_password` is shown once and stored nowhere. */
export type UserWithPassword = { user: ShownUser; first_password: string }

export const shownUser = ({ password_hash: _hash, ...user }: StoredUser): ShownUser => user

/** @throws Problem unknown_user */
export function needUser({ users }: Pick<UserContext, 'users'>, username: string): StoredUser {
  const user = users.get(username)
  if (!user) throw new Problem('unknown_user', `There is no user ${username}`)
  return user
}

/** @throws Problem invalid for a name of the program, conflict for one that is taken or beyond `USERS_MAX` */
export async function addUser(
  { users, auth }: UserContext,
  { caller, audit }: Actor,
  { username, name = '', role }: { username: string; name?: string; role: StoredUser['role'] },
): Promise<UserWithPassword> {
  assertPerson({ caller })
  const reserved = refuseUsername(username)
  if (reserved !== undefined) throw invalidField('username', reserved)
  const first = await firstPassword(auth.now())
  if (users.get(username)) throw new Problem('conflict', `There is a user ${username} already`)
  if (users.list().length >= USERS_MAX) throw new Problem('conflict', `There are ${USERS_MAX} users; delete one first`)
  const given = { username, name: name.trim(), role, locked_at: null, last_login_at: null }
  const user: StoredUser = { ...given, ...first.fields, created_by: caller!.subject, created_at: auth.now() }
  users.put(user)
  audit({ subject: username, after: shownUser(user) })
  return { user: shownUser(user), first_password: first.password }
}

/**
 * Changes name or role, locks or unlocks. Another role or a lock ends the user's tokens at once.
 *
 * @throws Problem unknown_user, or conflict where admins would take their own role or lock themselves out
 */
export function changeUser(
  { users, auth }: UserContext,
  { caller, audit }: Actor,
  username: string,
  { name, role, locked }: UserChange,
): ShownUser {
  assertPerson({ caller })
  const before = needUser({ users }, username)
  const isLocked = before.locked_at !== null
  const after: StoredUser = {
    ...before,
    ...(name !== undefined && { name: name.trim() }),
    ...(role !== undefined && { role }),
    ...(locked !== undefined && locked !== isLocked && { locked_at: locked ? auth.now() : null }),
  }
  const isEnding = after.role !== before.role || (after.locked_at !== null && !isLocked)
  if (isEnding) assertMayChange({ users }, caller, username)
  if (isEnding) auth.logoutEverywhere(username)
  users.put(after)
  audit({ subject: username, before: shownUser(before), after: shownUser(after) })
  return shownUser(after)
}

/** Gives a user another first password and ends the tokens. @throws Problem unknown_user, or conflict for the caller's own */
export async function resetPassword(context: UserContext, { caller, audit }: Actor, username: string): Promise<UserWithPassword> {
  assertPerson({ caller })
  const first = await firstPassword(context.auth.now())
  assertMayChange(context, caller, username)
  const before = needUser(context, username)
  const after = { ...before, ...first.fields }
  context.auth.logoutEverywhere(username)
  context.users.put(after)
  audit({ subject: username, before: shownUser(before), after: shownUser(after) })
  return { user: shownUser(after), first_password: first.password }
}

/** @throws Problem unknown_user, or conflict for the caller's own */
export function removeUser(
  { users, preferences, auth, tenants }: UserContext & Pick<CentralContext, 'preferences' | 'tenants'>,
  { caller, audit }: Actor,
  username: string,
): void {
  assertPerson({ caller })
  assertMayChange({ users }, caller, username)
  const before = needUser({ users }, username)
  auth.logoutEverywhere(username)
  // Otherwise the next user of this name would enter the same tenants.
  for (const tenant_id of tenants.tenantsOf(username)) tenants.removeMember(tenant_id, username)
  preferences.remove(username)
  users.remove(username)
  audit({ subject: username, before: shownUser(before) })
}

/** The fields of a form or a request that changes the caller's own password. */
export const PASSWORD_CHANGE = { password: PASSWORD, new_password: PASSWORD }

/**
 * Sets the caller's own password and ends all of the caller's tokens.
 *
 * @returns a new session in their place
 * @throws Problem invalid for a password that is not taken or a login of the settings; unauthenticated or LoginThrottled where
 *   the present password is wrong
 */
export async function changePassword(
  { users, auth }: UserContext,
  { caller, audit, request }: Actor & Pick<Call<unknown, unknown, unknown>, 'request'>,
  { password, new_password }: { password: string; new_password: string },
): Promise<LoginSession> {
  const username = caller!.subject
  const known = users.get(username)
  if (!known) throw invalidField('password', whyNoPassword(username))
  const refused = refusePassword(new_password, username)
  if (refused !== undefined) throw invalidField('new_password', refused)
  await auth.confirmPassword(username, password, request.ip)
  if (password === new_password) throw invalidField('new_password', 'The new password is the present one')
  const password_hash = await hashPassword(new_password)
  const before = users.get(username)
  // While the hash was made an admin may have locked or deleted the user, or reset the password.
  if (before?.password_hash !== known.password_hash || before.locked_at !== null)
    throw new Problem('unauthenticated', 'The user was changed meanwhile: sign in again')
  const after: StoredUser = { ...before, password_hash, must_change_password: false, password_expires_at: null }
  auth.logoutEverywhere(username)
  users.put(after)
  audit({ subject: username, before: shownUser(before), after: shownUser(after) })
  return auth.sessionFor({ subject: username, role: after.role })
}

/** Why a caller has no password to change here. */
export const whyNoPassword = (username: string): string =>
  isBuiltIn(username)
    ? say`The password of ${username} is the setting SERVICE_${username.toUpperCase()}_PASSWORD`
    : say`${username} has no password`

async function firstPassword(now: number) {
  const password = randomPassword()
  const password_expires_at = now + FIRST_PASSWORD_DAYS * DAY
  return { password, fields: { password_hash: await hashPassword(password), must_change_password: true, password_expires_at } }
}

/**
 * Nobody takes away their own access by mistake, and of two admins who lock each other at once one stays: the last admin could not be
 * let in again.
 *
 * @throws Problem conflict for the caller's own user, unauthenticated for a caller who is no admin any more
 */
function assertMayChange({ users }: Pick<UserContext, 'users'>, caller: Actor['caller'], username: string): void {
  const { subject, via } = caller!
  if (subject === username) throw new Problem('conflict', 'Ask another admin to change, lock or delete your own user')
  if (via === 'open' || isBuiltIn(subject)) return
  const own = users.get(subject)
  if (own?.role !== 'admin' || own.locked_at !== null)
    throw new Problem('unauthenticated', 'Your user was changed meanwhile: sign in again')
}

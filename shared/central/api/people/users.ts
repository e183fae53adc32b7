/** Named users: an admin adds, changes, locks and deletes them. */
import { Type } from '@sinclair/typebox'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, route, type Route, strict } from '#shared/node/http/route.ts'
import {
  addUser,
  changeUser,
  needUser,
  NEW_USER,
  PERSON_NAME,
  removeUser,
  resetPassword,
  type ShownUser,
  shownUser,
  USER_CHANGE,
  USER_ROLE,
  type UserWithPassword,
} from '#shared/central/commands/users.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { SECRET_ANSWER } from '#shared/central/api/auth.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'

const INSTANT = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])
const UserReply = Type.Object({
  username: Type.String(),
  name: PERSON_NAME,
  role: USER_ROLE,
  locked: Type.Boolean(),
  must_change_password: Type.Boolean(),
  password_expires_at: INSTANT,
  locked_at: INSTANT,
  last_login_at: INSTANT,
  created_by: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})
const OneUser = Type.Object({ ok: Type.Literal(true), user: UserReply })
/** `first_password` is in this answer alone. */
const UserAndPassword = Type.Object({ ok: Type.Literal(true), user: UserReply, first_password: Type.String() })
/** Any text, so that a name that cannot be one is answered with 404. */
const PARAMS = strict({ username: Type.String({ maxLength: 128 }) })
const BASE = '/api/users'
const ONE = `${BASE}/:username`

type Context = Pick<CentralContext, 'users' | 'preferences' | 'auth' | 'tenants'>

export const userRoutes = (context: Context): Route[] => [...listRoutes(context), ...changeRoutes(context)]

const listRoutes = ({ users }: Context): Route[] => [
  route({
    method: 'GET',
    path: BASE,
    auth: 'admin',
    summary: 'Named users, by user name',
    query: strict(PAGE),
    reply: Type.Object({ ok: Type.Literal(true), users: Type.Array(UserReply), next_cursor: Type.Optional(Type.String()) }),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { items, ...next } = cutPage(users.list(), query, ({ username }) => username)
      return { ok: true, users: items.map(user => replyOf(shownUser(user))), ...next }
    },
  }),
  route({
    method: 'GET',
    path: ONE,
    auth: 'admin',
    summary: 'One user',
    params: PARAMS,
    reply: OneUser,
    problems: ['unknown_user'],
    handle: ({ params }) => ({ ok: true, user: replyOf(shownUser(needUser({ users }, params.username))) }),
  }),
]

const changeRoutes = (context: Context): Route[] => [
  route({
    method: 'POST',
    path: BASE,
    auth: 'admin',
    summary: 'Adds a user with a one-time first password',
    body: strict(NEW_USER),
    reply: UserAndPassword,
    action: 'add_user',
    problems: ['invalid', 'conflict'],
    handle: async call => {
      call.reply.header('cache-control', SECRET_ANSWER)
      return withPassword(await addUser(context, call, call.body))
    },
  }),
  route({
    method: 'PATCH',
    path: ONE,
    auth: 'admin',
    summary: 'Changes the name or role of a user, locks or unlocks; another role or a lock ends the tokens',
    params: PARAMS,
    body: strict(USER_CHANGE),
    reply: OneUser,
    action: 'change_user',
    problems: ['unknown_user', 'conflict'],
    handle: call => ({ ok: true, user: replyOf(changeUser(context, call, call.params.username, call.body)) }),
  }),
  route({
    method: 'POST',
    path: `${ONE}/reset-password`,
    auth: 'admin',
    summary: 'Gives a user another one-time first password and ends the tokens',
    params: PARAMS,
    body: Type.Union([strict({}), Type.Null()]),
    reply: UserAndPassword,
    action: 'reset_password',
    problems: ['unknown_user', 'conflict'],
    handle: async call => {
      call.reply.header('cache-control', SECRET_ANSWER)
      return withPassword(await resetPassword(context, call, call.params.username))
    },
  }),
  route({
    method: 'DELETE',
    path: ONE,
    auth: 'admin',
    summary: 'Deletes a user and ends the tokens; rows of the audit log stay',
    params: PARAMS,
    reply: DONE_ANSWER,
    action: 'delete_user',
    problems: ['unknown_user', 'conflict'],
    handle: call => {
      removeUser(context, call, call.params.username)
      return { ok: true }
    },
  }),
]

const withPassword = ({ user, first_password }: UserWithPassword) => ({ ok: true, user: replyOf(user), first_password })

const replyOf = ({ locked_at, last_login_at, password_expires_at, created_at, ...user }: ShownUser) => ({
  ...user,
  locked: locked_at !== null,
  locked_at: instantOf(locked_at),
  last_login_at: instantOf(last_login_at),
  password_expires_at: instantOf(password_expires_at),
  created_at: formatInstant(created_at),
})
const instantOf = (at: number | null) => (at === null ? null : formatInstant(at))

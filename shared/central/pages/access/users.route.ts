/** The page of people and tokens, and its forms. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { isHubAdmin } from '#shared/core/tenant.ts'
import { ofHub, orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import { SECRET_ANSWER } from '#shared/central/api/auth.ts'
import { addToken, NEW_TOKEN, revokeToken, shownToken, TOKEN_SCOPE } from '#shared/central/commands/api-tokens.ts'
import {
  addUser,
  changeUser,
  NEW_USER,
  PERSON_NAME,
  removeUser,
  resetPassword,
  shownUser,
  USER_CHANGE,
} from '#shared/central/commands/users.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { secretBody, usersBody } from './users.view.ts'
import { words } from '#shared/node/http/language.ts'

type Context = Pick<CentralContext, 'users' | 'preferences' | 'apiTokens' | 'auth' | 'model' | 'tenants'>
const AT = words({ title: 'Users', current: '/users' }, 'title')
const USERNAME = strict({ username: NEW_USER.username })

export const usersPage = (context: Context, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/users',
    auth: 'admin',
    summary: 'The page of people and tokens',
    handle: call => {
      const { users, apiTokens, model } = context
      const shown = {
        users: isHubAdmin(call.caller!) ? users.list().map(shownUser) : undefined,
        tokens: apiTokens.list().map(shownToken),
        buildings: model.buildings(),
        caller: call.caller!.subject,
        here: layout.here(),
        csrf: layout.csrfOf(call.caller),
      }
      return layout.document(call, AT, usersBody(shown))
    },
  }),
  ...ofHub([...passwordForms(context, layout), ...changeForms(context)]),
  ...tokenForms(context, layout),
]

/** Forms whose answer shows a first password. */
const passwordForms = (context: Context, layout: PageLayout): Route[] => [
  route({
    method: 'POST',
    path: '/users',
    auth: 'admin',
    summary: 'The form that adds a person and shows the first password once',
    takes: 'form',
    body: strict({ ...NEW_USER, name: PERSON_NAME }),
    action: 'add_user',
    problems: ['invalid', 'conflict'],
    handle: async call => {
      const { user, first_password } = await addUser(context, call, call.body)
      call.reply.header('cache-control', SECRET_ANSWER)
      return layout.document(call, AT, secretBody({ of: 'user', name: user.username, secret: first_password }))
    },
  }),
  route({
    method: 'POST',
    path: '/users/reset-password',
    auth: 'admin',
    summary: 'The form that gives a person another first password',
    takes: 'form',
    body: USERNAME,
    action: 'reset_password',
    problems: ['unknown_user', 'conflict'],
    handle: async call => {
      const { user, first_password } = await resetPassword(context, call, call.body.username)
      call.reply.header('cache-control', SECRET_ANSWER)
      return layout.document(call, AT, secretBody({ of: 'user', name: user.username, secret: first_password }))
    },
  }),
]

const changeForms = (context: Context): Route[] => [
  route({
    method: 'POST',
    path: '/users/change',
    auth: 'admin',
    summary: 'The form that changes the role of a person, locks or unlocks',
    takes: 'form',
    body: strict({ username: NEW_USER.username, role: USER_CHANGE.role, locked: USER_CHANGE.locked }),
    action: 'change_user',
    problems: ['unknown_user', 'conflict'],
    handle: call => {
      const { username, role, locked } = call.body
      changeUser(context, call, username, { ...(role && { role }), ...(locked !== undefined && { locked }) })
      return call.reply.redirect('/users', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/users/remove',
    auth: 'admin',
    summary: 'The form that deletes a person',
    takes: 'form',
    body: USERNAME,
    action: 'delete_user',
    problems: ['unknown_user', 'conflict'],
    handle: call => {
      removeUser(context, call, call.body.username)
      return call.reply.redirect('/users', 303)
    },
  }),
]

const tokenForms = (context: Context, layout: PageLayout): Route[] => [
  route({
    method: 'POST',
    path: '/users/tokens',
    auth: 'admin',
    summary: 'The form that adds a token and shows it once',
    takes: 'form',
    body: strict({
      name: NEW_TOKEN.name,
      role: NEW_TOKEN.role,
      scope: TOKEN_SCOPE,
      building_id: orBlank(ID),
      days: NEW_TOKEN.days,
    }),
    action: 'add_token',
    problems: ['conflict', 'unknown_building'],
    handle: call => {
      const { building_id, ...given } = call.body
      const { token, secret } = addToken(context, call, { ...given, ...(building_id !== '' && { building_id }) })
      call.reply.header('cache-control', SECRET_ANSWER)
      return layout.document(call, AT, secretBody({ of: 'token', name: token.name, secret }))
    },
  }),
  route({
    method: 'POST',
    path: '/users/tokens/revoke',
    auth: 'admin',
    summary: 'The form that revokes a token',
    takes: 'form',
    body: strict({ token_id: Type.String({ maxLength: 128 }) }),
    action: 'revoke_token',
    problems: ['unknown_token'],
    handle: call => {
      revokeToken(context, call, call.body.token_id)
      return call.reply.redirect('/users#tokens', 303)
    },
  }),
]

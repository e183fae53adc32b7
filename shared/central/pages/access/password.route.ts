/** The page on which people change their own password, also the first one. */
import { Type } from '@sinclair/typebox'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { setSessionCookie } from '#shared/node/auth/session-cookie.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { invalidField } from '#shared/central/commands/command.ts'
import { changePassword, PASSWORD, PASSWORD_CHANGE, whyNoPassword } from '#shared/central/commands/users.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { sendTypedBody } from '#shared/central/pages/login.view.ts'
import { parseTyped, safeNext, TYPED_MAX } from '#shared/central/pages/typed-form.ts'
import { firstPasswordBody, noPasswordBody, passwordBody } from './password.view.ts'
import { words, sayMade } from '#shared/node/http/language.ts'

const NEXT = Type.Optional(Type.String({ maxLength: 2048 }))
const TITLE = words({ title: 'Change password', current: '' }, 'title')

export const passwordPage = (context: Pick<CentralContext, 'auth' | 'users'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/password',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'The page to change the own password',
    query: strict({ next: NEXT }),
    handle: call => {
      const { subject: username, must_change_password } = call.caller!
      if (!context.users.get(username)) return layout.document(call, TITLE, noPasswordBody(whyNoPassword(username)))
      const form = { csrf: layout.csrfOf(call.caller), username, next: safeNext(call.query.next), typed: undefined }
      return layout.document(call, TITLE, must_change_password ? firstPasswordBody(form) : passwordBody(form))
    },
  }),
  route({
    method: 'POST',
    path: '/password',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'The form that changes the own password',
    takes: 'form',
    bodyMax: 4 * TYPED_MAX,
    action: 'change_password',
    problems: ['invalid', 'login_throttled'],
    body: strict({
      ...PASSWORD_CHANGE,
      new_password_again: PASSWORD,
      // The password manager of a browser needs the user name.
      username: Type.Optional(Type.String({ maxLength: 128 })),
      next: NEXT,
      typed: Type.Optional(Type.String({ maxLength: 4 * TYPED_MAX })),
    }),
    handle: async call => {
      const { body, caller, request, reply } = call
      const { password, new_password, new_password_again, typed } = body
      const next = safeNext(body.next)
      try {
        if (new_password !== new_password_again) throw invalidField('new_password_again', 'The two new passwords differ')
        const session = await changePassword(context, call, { password, new_password })
        setSessionCookie(request, reply, session)
        const waits = typed === undefined ? undefined : parseTyped(typed)
        if (!waits) return reply.redirect(next, 303)
        const { must_change_password: _was, ...known } = caller!
        return layout.document(
          { caller: { ...known, ...session }, reply },
          TITLE,
          sendTypedBody(waits, context.auth.formToken(session)),
        )
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        reply.code(PROBLEMS[error.code].status)
        if ('retryAfterSecs' in error) reply.header('retry-after', String(error.retryAfterSecs))
        const form = { csrf: layout.csrfOf(caller), username: caller!.subject, next, typed, error: sayMade(error.message) }
        return layout.document(call, TITLE, caller!.must_change_password ? firstPasswordBody(form) : passwordBody(form))
      }
    },
  }),
]

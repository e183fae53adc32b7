/** Signing in and out, and what a browser sees when a page request fails. */
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '#shared/node/http/html.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { loginBody, problemBody, sendTypedBody, type TypedForm } from './login.view.ts'
import { firstPasswordBody } from '#shared/central/pages/access/password.view.ts'
import { unbroken } from '#shared/node/http/unbroken.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { assertSameSite, clearSessionCookie, setSessionCookie } from '#shared/node/auth/session-cookie.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { safeNext } from '#shared/central/pages/typed-form.ts'
import type { PageLayout } from './layout.ts'
import { formatTyped, parseTyped, readTyped, TYPED_MAX } from './typed-form.ts'
import { say, words, sayMade } from '#shared/node/http/language.ts'

const NEXT = Type.Optional(Type.String({ maxLength: 2048 }))
const SIGN_IN = words({ title: 'Sign in', current: '' }, 'title')

export const loginPage = ({ auth }: Pick<CentralContext, 'auth'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/login',
    auth: 'public',
    summary: 'The page to sign in',
    query: strict({ next: NEXT }),
    handle: call => {
      const next = safeNext(call.query.next)
      return auth.required ? layout.document(call, SIGN_IN, loginBody({ next })) : call.reply.redirect(next, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/login',
    auth: 'public',
    summary: 'Signs a browser in',
    takes: 'form',
    // What was typed comes along, written as a form within a form.
    bodyMax: 4 * TYPED_MAX,
    action: 'login',
    body: strict({
      username: Type.String({ maxLength: 128 }),
      password: Type.String({ maxLength: 1024 }),
      next: NEXT,
      typed: Type.Optional(Type.String({ maxLength: 4 * TYPED_MAX })),
    }),
    handle: async call => {
      const { body, request, reply, audit } = call
      assertSameSite(request, auth.required ? 'cookie' : 'open')
      const next = safeNext(body.next)
      const typed = body.typed === undefined ? undefined : parseTyped(body.typed)
      try {
        const session = await auth.login(body.username, body.password, request.ip)
        audit({ subject: session.subject, after: { role: session.role } })
        setSessionCookie(request, reply, session)
        const csrf = auth.formToken(session)
        if (session.must_change_password) {
          const waits = typed && formatTyped(typed)
          return layout.document(call, SIGN_IN, firstPasswordBody({ csrf, next, typed: waits, username: session.subject }))
        }
        if (!typed) return reply.redirect(next, 303)
        return layout.document(call, SIGN_IN, sendTypedBody(typed, csrf))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        reply.code(PROBLEMS[error.code].status)
        if ('retryAfterSecs' in error) reply.header('retry-after', String(error.retryAfterSecs))
        return layout.document(
          call,
          SIGN_IN,
          loginBody({
            next,
            error: sayMade(error.message),
            name: body.username,
            ...(typed && { typed: { ...typed, text: formatTyped(typed) } }),
          }),
        )
      }
    },
  }),
  route({
    method: 'POST',
    path: '/logout',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'Signs a browser out',
    takes: 'form',
    body: strict({}),
    action: 'logout',
    handle: ({ caller, reply, audit }) => {
      auth.logout(caller!)
      clearSessionCookie(reply)
      audit({ subject: caller!.subject })
      return reply.redirect('/login', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/logout/everywhere',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'Signs a user out of every browser and script',
    takes: 'form',
    body: strict({}),
    action: 'logout_everywhere',
    handle: ({ caller, reply, audit }) => {
      auth.logoutEverywhere(caller!.subject)
      clearSessionCookie(reply)
      audit({ subject: caller!.subject })
      return reply.redirect('/login', 303)
    },
  }),
]

/** Somebody sent a form when the session had ended; one without an entry is soon sent again from its page. */
const endedBody = (typed: TypedForm): Html =>
  typed.fields.length > 0
    ? loginBody({
        next: typed.back,
        error: say`Your session has ended, and nothing was saved yet. What you typed is kept: sign in to send it.`,
        typed: { ...typed, text: formatTyped(typed) },
      })
    : loginBody({ next: typed.back, error: say`Your session has ended, and nothing was changed. Sign in and do it again.` })

/**
 * Answers of `openHttp` to failed page requests: somebody who is not signed in goes to the login page and comes back afterwards,
 * somebody with a first password to the page that sets another; a form that was sent after the end of the session is stored while
 * the person signs in; every other error is a page. A fragment gets its status and no page, so nothing is swapped in.
 */
export function problemPages(layout: PageLayout) {
  return async (problem: Problem, request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const { status, title: english } = PROBLEMS[problem.code]
    const title = say(english)
    if (request.headers['hx-request'] !== undefined) return false
    if (problem.code === 'unauthenticated' && request.method === 'GET') {
      reply.redirect(`/login?${new URLSearchParams({ next: request.url })}`, 303)
      return true
    }
    if (problem.code === 'password_change_required' && request.method === 'GET') {
      reply.redirect(`/password?${new URLSearchParams({ next: request.url })}`, 303)
      return true
    }
    const typed = problem.code === 'unauthenticated' ? await readTyped(request) : undefined
    const body = typed ? endedBody(typed) : problemBody({ title, detail: sayMade(problem.message), request_id: request.id })
    const call = { caller: request.caller, reply }
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(unbroken(layout.document(call, { title, current: '' }, body).text))
    return true
  }
}

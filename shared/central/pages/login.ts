/** Signing in and out, and what a browser sees when a page request fails. */
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { loginBody, problemBody } from '#shared/core/ui/entry-pages.ts'
import { type Route, route, strict } from '#shared/node/route.ts'
import { assertSameSite, clearSessionCookie, setSessionCookie } from '#shared/node/token-session.ts'
import type { CentralContext } from '../context.ts'
import type { Shell } from './shell.ts'

const NEXT = Type.Optional(Type.String({ maxLength: 2048 }))
const HERE = 'http://here'
const SIGN_IN = { title: 'Sign in', current: '' }

/** @returns a path of this site, whatever the address asks for: `//elsewhere` and `/\elsewhere` leave it */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !URL.canParse(next, HERE)) return '/'
  const { origin, pathname, search } = new URL(next, HERE)
  return origin === HERE && !pathname.startsWith('//') ? pathname + search : '/'
}

export const loginRoutes = ({ auth }: Pick<CentralContext, 'auth'>, shell: Shell): Route[] => [
  route({
    method: 'GET',
    path: '/login',
    auth: 'public',
    summary: 'The page to sign in',
    query: strict({ next: NEXT }),
    handle: call => {
      const next = safeNext(call.query.next)
      return auth.required ? shell.document(call, SIGN_IN, loginBody({ next })) : call.reply.redirect(next, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/login',
    auth: 'public',
    summary: 'Signs a browser in',
    takes: 'form',
    bodyMax: 8192,
    action: 'login',
    body: strict({ username: Type.String({ maxLength: 128 }), password: Type.String({ maxLength: 1024 }), next: NEXT }),
    handle: async call => {
      const { body, request, reply, audit } = call
      assertSameSite(request, auth.required ? 'cookie' : 'open')
      const next = safeNext(body.next)
      try {
        const session = await auth.login(body.username, body.password, request.ip)
        audit({ subject: session.subject, after: { role: session.role } })
        setSessionCookie(request, reply, session)
        return reply.redirect(next, 303)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        reply.code(PROBLEMS[error.code].status)
        if ('retryAfterSecs' in error) reply.header('retry-after', String(error.retryAfterSecs))
        return shell.document(call, SIGN_IN, loginBody({ next, error: error.message, name: body.username }))
      }
    },
  }),
  route({
    method: 'POST',
    path: '/logout',
    auth: 'viewer',
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

/**
 * What `openHttp` asks when a page request fails: somebody who is not signed in goes to the login page and comes back
 * afterwards; everything else is said in a page. A fragment gets its status and no page, so nothing is swapped in.
 */
export function problemPages(shell: Shell) {
  return (problem: Problem, request: FastifyRequest, reply: FastifyReply): boolean => {
    const { status, title } = PROBLEMS[problem.code]
    if (request.headers['hx-request'] !== undefined) return false
    if (problem.code === 'unauthenticated' && request.method === 'GET') {
      reply.redirect(`/login?${new URLSearchParams({ next: request.url })}`, 303)
      return true
    }
    const body = problemBody({ title, detail: problem.message, request_id: request.id })
    const call = { caller: request.caller, reply }
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(shell.document(call, { title, current: '' }, body).text)
    return true
  }
}

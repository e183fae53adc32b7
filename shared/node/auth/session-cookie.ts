import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import { isLoopback } from './auth-settings.ts'

/** Carries the same token as the Authorization header, for browsers. */
export const SESSION_COOKIE = 'plenum_session'
/** Methods that change nothing, so another site may cause them without harm. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

const hostName = (host: string) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')

/**
 * Whether the browser stores a `Secure` cookie that comes by plain HTTP from this machine. Safari does not, and neither does any
 * browser of an iPhone: all of them are WebKit and name no Chrome (WebKit bug 232088).
 */
function trustsLoopback({ headers }: FastifyRequest): boolean {
  const agent = headers['user-agent'] ?? ''
  return !agent.includes('AppleWebKit/') || /\b(?:Chrome|Chromium)\//.test(agent)
}

/**
 * Logs a browser in. The cookie is `Secure` except on plain HTTP where the browser would drop it: beyond this machine, and in
 * WebKit everywhere.
 *
 * @param session its `expires_at` in ms since 1970 UTC
 */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, session: { token: string; expires_at: number }) {
  const secure = request.protocol === 'https' || (isLoopback(hostName(request.host)) && trustsLoopback(request))
  const expires = new Date(session.expires_at)
  reply.setCookie(SESSION_COOKIE, session.token, { path: '/', httpOnly: true, sameSite: 'strict', secure, expires })
}

/** Logs a browser out. */
export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, { path: '/', httpOnly: true, sameSite: 'strict' })
}

/**
 * Refuses a change that a page of another site has caused.
 *
 * A browser says where a request comes from (`Sec-Fetch-Site`, `Origin`). A caller by cookie is a browser, so one that
 * says nothing is refused; an open process also serves scripts on its own machine, and refuses foreign host names, behind
 * which another site may hide its own address.
 *
 * @throws Problem forbidden
 */
export function assertSameSite(request: FastifyRequest, via: 'cookie' | 'open'): void {
  if (via === 'open' && !isLoopback(hostName(request.host))) {
    throw new Problem('forbidden', `This process is open to its own machine only, not as ${request.host}`)
  }
  if (SAFE.has(request.method)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Problem('forbidden', 'A page of another site may not change anything here')
  }
  if (origin !== undefined ? !isOwnOrigin(origin, request.host) : via === 'cookie' && site === undefined) {
    throw new Problem('forbidden', `The request comes from ${origin ?? 'an unknown page'}, not from ${request.host}`)
  }
}

const isOwnOrigin = (origin: string, host: string) => URL.canParse(origin) && new URL(origin).host === host

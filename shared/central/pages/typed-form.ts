/** Forms that were filled in when the session ended: they are shown again, and sent after the next sign-in. */
import type { FastifyRequest } from 'fastify'
import type { TypedForm } from './login.view.ts'
import { assertSameSite } from '#shared/node/auth/session-cookie.ts'

/** A note has 4,000 characters at most, of up to 9 characters each on their way. */
export const TYPED_MAX = 48 * 1024
const WAIT_MS = 5000
/** Of a session that has ended, never to be shown again, or of the way back. */
const LEFT_OUT = new Set(['csrf', 'password', 'new_password', 'new_password_again', 'next', 'typed'])

/**
 * Reads the form of a request that was refused before its body was read.
 *
 * @returns undefined when it is no form of this site's pages, or more than a person types
 */
export async function readTyped(request: FastifyRequest): Promise<TypedForm | undefined> {
  const { method, headers, url, raw } = request
  if (method !== 'POST' || !headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return undefined
  try {
    assertSameSite(request, 'cookie')
    return { action: safeNext(url), back: backOf(headers.referer), fields: fieldsOf(await bodyOf(raw)) }
  } catch {
    return undefined
  }
}

/** As the page of the login carries it. @returns undefined for a text that no page has written */
export function parseTyped(text: string): TypedForm | undefined {
  const search = new URLSearchParams(text)
  const [action, back] = [search.get('action'), search.get('back')]
  if (action === null || back === null) return undefined
  return { action: safeNext(action), back: safeNext(back), fields: fieldsOf(search.get('fields') ?? '') }
}

export const formatTyped = ({ action, back, fields }: TypedForm): string =>
  new URLSearchParams({ action, back, fields: new URLSearchParams(fields).toString() }).toString()

const fieldsOf = (text: string): [string, string][] => [...new URLSearchParams(text)].filter(([name]) => !LEFT_OUT.has(name))

/** @throws Error when it is too long, or takes too long to come */
async function bodyOf(raw: FastifyRequest['raw']): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  const timer = setTimeout(() => raw.destroy(new Error('the form did not come')), WAIT_MS)
  try {
    for await (const part of raw as AsyncIterable<Buffer>) {
      length += part.length
      if (length > TYPED_MAX) throw new Error('the form is too long')
      parts.push(part)
    }
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(parts).toString()
}

/** The page on which it was typed. */
const backOf = (referer: string | undefined): string =>
  referer !== undefined && URL.canParse(referer) ? safeNext(new URL(referer).pathname + new URL(referer).search) : '/'

/** Only to resolve relative addresses against. */
const BASE = 'http://localhost'

/** @returns a path of this site, whatever the address asks for: `//elsewhere` and `/\elsewhere` leave it */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !URL.canParse(next, BASE)) return '/'
  const { origin, pathname, search } = new URL(next, BASE)
  return origin === BASE && !pathname.startsWith('//') ? pathname + search : '/'
}

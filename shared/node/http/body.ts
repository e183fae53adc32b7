import type { FastifyInstance } from 'fastify'
import { Problem } from '#shared/core/problem.ts'

/** Maximum nesting of a JSON body, so that no reader of it overflows the stack. */
const DEPTH_MAX = 32

/** @returns how deep lists and objects are nested in JSON text; stops counting beyond `max` */
export function jsonDepth(text: string, max: number): number {
  let [depth, deepest] = [0, 0]
  let inString = false
  for (let i = 0; i < text.length && deepest <= max; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (char === 0x5d || char === 0x7d) depth--
  }
  return deepest
}

/** Media types of YAML; RFC 9512 registers the first. */
export const YAML_TYPES = ['application/yaml', 'text/yaml', 'application/x-yaml', 'text/x-yaml', 'text/plain']

/** Parses JSON, forms and YAML before the handler; other bodies are answered with 415. */
export function addBodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string
    if (text === '') done(null, undefined)
    else if (jsonDepth(text, DEPTH_MAX) > DEPTH_MAX) {
      done(new Problem('bad_request', `The body is nested deeper than ${DEPTH_MAX}`))
    } else parseJson(request, text, done)
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)))
  })
  app.addContentTypeParser(YAML_TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

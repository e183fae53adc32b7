import type { FastifyInstance } from 'fastify'
import { isTooDeep, JSON_DEPTH_MAX } from '#shared/core/json-depth.ts'
import { Problem } from '#shared/core/problem.ts'

/** Media types of YAML; RFC 9512 registers the first. */
export const YAML_TYPES = ['application/yaml', 'text/yaml', 'application/x-yaml', 'text/x-yaml', 'text/plain']

/** Parses JSON, forms and YAML before the handler; other bodies are answered with 415. */
export function addBodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string
    if (text === '') done(null, undefined)
    else if (isTooDeep(text)) {
      done(new Problem('bad_request', `The body is nested deeper than ${JSON_DEPTH_MAX}`))
    } else parseJson(request, text, done)
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)))
  })
  app.addContentTypeParser(YAML_TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

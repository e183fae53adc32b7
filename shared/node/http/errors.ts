import { nameTable } from '#shared/core/name-table.ts'
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ID_PATTERN } from '#shared/core/model/model.ts'
import { type DataError, Problem, type ProblemCode, ThrottledProblem, toProblemJson } from '#shared/core/problem.ts'
import type { Route } from './route.ts'

/** Problem codes for errors of the server and of its multipart reader. Other errors are mapped by their status. */
const CODES = nameTable<ProblemCode>({
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'unsupported_media_type',
  FST_REQ_FILE_TOO_LARGE: 'too_large',
  FST_PARTS_LIMIT: 'too_large',
  FST_FILES_LIMIT: 'too_large',
  FST_FIELDS_LIMIT: 'too_large',
})

/** @returns the problem for an error; an unexpected one becomes `internal` without details */
export function toProblem(error: unknown, request_id: string): Problem {
  if (error instanceof Problem) return error
  const { code, message, validation, validationContext, statusCode = 500 } = error as FastifyError
  if (validation) {
    const errors = validation.map((failed): DataError => {
      const { instancePath, params } = failed
      const extra = params['additionalProperty'] ?? params['unevaluatedProperty']
      const pointer = `${validationContext === 'body' ? '' : validationContext}${instancePath}${extra === undefined ? '' : `/${extra}`}`
      return { pointer, message: extra === undefined ? wordsOf(failed) : 'is not a known field' }
    })
    const [first] = errors
    return new Problem('bad_request', `${first?.pointer || 'The body'} ${first?.message}`, errors)
  }
  if (code === 'ENOSPC' || code === 'SQLITE_FULL')
    return new Problem('workspace_full', 'The disk is full: nothing could be written')
  const known = CODES[code]
  if (known) return new Problem(known, message)
  if (statusCode === 404) return new Problem('not_found', message)
  if (statusCode >= 400 && statusCode < 500) return new Problem('bad_request', message)
  return new Problem('internal', `Internal error; see the log for request ${request_id}`)
}

type FailedCheck = NonNullable<FastifyError['validation']>[number] & { data?: unknown }

/** In place of the pattern of an id, which people type into forms. */
const ID_FORM = 'may have letters, digits, dots, hyphens and underscores, at most 128'

/** What AJV says of the checks that routes use, with its figures as `{0}`; behind the field, and before the given value. */
export const SCHEMA_CHECKS: readonly string[] = [
  'is not a known field',
  ...['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'].map(type => `must be ${type}`),
  'must be one of {0}',
  'must be equal to constant',
  ...['>=', '<=', '>', '<'].map(sign => `must be ${sign} {0}`),
  ...['characters', 'items', 'properties'].flatMap(things => [
    `must NOT have fewer than {0} ${things}`,
    `must NOT have more than {0} ${things}`,
  ]),
  'must NOT have duplicate items (items ## {0} and {1} are identical)',
  'must match pattern {0}',
  ID_FORM,
  'must match format {0}',
  'must have required property {0}',
  'must match a schema in anyOf',
]

/** Maximum length of a given text that a message repeats. */
const GIVEN_MAX = 60
/** Checks of a single value, whose messages repeat the given value. */
const OF_VALUE = new Set(['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'pattern'])
/** Fields whose values are never repeated. */
const SECRET = /pass|secret|token|key/i

/** The failed check and, where it is short and no secret, the given value. */
function wordsOf({ keyword, instancePath, message = 'does not fit', params, data }: FailedCheck): string {
  const allowed = params['allowedValues']
  const form = params['pattern'] === ID_PATTERN ? ID_FORM : message
  const must = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : form
  const isShort = typeof data === 'string' ? data.length <= GIVEN_MAX : data === null || typeof data !== 'object'
  const isShown = OF_VALUE.has(keyword) && isShort && data !== undefined && !SECRET.test(instancePath)
  return isShown ? `${must}, not ${JSON.stringify(data)}` : must
}

/** Sends a problem as RFC 9457 defines. Internal errors are logged with their stack. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = toProblem(error, request.id)
  if (problem.code === 'internal') request.log.error({ err: error, url: request.url }, 'request failed')
  if (problem.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  addRetryAfter(problem, reply)
  const [instance] = request.url.split('?')
  const { hints } = (request.routeOptions?.config ?? {}) as Pick<Route, 'hints'>
  const listed = problem.hints.length > 0 ? problem.hints : hints?.(problem)
  const json = toProblemJson(problem, { instance: instance!, request_id: request.id }, listed)
  return reply
    .code(json.status)
    .type('application/problem+json')
    .send(Buffer.from(JSON.stringify(json)))
}

/** Says when a refusal that ends by itself is over. */
export function addRetryAfter(problem: Problem, reply: FastifyReply): void {
  if (problem instanceof ThrottledProblem) reply.header('retry-after', String(problem.retryAfterSecs))
}

/** Answers bytes that are no HTTP or arrive too late, and closes the connection; no request exists to which it could reply. */
export function refuseBytes(error: ConnectionError, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const request_id = randomUUID()
  const json = toProblemJson(bytesProblem(error), { instance: '/', request_id })
  const text = JSON.stringify(json)
  const head = [
    `HTTP/1.1 ${json.status} ${STATUS_CODES[json.status]}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${request_id}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
}

function bytesProblem({ code }: ConnectionError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large', 'The header of the request is too long')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', 'The request did not arrive in time')
  return new Problem('bad_request', `The request is not valid HTTP (${code})`)
}

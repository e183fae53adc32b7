import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { addVary } from './compress.ts'
import { unbroken } from './unbroken.ts'
import { Html } from './html.ts'
import { type PageLanguageOf, inLanguage } from './language.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { AuditStore } from '#shared/core/stores.ts'
import { buildingOfChange } from './audit-building.ts'
import { YAML_TYPES } from './body.ts'
import { type Idempotency, idempotencyKey } from './idempotency.ts'
import { problemAnswer, problemsByStatus } from './problem-schema.ts'
import { type Call, type Caller, type MediaType, type ProblemPage, type Route, type SharedToken, strict } from './route.ts'
import { fits } from './schema-check.ts'
import { assertBuilding, assertScope } from './token-limits.ts'
import { sameText } from '#shared/node/auth/password-login.ts'
import { API_KEY_NAME, type Auth, BEARER } from '#shared/node/auth/token.ts'

const RANK = { viewer: 1, operator: 2, admin: 3 } as const
/** Methods that a path refuses with its `Allow` header unless it has a route for them. No other method is accepted anywhere. */
export const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']
const MEDIA_TYPES: Record<NonNullable<Route['takes']>, readonly string[]> = {
  json: ['application/json'],
  form: ['application/x-www-form-urlencoded'],
  yaml: YAML_TYPES,
  upload: ['multipart/form-data'],
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
    scope: Scope | undefined
  }
}

/** The routes of one tenant, one of which answers in place of the mounted route. */
export type Scope = {
  /** @returns undefined where the tenant has no such route */
  routeFor(route: Route): Route | undefined
  audit: AuditStore | undefined
  problemPage: ProblemPage
}
/** @returns undefined where the mounted route answers itself. @throws Problem for a caller whom no tenant answers now */
export type ScopeOf = (route: Route, caller: Caller | undefined) => Scope | undefined

type MountOptions = {
  auth: Auth
  /** Set where the process serves several tenants. */
  scopeOf?: ScopeOf | undefined
  /** Undefined in a process that writes no audit rows. */
  audit: Pick<AuditStore, 'add'> | undefined
  idempotency: Idempotency
  pageLanguageOf: PageLanguageOf | undefined
  /** The wall clock, ms. */
  now: () => number
}

/**
 * Mounts routes. The caller, and the type and size of the body, are checked before the body is read. Other methods of the
 * same paths are answered with 405.
 */
export function mount(app: FastifyInstance, routes: Route[], options: MountOptions): void {
  for (const route of routes) {
    const mayLackBody = needsNoBody(route)
    app.route({
      method: route.method,
      url: route.path,
      ...(route.bodyMax !== undefined && { bodyLimit: route.bodyMax }),
      schema: schemaOf(route),
      config: { ...(route.hints && { hints: route.hints }) },
      onRequest: async request => {
        request.caller = await admit(route, request, options)
        if (request.caller) assertScope(route, request.caller)
        request.scope = options.scopeOf?.(route, request.caller)
        assertBody(route, request)
      },
      preValidation: async request => {
        if (mayLackBody) request.body ??= {}
        if (route.query) request.query = coerce(route.query, knownParameters(route, request.query as Record<string, unknown>))
        if (route.takes === 'form') takeForm(route, request, options.auth)
      },
      preHandler: async request => assertBuilding(route, request),
      handler: (request, reply) => answer(route, request, reply, options),
    })
  }
  refuseOtherMethods(app, routes)
}

/** A JSON body without required fields may be left out. */
const needsNoBody = ({ body, takes = 'json' }: Route): boolean => body !== undefined && takes === 'json' && fits(body, {})

/** The name that clients made from the OpenAPI document give a route: `getModelPointsByPointId` for GET /api/model/points/:point_id. */
function operationId(method: string, path: string): string {
  const words = path.replace('/api/', '').replaceAll('/:', '/by_').split(/\W|_/)
  return method.toLowerCase() + words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function schemaOf({
  method,
  path,
  auth,
  summary,
  body,
  query,
  params,
  reply,
  statuses = [200],
  answers = ['application/json'],
  takes,
  problems = [],
}: Route): Record<string, unknown> {
  const isApi = path.startsWith('/api/')
  const json = reply ?? Type.Unknown()
  const schemaFor = (type: MediaType) =>
    type === 'application/json' ? json : type.endsWith('json') ? Type.Object({}) : Type.String()
  const answer = { content: Object.fromEntries(answers.map(type => [type, { schema: schemaFor(type) }])) }
  return {
    summary,
    operationId: operationId(method, path),
    description: auth === 'public' ? 'Public.' : `Needs the role ${auth}.`,
    hide: !isApi,
    security: auth === 'public' ? [] : [{ bearer: [] }],
    querystring: query ?? (isApi ? strict({}) : Type.Object({})),
    response: {
      ...Object.fromEntries(statuses.map(status => [status, { description: STATUSES[status], ...answer }])),
      ...problemsByStatus(problems.filter(code => !(statuses as readonly number[]).includes(PROBLEMS[code].status))),
      default: problemAnswer('A problem that any operation may have'),
    },
    ...(body && takes !== 'upload' && { body }),
    ...(takes === 'upload' && { consumes: ['multipart/form-data'] }),
    ...(params && { params }),
  }
}

const STATUSES = { 200: 'It succeeded', 202: 'It was accepted and goes on', 503: 'A check fails' } as const

/** @throws Problem unauthenticated, forbidden or password_change_required */
async function admit(
  { auth: wanted, apiKey, bearer, bearerOnly, beforePasswordChange, ofTenant }: Route,
  request: FastifyRequest,
  { auth, scopeOf }: Pick<MountOptions, 'auth' | 'scopeOf'>,
): Promise<Caller | undefined> {
  const need = scopeOf && ofTenant && wanted === 'public' ? 'viewer' : wanted
  if (need === 'public') return undefined
  if (bearerOnly && !BEARER.test(request.headers.authorization ?? '')) {
    throw new Problem(
      'unauthenticated',
      `${request.method} changes something here: send Authorization: Bearer <token>, a cookie is not enough`,
    )
  }
  if (need === 'edge' && bearer && bearer.value === undefined) {
    throw new Problem('forbidden', `This route is closed: ${bearer.variable} is not set`)
  }
  const known = (bearer && sharedCaller(bearer, need, request)) ?? (apiKey && auth.keyCallerOf(request))
  const caller = known ?? (await auth.callerOf(request, bearer?.subject ?? (apiKey && API_KEY_NAME)))
  if (!caller) throw new Problem('unauthenticated', 'Send Authorization: Bearer <token>')
  const fits = need === 'edge' || caller.role === 'edge' ? caller.role === need : RANK[caller.role] >= RANK[need]
  if (!fits) throw new Problem('forbidden', `This needs the role ${need}; ${caller.subject} has the role ${caller.role}`)
  if (caller.must_change_password && !beforePasswordChange) {
    throw new Problem('password_change_required', `${caller.subject} has a first password: POST /api/auth/password sets another`)
  }
  return caller
}

/** The caller with the shared token of a route has the role that the route needs, and no other. */
function sharedCaller({ subject, value }: SharedToken, role: Caller['role'], request: FastifyRequest): Caller | undefined {
  const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? []
  if (!token || value === undefined || !sameText(token, value)) return undefined
  return { subject, role, via: 'bearer', session: subject }
}

/** @throws Problem unsupported_media_type or too_large, according to the headers */
function assertBody(route: Route, request: FastifyRequest): void {
  const { 'content-length': length = '0', 'transfer-encoding': transfer, 'content-type': type = '' } = request.headers
  if (Number(length) === 0 && transfer === undefined) return
  const wanted = MEDIA_TYPES[route.takes ?? 'json']
  if (!wanted.includes(type.split(';')[0]!.trim().toLowerCase())) {
    throw new Problem(
      route.wrongMediaType ?? 'unsupported_media_type',
      `This takes ${wanted[0]}, not ${type || 'a body without content-type'}`,
    )
  }
  if (route.bodyMax !== undefined && Number(length) > route.bodyMax) {
    const hint = route.takes === 'upload' ? '; send it as a ZIP' : ''
    throw new Problem('too_large', `The body has ${length} bytes; at most ${route.bodyMax} are accepted${hint}`)
  }
}

/** Checks and removes the token of a form, then reads its texts as numbers and flags. */
function takeForm(route: Route, request: FastifyRequest, auth: Auth): void {
  const { csrf = '', ...fields } = (request.body ?? {}) as Record<string, string>
  if (request.caller && !auth.isFormToken(request.caller, csrf)) {
    throw new Problem('forbidden', 'The form is not from this session; load the page again')
  }
  request.body = route.body ? coerce(route.body, fields) : fields
}

/**
 * Parameters without those that a page does not know, such as those that mail programs add to links. An API refuses them
 * instead.
 */
function knownParameters({ path, query }: Route, given: Record<string, unknown>): Record<string, unknown> {
  const properties: Record<string, unknown> | undefined = query?.['properties']
  if (path.startsWith('/api/') || !properties) return given
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(properties, name)))
}

/** Reads the texts of a query or form as the numbers and flags of the schema; other values are unchanged. */
function coerce(schema: TSchema, given: Record<string, unknown>): Record<string, unknown> {
  const properties: Record<string, { type?: string }> = schema['properties'] ?? {}
  const read = (name: string, value: unknown) => {
    const type = properties[name]?.type
    if (typeof value !== 'string') return value
    if (type === 'boolean') return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value
    if (type !== 'number' && type !== 'integer') return value
    return value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value)
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, read(name, value)]))
}

async function answer(route: Route, request: FastifyRequest, reply: FastifyReply, options: MountOptions): Promise<unknown> {
  const { body, query, params, caller, scope, id: request_id } = request
  const answering = scope ? scope.routeFor(route) : route
  if (!answering) throw new Problem('not_found', `Nothing answers at ${request.url}`)
  const rows = scope ? scope.audit : options.audit
  const audit: Call<unknown, unknown, unknown>['audit'] = note => {
    const { subject, before = null, after = null } = note
    const who = { actor: caller?.subject ?? 'nobody', role: caller?.role ?? 'public' }
    const what = { action: route.action ?? route.path, subject, building_id: buildingOfChange(route, request, note) }
    rows?.add({ at: options.now(), ...who, ...what, before, after, request_id })
  }
  const language = route.path.startsWith('/api/') ? undefined : options.pageLanguageOf?.(request)
  const call = { body, query, params, caller, request_id, audit, request, reply }
  const handle = async () => inLanguage(language, () => answering.handle(call))
  const key = route.idempotent && idempotencyKey(request.headers['idempotency-key'])
  const name = `${caller?.tenant_id} ${caller?.subject} ${request.method} ${request.url} ${key}`
  const result = await (key ? options.idempotency.once(name, body, handle) : handle())
  // A stream whose reader left has sent its headers and never ends.
  if (reply.sent || reply.raw.headersSent || result === reply) return reply
  if (result instanceof Html && options.pageLanguageOf) addVary(reply, 'Accept-Language')
  if (result instanceof Html) return reply.type('text/html; charset=utf-8').send(unbroken(result.text))
  return result === undefined ? reply.code(204).send() : reply.send(result)
}

function refuseOtherMethods(app: FastifyInstance, routes: Route[]): void {
  for (const [url, here] of Map.groupBy(routes, ({ path }) => path)) {
    const taken = new Set<HTTPMethods>(here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    const allow = [...taken].join(', ')
    const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow)
      throw new Problem('method_not_allowed', `${request.method} is not accepted here; use ${allow}`)
    }
    const method = METHODS.filter(name => !taken.has(name))
    app.route({ method, url, schema: { hide: true }, onRequest: refuse, handler: refuse })
  }
}

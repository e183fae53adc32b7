import { nameTable } from '#shared/core/name-table.ts'
import { AjvCompiler } from '@fastify/ajv-compiler'
import fastifyCookie from '@fastify/cookie'
import fastifyMultipart from '@fastify/multipart'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaCompiler,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { Problem } from '#shared/core/problem.ts'
import type { AuditStore } from '#shared/core/stores.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { addBodyParsers } from './body.ts'
import { addCompression } from './compress.ts'
import { documentRoutes } from './openapi.ts'
import { addRetryAfter, refuseBytes, sendProblem, toProblem } from './errors.ts'
import { openIdempotency } from './idempotency.ts'
import { limitConnections, limitWaiting, PAGE_CONNECTIONS } from './open-connections.ts'
import { countRequests, createRequestCounts, type RequestCounts } from './request-counts.ts'
import { METHODS, mount, type ScopeOf } from './route-mount.ts'
import { ofHub, type ProblemPage, type Route } from './route.ts'
import { type PageLanguageOf, inLanguage } from './language.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { secureOptions, type ServerTls, takeNewTls } from './server-tls.ts'
import type { Service } from '#shared/node/service.ts'
import type { Current } from '#shared/node/watched-files.ts'
import type { Auth } from '#shared/node/auth/token.ts'

/** Maximum time for a whole request to arrive. */
const REQUEST_MS = 10 * MINUTE
/** Maximum time that running replies may delay a stop. */
const CLOSE_MS = 3 * SECOND
const BODY_MAX = 1024 * 1024
/** Maximum length of a path parameter: ids have up to 128 characters, and an escaped character takes three. */
const PARAM_MAX = 384

export type HttpOptions = {
  /** Name of the process in messages. */
  name: string
  host: string
  /** 0 uses any free port; `url()` returns it. */
  port: number
  routes: Route[]
  auth: Auth
  audit: Pick<AuditStore, 'add'> | undefined
  log: Logger
  version: string
  trustedProxies: string[]
  /** Certificate and key, for a port with HTTPS; new ones count from the next connection. */
  tls?: Current<ServerTls> | undefined
  /** Answers a failed page request as a page or a redirect. */
  problemPage?: ProblemPage
  /** Set where the process serves several tenants: what answers each caller. */
  scopeOf?: ScopeOf | undefined
  /** The language of a page for a request; without it, and for undefined, pages are English. The API always is. */
  pageLanguageOf?: PageLanguageOf | undefined
  /** Resolves when everything that was stored before the call is kept; without it that is so at once. */
  settled?: (() => Promise<void>) | undefined
}

export type HttpService = Service & { app: FastifyInstance; url(): string; requests: Readonly<RequestCounts> }

/**
 * Opens an HTTP server with strict bodies, problem documents, roles, security headers and an OpenAPI document. It listens
 * after `start`.
 *
 * @throws Error from `start` that names host and port when they cannot be used
 */
export async function openHttp(options: HttpOptions): Promise<HttpService> {
  const { name, host, port, log, trustedProxies, tls } = options
  const app: FastifyInstance = Fastify({
    ...(tls && { https: secureOptions(tls.current()) }),
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_MAX,
    requestTimeout: REQUEST_MS,
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    routerOptions: { maxParamLength: PARAM_MAX },
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
    clientErrorHandler: refuseBytes,
  })
  takeNewTls(app, tls)
  limitConnections(app.server, trustedProxies, PAGE_CONNECTIONS)
  limitWaiting(app)
  app.decorateRequest('caller', undefined)
  app.decorateRequest('scope', undefined)
  app.setValidatorCompiler(compileWhenAsked())
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  const requests = createRequestCounts()
  countRequests(app, requests)
  addBodyParsers(app)
  addHeaders(app)
  addErrors(app, options)
  await app.register(fastifyCookie)
  await app.register(fastifyMultipart)
  endStreams(app, options.auth)
  const { settled } = options
  if (settled) settleChanges(app, settled)
  addCompression(app)
  const docs = await documentRoutes(app, options)
  const { auth, audit, scopeOf, pageLanguageOf } = options
  const idempotency = openIdempotency(Date.now)
  mount(app, [...options.routes, ...ofHub(docs)], { auth, audit, scopeOf, pageLanguageOf, idempotency, now: Date.now })
  await app.ready()
  return {
    name: `${name} http`,
    app,
    requests,
    url: () => app.listeningOrigin,
    async start() {
      await app.listen({ host, port }).catch(error => {
        throw new Error(`cannot listen on ${host}:${port}: ${LISTEN_ERRORS[error.code as string] ?? error.message}`, {
          cause: error,
        })
      })
      log.info({ url: app.listeningOrigin }, `${name} listens`)
    },
    async stop() {
      const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_MS)
      await app.close().finally(() => clearTimeout(cut))
    },
  }
}

const VALUES = { coerceTypes: false, removeAdditional: false, useDefaults: true, allErrors: true, verbose: true } as const

/** Compiles a schema when a request needs it: to compile all of them takes half of the time of a start, and memory for good. */
function compileWhenAsked(): FastifySchemaCompiler<unknown> {
  const compile = AjvCompiler()({}, { customOptions: VALUES })
  return part => {
    let check: ReturnType<typeof compile> | undefined
    return value => {
      check ??= compile(part)
      return check(value) === true || { error: check.errors ?? [] }
    }
  }
}

/** A server with the service that watches its certificate. */
export const withTls = (http: HttpService, tls: Service): HttpService => ({
  ...http,
  async start() {
    await tls.start()
    await http.start()
  },
  async stop() {
    await http.stop()
    await tls.stop()
  },
})

const LISTEN_ERRORS = nameTable<string>({
  EADDRINUSE: 'another process uses this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this needs the right to open ports below 1024',
  ENOTFOUND: 'the host name is not known',
})

function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    if (!request.url.startsWith('/static/')) reply.header('cache-control', 'no-store')
  })
}

/** Ends a stream of events when the token of its caller ends. */
function endStreams(app: FastifyInstance, auth: Auth): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const isEvents = String(reply.getHeader('content-type')).startsWith('text/event-stream')
    if (isEvents && request.caller && payload instanceof Readable) {
      payload.once(
        'close',
        auth.watch(request.caller, () => payload.destroy()),
      )
    }
    return payload
  })
}

/** Delays the answer to a request that may have changed something until the change is kept. */
function settleChanges(app: FastifyInstance, settled: () => Promise<void>): void {
  app.addHook('onSend', async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD') await settled()
  })
}

function addErrors(app: FastifyInstance, { problemPage, routes, pageLanguageOf }: HttpOptions): void {
  const allow = [...new Set(routes.map(({ method }) => method))].join(', ')
  const send = async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const isPage = !request.url.startsWith('/api/') && request.headers.accept?.includes('text/html')
    const showPage = request.scope?.problemPage ?? problemPage
    const problem = toProblem(error, request.id)
    if (isPage) addRetryAfter(problem, reply)
    const show = () => showPage?.(problem, request, reply)
    if (isPage && (await inLanguage(pageLanguageOf?.(request), show))) return reply
    return sendProblem(error, request, reply)
  }
  app.setErrorHandler(send)
  app.setNotFoundHandler((request, reply) => {
    if (METHODS.includes(request.method))
      return send(new Problem('not_found', `There is no page or route at ${request.url}`), request, reply)
    reply.header('allow', allow)
    return send(new Problem('method_not_allowed', `${request.method} is not accepted anywhere`), request, reply)
  })
}

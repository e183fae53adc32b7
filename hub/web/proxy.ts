import { randomUUID } from 'node:crypto'
import http from 'node:http'
import proxy from '@fastify/http-proxy'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Problem } from '#shared/core/problem.ts'
import { refuseBytes, sendProblem } from '#shared/node/http/errors.ts'
import { limitConnections, limitWaiting, PAGE_CONNECTIONS } from '#shared/node/http/open-connections.ts'
import { secureOptions, type ServerTls, takeNewTls } from '#shared/node/http/server-tls.ts'
import type { Service } from '#shared/node/service.ts'
import type { Current } from '#shared/node/watched-files.ts'
import { lookupThrough } from './lookup.ts'
import { classifyPath } from './paths.ts'

export type WebOptions = {
  host: string
  port: number
  upstream: string
  resolver: string
  pages: boolean
  /** Proxies in front of web whose X-Forwarded-* headers are trusted. */
  trustedProxies?: string[]
  /** Certificate and key, for a port with HTTPS. */
  tls?: Current<ServerTls> | undefined
  log?: Pick<Logger, 'warn' | 'info'>
  responseMs?: number
}

/** Longest time to a response of central; the import of a large package is the slowest. */
const RESPONSE_MS = 15 * 60_000
/** Longest time until a request has been received. */
const REQUEST_MS = 10 * 60_000

/**
 * Reverse proxy of a hub: forwards `/api`, `/twins` and, unless they are turned off, the pages to central. Every other path is 404.
 * Central renders the pages, so this process reads no store. Central's host name is resolved at each new connection, never at
 * start.
 */
export function webService(options: WebOptions): Service {
  const { host, port, upstream, resolver, pages, trustedProxies = [], tls, responseMs = RESPONSE_MS } = options
  const app: FastifyInstance = fastify({
    ...(tls && { https: secureOptions(tls.current()) }),
    logger: false,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    requestTimeout: REQUEST_MS,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
    clientErrorHandler: refuseBytes,
  })
  takeNewTls(app, tls)
  limitConnections(app.server, trustedProxies, PAGE_CONNECTIONS)
  limitWaiting(app)
  const agent = new http.Agent({ keepAlive: true, lookup: lookupThrough(resolver) } as http.AgentOptions)
  const central = watchCentral(options)
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) => refuse(notFound(request), request, reply))
  app.addHook('onRequest', async request => {
    const verdict = classifyPath(request.raw.url ?? '', pages)
    if (verdict === 'malformed') throw new Problem('bad_request', 'The path has dot segments, empty segments or encoded slashes')
    if (verdict === 'unknown') throw notFound(request)
  })
  app.register(proxy, {
    upstream: `http://${upstream}`,
    prefix: '/',
    rewritePrefix: '/',
    http: { agents: { 'http:': agent, 'https:': agent as never }, requestOptions: { timeout: responseMs } },
    replyOptions: {
      // 503 can be a valid response of central, such as its health, so it is not retried.
      retryDelay: () => null,
      rewriteRequestHeaders: forwardedHeaders,
      onResponse: (_request, reply, answer) => {
        central.onResponse()
        reply.send((answer as unknown as { stream: NodeJS.ReadableStream }).stream)
      },
      onError: (reply, { error }) =>
        void refuse(central.onError(error), reply.request as FastifyRequest, reply as unknown as FastifyReply),
    },
  })
  return { name: 'web', start: async () => void (await app.listen({ host, port })), stop: () => stop(app, agent) }
}

async function stop(app: FastifyInstance, agent: http.Agent): Promise<void> {
  agent.destroy()
  await app.close()
}

const notFound = ({ url }: Pick<FastifyRequest, 'url'>) =>
  new Problem('not_found', `There is no page or route at ${url.split('?')[0]}`)

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  return sendProblem(error, request, reply)
}

/**
 * Central compares the origin of a form with the host of the browser's request, and counts logins by client address. Forwarding
 * headers that the client itself sent are discarded.
 */
function forwardedHeaders(request: unknown, headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  const { ip, protocol, host, headers: sent } = request as FastifyRequest
  const { forwarded: _forwarded, 'x-real-ip': _ip, 'x-forwarded-port': _port, ...others } = headers
  return { ...others, host: sent.host, 'x-forwarded-for': ip, 'x-forwarded-proto': protocol, 'x-forwarded-host': host }
}

/** Logs once when central stops answering and once when it is back. The client receives only the fact that central does not answer. */
function watchCentral({ upstream, log }: Pick<WebOptions, 'upstream' | 'log'>) {
  let down = false
  return {
    onResponse() {
      if (down) log?.info({ upstream }, 'central answers again')
      down = false
    },
    onError(error: Error & { statusCode?: number; cause?: unknown }): Problem {
      if (error.statusCode === 504) return new Problem('central_timeout', 'Central did not answer in time')
      const { message } = (error.cause as Error | undefined) ?? error
      if (!down) log?.warn({ upstream, reason: message }, 'central does not answer')
      down = true
      return new Problem('central_unreachable', 'Central does not answer')
    },
  }
}

import { randomUUID } from 'node:crypto'
import http from 'node:http'
import proxy from '@fastify/http-proxy'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Problem } from '#shared/core/problem.ts'
import { refuseBytes, sendProblem } from '#shared/node/http/errors.ts'
import type { Service } from '#shared/node/service.ts'
import { lookupThrough } from './lookup.ts'
import { judgeAddress } from './paths.ts'

export type WebOptions = {
  host: string
  port: number
  upstream: string
  resolver: string
  pages: boolean
  /** Proxies in front of web whose X-Forwarded-* headers count. */
  trustedProxies?: string[]
  log?: Pick<Logger, 'warn' | 'info'>
  answerMs?: number
}

/** Longest that central may take for one answer: an import of a large package is the slowest. */
const ANSWER_MS = 15 * 60_000
/** Longest that a request may take to arrive. */
const REQUEST_MS = 10 * 60_000

/**
 * The public face of a hub: hands `/api` and `/twins`, and unless they are turned off the pages, to central, and nothing else. Pages are
 * rendered where the data is, so nothing here reads a store. Central's name is looked up at each new connection, never
 * at start-up.
 */
export function webService(options: WebOptions): Service {
  const { host, port, upstream, resolver, pages, trustedProxies = [], answerMs = ANSWER_MS } = options
  const app = fastify({
    logger: false,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    requestTimeout: REQUEST_MS,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
    clientErrorHandler: refuseBytes,
  })
  const agent = new http.Agent({ keepAlive: true, lookup: lookupThrough(resolver) } as http.AgentOptions)
  const central = watchCentral(options)
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) => refuse(notFound(request), request, reply))
  app.addHook('onRequest', async request => {
    const judged = judgeAddress(request.raw.url ?? '', pages)
    if (judged === 'malformed') throw new Problem('bad_request', 'The address is not written plainly')
    if (judged === 'unknown') throw notFound(request)
  })
  app.register(proxy, {
    upstream: `http://${upstream}`,
    prefix: '/',
    rewritePrefix: '/',
    http: { agents: { 'http:': agent, 'https:': agent as never }, requestOptions: { timeout: answerMs } },
    replyOptions: {
      // 503 is an answer of central's, such as its health, and not a reason to ask again.
      retryDelay: () => null,
      rewriteRequestHeaders: forwardedHeaders,
      onResponse: (_request, reply, answer) => {
        central.answers()
        reply.send((answer as unknown as { stream: NodeJS.ReadableStream }).stream)
      },
      onError: (reply, { error }) =>
        void refuse(central.fails(error), reply.request as FastifyRequest, reply as unknown as FastifyReply),
    },
  })
  return { name: 'web', start: async () => void (await app.listen({ host, port })), stop: () => stop(app, agent) }
}

async function stop(app: FastifyInstance, agent: http.Agent): Promise<void> {
  agent.destroy()
  await app.close()
}

const notFound = ({ url }: Pick<FastifyRequest, 'url'>) => new Problem('not_found', `Nothing answers at ${url.split('?')[0]}`)

function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  return sendProblem(error, request, reply)
}

/**
 * Central compares a form's origin with the host that the browser asked, and counts logins by address. What a client says of
 * itself in such headers counts for nothing.
 */
function forwardedHeaders(request: unknown, headers: http.IncomingHttpHeaders): http.IncomingHttpHeaders {
  const { ip, protocol, host, headers: sent } = request as FastifyRequest
  const { forwarded: _forwarded, 'x-real-ip': _ip, 'x-forwarded-port': _port, ...others } = headers
  return { ...others, host: sent.host, 'x-forwarded-for': ip, 'x-forwarded-proto': protocol, 'x-forwarded-host': host }
}

/** One line of the log when central goes, and one when it is back; a client is told only that it does not answer. */
function watchCentral({ upstream, log }: Pick<WebOptions, 'upstream' | 'log'>) {
  let down = false
  return {
    answers() {
      if (down) log?.info({ upstream }, 'central answers again')
      down = false
    },
    fails(error: Error & { statusCode?: number; cause?: unknown }): Problem {
      if (error.statusCode === 504) return new Problem('central_timeout', 'Central did not answer in time')
      const { message } = (error.cause as Error | undefined) ?? error
      if (!down) log?.warn({ upstream, reason: message }, 'central does not answer')
      down = true
      return new Problem('central_unreachable', 'Central does not answer')
    },
  }
}

/** The Model Context Protocol over streamable HTTP. Each request is served for itself, so there are no sessions to bound. */
import { createMcpHandler, type McpServer, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Logger } from 'pino'
import { Problem } from '#shared/core/problem.ts'
import { isLoopback } from '#shared/node/auth/auth-settings.ts'
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { BEARER } from '#shared/node/auth/token.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'

/** Largest request: an hour of a thousand columns to append, or a small package. */
const BODY_MAX = 8 * 1024 * 1024
/** Requests in progress; each may hold an answer of central in memory. */
const REQUESTS_MAX = 16
/** Streams that wait for changes. The tools never change, so hardly a client opens one. */
const SUBSCRIPTIONS_MAX = 8
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
/** Headers that proxies add. A request through a proxy is not from this machine, whatever its address. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

type McpHttpOptions = {
  host: string
  port: number
  /** Names besides loopback under which callers reach the server. */
  hosts: string[]
  /** Used for callers on this machine that send none, where the server listens on loopback. */
  token: string | undefined
  /** Makes the server that answers one request of the caller with this token. */
  serverFor: (token: string) => McpServer
  version: string
  log: Logger
}

/** `POST /mcp`. Other sites' pages and unknown host names are refused, which is what stops DNS rebinding. */
export function openMcpHttp(options: McpHttpOptions): Promise<HttpService> {
  const { host, port, version, log } = options
  return openHttp({
    name: 'mcp',
    version,
    host,
    port,
    routes: [mcpRoute(options)],
    auth: openAuthWithoutUsers(log, Date.now),
    audit: undefined,
    log,
    trustedProxies: [],
  })
}

function mcpRoute({ host, hosts, token, serverFor, log }: McpHttpOptions): Route {
  const names = [...LOOPBACK_NAMES, ...hosts]
  const handler = createMcpHandler(({ authInfo }) => serverFor(authInfo!.token), {
    maxSubscriptions: SUBSCRIPTIONS_MAX,
    onerror: error => log.warn({ err: error }, 'request refused'),
  })
  let open = 0
  return route({
    method: 'POST',
    path: '/mcp',
    auth: 'public',
    summary: 'The Model Context Protocol over streamable HTTP; takes the token that central takes',
    bodyMax: BODY_MAX,
    problems: ['unauthenticated', 'forbidden', 'not_ready'],
    handle: async ({ request, reply }) => {
      assertHost(request, names)
      const own = tokenOf(request, isLoopback(host) ? token : undefined)
      if (open >= REQUESTS_MAX) throw new Problem('not_ready', `${REQUESTS_MAX} requests are in progress`)
      open++
      reply.raw.once('close', () => open--)
      const authInfo = { token: own, clientId: 'bearer', scopes: [] }
      return sendAnswer(await handler.fetch(webRequest(request, reply), { authInfo, parsedBody: request.body }), reply)
    },
  })
}

/** @throws Problem forbidden */
function assertHost({ headers }: FastifyRequest, names: string[]): void {
  const checks = [validateHostHeader(headers.host, names), validateOriginHeader(headers.origin, names)]
  if (checks.every(({ ok }) => ok)) return
  throw new Problem(
    'forbidden',
    `This server is not reached as ${headers.origin ?? headers.host}; SERVICE_MCP_HOSTS names how it is`,
  )
}

/**
 * A caller's own token is forwarded to central, which checks its role.
 *
 * @param shared for callers of this machine that send none
 * @throws Problem unauthenticated
 */
function tokenOf({ headers, ip }: FastifyRequest, shared: string | undefined): string {
  const [, own] = BEARER.exec(headers.authorization ?? '') ?? []
  if (own !== undefined) return own
  const isLocal = isLoopback(ip) && validateHostHeader(headers.host, LOOPBACK_NAMES).ok
  const isDirect = headers.origin === undefined && PROXY_HEADERS.every(name => headers[name] === undefined)
  if (headers.authorization === undefined && shared !== undefined && isLocal && isDirect) return shared
  throw new Problem('unauthenticated', 'Send Authorization: Bearer <token> with a token that central takes')
}

function webRequest({ headers, url }: FastifyRequest, { raw }: FastifyReply): Request {
  const ended = new AbortController()
  raw.once('close', () => ended.abort())
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  return new Request(new URL(url, 'http://localhost'), { method: 'POST', headers: given, signal: ended.signal })
}

function sendAnswer({ status, headers, body }: Response, reply: FastifyReply): FastifyReply {
  reply.code(status).headers(Object.fromEntries(headers))
  return reply.send(body === null ? null : Readable.fromWeb(body as ReadableStream))
}

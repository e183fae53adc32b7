import { lookup as systemLookup, type LookupAddress, Resolver } from 'node:dns'
import http from 'node:http'
import proxy from '@fastify/http-proxy'
import fastify from 'fastify'
import type { Service } from '#shared/node/service.ts'

export type WebOptions = { host: string; port: number; upstream: string; resolver: string; pages: boolean }

/** Longest that central may take for one answer: an import of a large package is the slowest. */
const ANSWER_MS = 15 * 60_000

/**
 * The public face of a hub: hands `/api` and `/twins`, and unless they are turned off the pages, to central. Pages are
 * rendered where the data is, so nothing here reads a store. Central's name is looked up at each new connection, never
 * at start-up.
 */
export function webService({ host, port, upstream, resolver, pages }: WebOptions): Service {
  const app = fastify({ logger: false })
  const agent = new http.Agent({ keepAlive: true, lookup: lookupThrough(resolver) } as http.AgentOptions)
  app.get('/health', () => ({ ok: true, service: 'web' }))
  for (const prefix of pages ? ['/'] : ['/api', '/twins']) {
    app.register(proxy, {
      upstream: `http://${upstream}`,
      prefix,
      rewritePrefix: prefix,
      http: { agents: { 'http:': agent, 'https:': agent as never }, requestOptions: { timeout: ANSWER_MS } },
      replyOptions: {
        // Central compares a form's origin with the host that the browser asked, and counts logins by address.
        rewriteRequestHeaders: (request, headers) => ({
          ...headers,
          host: request.headers.host,
          'x-forwarded-for': request.socket.remoteAddress,
        }),
        onError: (reply, { error }) => {
          const detail = `central at ${upstream} does not answer: ${error.message}`
          const body = {
            type: 'urn:plenum:problem:not_ready',
            title: 'Not ready',
            status: 502,
            detail,
            ok: false,
            error: detail,
            code: 'not_ready',
          }
          reply.code(502).type('application/problem+json').send(body)
        },
      },
    })
  }
  return {
    name: 'web',
    start: async () => {
      await app.listen({ host, port })
    },
    stop: async () => {
      agent.destroy()
      await app.close()
    },
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void

/** @param server a name server's address, or `auto` for what the system uses */
function lookupThrough(server: string) {
  if (server === 'auto') return systemLookup
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  resolver.setServers([server])
  return (name: string, options: { all?: boolean }, done: LookupCallback) => {
    resolver.resolve4(name, (error, addresses) => {
      if (error) return done(error, '')
      const found = addresses.map(address => ({ address, family: 4 }))
      return options.all ? done(null, found) : done(null, found[0]!.address, 4)
    })
  }
}

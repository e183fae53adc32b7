/** Answers RabbitMQ's questions of permission (rabbitmq_auth_backend_http) with the rule of topics. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Logger } from 'pino'
import { nameTable } from '#shared/core/name-table.ts'
import { mayEnter, mayLogIn, mayRoute, mayUse, type PermissionQuestion } from '#shared/core/topic/routing-key.ts'
import type { Service } from '#shared/node/service.ts'

/** The paths that rabbitmq.conf names, each with its rule. */
const RULES = nameTable<(question: PermissionQuestion) => boolean>({
  '/user': mayLogIn,
  '/vhost': mayEnter,
  '/resource': mayUse,
  '/topic': mayRoute,
})
/** Bytes of a question: a topic has at most 65,535 bytes, each of which may be written as three. */
const QUESTION_MAX = 256 * 1024
const REQUEST_MS = 5_000

type AuthorizerOptions = {
  /** The node of RabbitMQ that asks is on the same machine. */
  host: string
  /** 0 takes a free one. */
  port: number
  log: Logger
}

/** An HTTP server whose answers are `allow` and `deny`; a question that cannot be read is denied. */
export function rabbitmqAuthorizer({ host, port, log }: AuthorizerOptions): Service & { port(): number } {
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    void permissionOf(request).then(isAllowed => {
      if (!isAllowed) log.debug({ path: request.url }, 'permission denied')
      response.setHeader('content-type', 'text/plain').end(isAllowed ? 'allow' : 'deny')
    })
  })
  return {
    name: 'authorizer',
    port: () => portOf(server),
    async start() {
      server.listen(port, host)
      await once(server, 'listening')
      log.info({ host, port: portOf(server) }, 'permissions are answered to RabbitMQ')
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

async function permissionOf(request: IncomingMessage): Promise<boolean> {
  const rule = RULES[request.url ?? '']
  const body = rule && request.method === 'POST' ? await bodyOf(request).catch(() => undefined) : undefined
  return rule !== undefined && body !== undefined && rule(Object.fromEntries(new URLSearchParams(body)))
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > QUESTION_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

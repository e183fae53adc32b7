/**
 * Enrolment over Secure Transport for sites that have it: the certificates of the authority, a first certificate with a one-time
 * secret, and a new one with the present certificate. It has a port of its own, because its TLS asks for a client certificate.
 *
 * @source RFC 7030, 4.1 and 4.2
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import { parseIdentity } from '#shared/core/auth/identity.ts'
import { type EdgeAddress, edgeName } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { SECOND } from '#shared/core/time.ts'
import { limitConnections } from '#shared/node/http/open-connections.ts'
import type { AuditNote } from '#shared/node/http/route.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { certsOnly, requestName, toCsrPem } from '#shared/node/pki/pki.ts'
import type { Service } from '#shared/node/service.ts'
import type { Current } from '#shared/node/watched-files.ts'
import { tlsOptions, type TrustingPair } from '../broker/files.ts'
import type { Authority } from './authority.ts'
import type { EstSecrets } from './est-secrets.ts'
import { createRequestThrottle } from './request-throttle.ts'

const BASE = '/.well-known/est'
/** Largest request, bytes: that of a P-256 key has 600. */
const BODY_MAX = 16 * 1024
const REQUEST_MS = 30 * SECOND
/** A device opens one for each request; those of one network leave room for others, also when they say nothing. */
const CONNECTIONS = { perNetwork: 16, all: 64 }
const HANDSHAKE_MS = 10 * SECOND
/** Requests in a minute, of one network and together: a device needs two. */
const REQUESTS = { perNetwork: 30, all: 300 }

type EstOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Those of the broker, which is a server of the same names. */
  tls: Current<TrustingPair>
  authority: Pick<Authority, 'issue' | 'renew' | 'isRevoked' | 'trusted'>
  secrets: Pick<EstSecrets, 'use'>
  audit: (note: AuditNote) => void
  log: Logger
  /** Longest handshake, ms; longer in tests, for a machine that is slow. */
  handshakeMs?: number
}
type Answer = { type: string; base64: string }

/** Listens from start to stop. */
export function estService(options: EstOptions): Service & { port(): number } {
  const { host, port, tls, log, handshakeMs: handshakeTimeout = HANDSHAKE_MS } = options
  const throttle = createRequestThrottle(REQUESTS, Date.now)
  const limits = { requestCert: true, rejectUnauthorized: false, requestTimeout: REQUEST_MS, handshakeTimeout }
  const server: Server = createServer({ ...tlsOptions(tls.current()), ...limits }, (request, response) => {
    handle(options, throttle, request).then(
      answer => send(response, 200, answer.base64, { 'content-type': answer.type, 'content-transfer-encoding': 'base64' }),
      (error: unknown) => {
        if (!(error instanceof Problem)) log.error({ err: error }, 'EST request failed: answering with internal error')
        const { code, message } = error instanceof Problem ? error : { code: 'internal' as const, message: 'Internal error' }
        const more = code === 'unauthenticated' ? { 'www-authenticate': 'Basic realm="est"' } : {}
        send(response, PROBLEMS[code].status, `${message}\n`, { 'content-type': 'text/plain; charset=utf-8', ...more })
      },
    )
  })
  limitConnections(server, [], CONNECTIONS)
  tls.onChange(pair => server.setSecureContext(tlsOptions(pair)))
  return {
    name: 'est',
    async start() {
      server.listen(port, host)
      await once(server, 'listening')
      log.info({ host, port: (server.address() as AddressInfo).port }, 'EST listens')
    },
    async stop() {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    },
    port: () => (server.address() as AddressInfo).port,
  }
}

function send(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }).end(text)
}

type Throttle = ReturnType<typeof createRequestThrottle>

async function handle(options: EstOptions, throttle: Throttle, request: IncomingMessage): Promise<Answer> {
  const { method, url } = request
  const wait = throttle(request.socket.remoteAddress)
  if (wait > 0) throw new Problem('too_many_requests', `Too many requests; try again in ${wait} s`)
  if (method === 'GET' && url === `${BASE}/cacerts`) {
    return { type: 'application/pkcs7-mime', base64: certsOnly(await options.authority.trusted()) }
  }
  if (method !== 'POST') throw new Problem('not_found', `There is nothing at ${method} ${url}`)
  if (url === `${BASE}/simpleenroll`) return enrol(options, request)
  if (url === `${BASE}/simplereenroll`) return renew(options, request)
  throw new Problem('not_found', `There is nothing at ${method} ${url}`)
}

const issued = (cert_pem: string): Answer => ({
  type: 'application/pkcs7-mime; smime-type=certs-only',
  base64: certsOnly(cert_pem),
})

/** RFC 7030, 3.2.3: HTTP authentication of a client that has no certificate yet. */
async function enrol({ authority, secrets, audit }: EstOptions, request: IncomingMessage): Promise<Answer> {
  const given = /^Basic ([A-Za-z0-9+/=]{1,400})$/.exec(request.headers.authorization ?? '')
  const [username = '', password = ''] = given ? Buffer.from(given[1]!, 'base64').toString().split(':', 2) : []
  const csr_pem = await readRequest(request)
  const answer = await secrets.use(username, password, async edge => {
    const order = { ...edge, broker_host: 'localhost', broker_port: 8883, csr_pem, replace: false }
    const { kit, serial, not_after } = await authority.issue(order)
    audit({ subject: edgeName(edge), after: { serial, not_after, by: 'est' } })
    return issued(kit.cert_pem)
  })
  if (!answer) throw new Problem('unauthenticated', 'The user name and the one-time secret of the edge are needed')
  return answer
}

/** RFC 7030, 3.3.2 and 4.2.2: the certificate of the client decides, and the name of the request must be the same. */
async function renew({ authority, audit }: EstOptions, request: IncomingMessage): Promise<Answer> {
  const socket = request.socket as TLSSocket
  const peer = socket.authorized ? socket.getPeerX509Certificate() : undefined
  const cn = peer?.subject.replace(/^CN=/, '') ?? ''
  const identity = parseIdentity(cn)
  if (!peer || identity?.kind !== 'edge') throw new Problem('forbidden', 'A valid certificate of an edge is needed')
  if (await authority.isRevoked(serialOf(peer.serialNumber))) throw new Problem('forbidden', 'The certificate is revoked')
  const csr_pem = await readRequest(request)
  if (requestName(csr_pem) !== `CN=${cn}`) throw new Problem('invalid', `The request is not for ${cn}`)
  const { kind: _edge, ...address } = identity
  const edge: EdgeAddress = address
  const { cert_pem, serial, not_after } = await authority.renew(edge, csr_pem, { isProven: true })
  audit({ subject: edgeName(edge), after: { serial, not_after, by: 'est' } })
  return issued(cert_pem)
}

/** @returns the request as PEM. @throws Problem unsupported_media_type, too_large or invalid */
async function readRequest(request: IncomingMessage): Promise<string> {
  if (request.headers['content-type']?.split(';')[0]!.trim().toLowerCase() !== 'application/pkcs10') {
    throw new Problem('unsupported_media_type', 'The request is application/pkcs10 in base64')
  }
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > BODY_MAX) throw new Problem('too_large', `A request has at most ${BODY_MAX} bytes`)
    parts.push(part)
  }
  try {
    return toCsrPem(Buffer.concat(parts).toString())
  } catch (error) {
    throw new Problem('invalid', `The request cannot be read: ${(error as Error).message}`)
  }
}

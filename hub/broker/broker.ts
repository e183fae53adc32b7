/** The embedded broker: mutual TLS, identity and topics from the certificate, revocation that ends live sessions. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls'
import { Aedes, type Client } from 'aedes'
import type { Logger } from 'pino'
import { isIssuedBy } from '#shared/node/pki/broker-certificate.ts'
import type { Service } from '#shared/node/service.ts'
import { type AuthenticatedClient, sessionEndReason } from './client-auth.ts'
import { createConnectionLimits } from './connection-limits.ts'
import { type BrokerFiles, tlsOptions, type TrustingPair } from './files.ts'
import { GuardedStream } from './guarded-stream.ts'
import { createHandshakes } from './handshakes.ts'
import {
  CONNECT_MS,
  CONNECTIONS_MAX,
  KEEPALIVE_MAX_SECS,
  HANDSHAKE_MS,
  HANDSHAKES_MAX,
  HANDSHAKES_WAITING_MAX,
} from './limits.ts'
import { brokerPolicy } from './policy.ts'
import { createSessionLog } from './session-log.ts'

type BrokerOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** What changes in them counts at once: from the next handshake, and for the sessions that are open. */
  files: BrokerFiles
  log: Logger
}

/** A session ends within a second of its certificate. */
const LOOK_MS = 500
/** A refusal that comes again and again is logged once in this time. */
const QUIET_MS = 60_000
/** Refusals that are logged in that time at most, and the longest text: both come from outside. */
const LINES_MAX = 200
const TEXT_MAX = 300

type BrokerService = Service & {
  port(): number
  /** Names of the clients that are connected. */
  sessions(): string[]
  /** Connections and messages that were refused or failed since the start, also those that the log leaves out. */
  refused(): number
}

export function brokerService(options: BrokerOptions): BrokerService {
  const { log, files } = options
  const { tls, revoked } = files
  const sessions = new Map<Client, AuthenticatedClient>()
  const sockets = new Set<TLSSocket>()
  const { open } = createConnectionLimits(sockets)
  const handshakes = createHandshakes()
  const say = quietly(log, Date.now)
  let refused = 0
  const warn = (text: string) => {
    refused++
    say(text)
  }
  let server: Server | undefined
  let broker: Aedes | undefined
  let looking: NodeJS.Timeout | undefined

  const secure = secureServer(tls.current(), warn, socket => {
    handshakes.complete(socket)
    const entered = open(socket)
    if (entered.ok) broker?.handle(entered.stream)
    else warn(entered.reason)
  })
  const endWhere = (reasonOf: (guest: AuthenticatedClient) => string | undefined) => {
    for (const [client, guest] of sessions) {
      const reason = reasonOf(guest)
      if (reason === undefined) continue
      log.warn({ cn: guest.cn }, `session ended: ${reason}`)
      client.close()
    }
  }
  const sweep = () => endWhere(guest => sessionEndReason(guest, revoked.current(), Date.now()))
  const logged = createSessionLog(log, performance.now.bind(performance))
  revoked.onChange(sweep)
  tls.onChange(pair => {
    secure.setSecureContext(tlsOptions(pair))
    endWhere(({ raw }) =>
      isIssuedBy(new X509Certificate(raw), pair.ca_pem) ? undefined : 'its authority is not trusted any more',
    )
  })

  return {
    name: 'broker',
    async start() {
      const { hooks, apply } = brokerPolicy({ sessions, revoked: revoked.current, warn })
      broker = await Aedes.createBroker({ ...hooks, connectTimeout: CONNECT_MS, keepaliveLimit: KEEPALIVE_MAX_SECS })
      apply(broker)
      broker.on('clientReady', client => {
        logged.connected(client.id)
        if (client.conn instanceof GuardedStream) client.conn.accept()
      })
      broker.on('clientDisconnect', client => logged.disconnected(client.id))
      broker.on('clientError', (client, error) => warn(`${client.id}: ${error.message}`))
      broker.on('connectionError', ({ conn }, error) => {
        const who = conn instanceof GuardedStream ? conn.name : 'somebody'
        warn(`a connection of ${who} failed: ${error.message}`)
      })
      server = createServer({ pauseOnConnect: true }, socket => handshakes.enter(socket, () => secure.emit('connection', socket)))
      server.maxConnections = CONNECTIONS_MAX + HANDSHAKES_MAX + HANDSHAKES_WAITING_MAX
      server.listen(options.port, options.host)
      await once(server, 'listening')
      looking = setInterval(() => {
        sweep()
        logged.write()
      }, LOOK_MS)
      log.info({ host: options.host, port: portOf(server) }, 'broker listens')
    },
    async stop() {
      clearInterval(looking)
      const closing = broker
      broker = undefined
      if (closing) await new Promise<void>(resolve => closing.close(resolve))
      for (const socket of sockets) socket.destroy()
      handshakes.close()
      if (server?.listening) await new Promise(resolve => server?.close(resolve))
    },
    port: () => portOf(server),
    sessions: () => [...sessions.values()].map(({ cn }) => cn).toSorted(),
    refused: () => refused,
  }
}

function portOf(server: Server | undefined): number {
  const address = server?.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** Makes sessions of TCP connections that are handed to it; it does not listen. */
function secureServer(pair: TrustingPair, warn: Warn, onSession: (socket: TLSSocket) => void): TlsServer {
  const options = { ...tlsOptions(pair), handshakeTimeout: HANDSHAKE_MS, requestCert: true, rejectUnauthorized: true }
  const server = createTlsServer(options, onSession)
  server.on('tlsClientError', (error, { remoteAddress = 'somebody' }) => warn(`${remoteAddress} refused: ${error.message}`))
  return server
}

type Warn = (text: string) => void

/** Logs a text, and the same text again only after a while, so that nobody fills the log from outside. */
export function quietly(log: Pick<Logger, 'warn'>, clock: () => number): Warn {
  let said = new Set<string>()
  let since = -Infinity
  return whole => {
    const text = whole.slice(0, TEXT_MAX)
    const now = clock()
    if (now - since >= QUIET_MS) {
      said = new Set()
      since = now
    }
    if (said.has(text) || said.size > LINES_MAX) return
    said.add(text)
    log.warn(said.size > LINES_MAX ? 'more refusals follow than are logged in a minute' : text)
  }
}

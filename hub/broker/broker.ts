/** The embedded broker: mutual TLS, identity and topics from the certificate, revocation that ends live sessions. */
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { Aedes, type Client } from 'aedes'
import type { Logger } from 'pino'
import { readCrl } from '#shared/node/pki/pki.ts'
import type { Service } from '#shared/node/service.ts'
import { type AuthenticatedClient, sessionEndReason } from './client-auth.ts'
import { type ConnectionLimits, createConnectionLimits } from './connection-limits.ts'
import { GuardedStream } from './guarded-stream.ts'
import { CONNECT_MS, CONNECTIONS_MAX, HANDSHAKE_MS } from './limits.ts'
import { brokerPolicy } from './policy.ts'

type BrokerOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** One or more authorities. */
  ca_pem: string
  cert_pem: string
  key_pem: string
  /** List of revoked certificates; read again twice a second; undefined where there is none. */
  crlPath: string | undefined
  log: Logger
}

/** A revoked certificate loses its session within a second. */
const LOOK_MS = 500
/** A refusal that comes again and again is logged once in this time. */
const QUIET_MS = 60_000
/** Refusals that are logged in that time at most, and the longest text: both come from outside. */
const LINES_MAX = 200
const TEXT_MAX = 300

export function brokerService(options: BrokerOptions): Service & { port(): number; sessions(): string[] } {
  const { log } = options
  const sessions = new Map<Client, AuthenticatedClient>()
  const sockets = new Set<TLSSocket>()
  const warn = quietly(log, Date.now)
  const revoked = revocations(options)
  let server: Server | undefined
  let broker: Aedes | undefined
  let looking: NodeJS.Timeout | undefined

  const sweep = () => {
    for (const [client, guest] of sessions) {
      const reason = sessionEndReason(guest, revoked.serials(), Date.now())
      if (!reason) continue
      log.warn({ cn: guest.cn }, `session ended: ${reason}`)
      client.close()
    }
  }
  const look = async () => {
    await revoked.look().catch((error: Error) => warn(`the list of revoked certificates is kept as it was: ${error.message}`))
    sweep()
  }

  return {
    name: 'broker',
    async start() {
      await revoked.look()
      const { hooks, watch } = brokerPolicy({ sessions, revoked: revoked.serials, warn })
      broker = await Aedes.createBroker({ ...hooks, connectTimeout: CONNECT_MS })
      watch(broker)
      broker.on('clientReady', client => {
        log.info({ cn: client.id }, 'connected')
        if (client.conn instanceof GuardedStream) client.conn.accept()
      })
      broker.on('clientDisconnect', client => log.info({ cn: client.id }, 'disconnected'))
      broker.on('clientError', (client, error) => warn(`${client.id}: ${error.message}`))
      broker.on('connectionError', ({ conn }, error) => {
        const who = conn instanceof GuardedStream ? conn.name : 'somebody'
        warn(`a connection of ${who} failed: ${error.message}`)
      })
      server = listener(options, broker, createConnectionLimits(sockets), warn)
      server.listen(options.port, options.host)
      await once(server, 'listening')
      looking = setInterval(() => void look(), LOOK_MS)
      log.info({ host: options.host, port: portOf(server) }, 'broker listens')
    },
    async stop() {
      clearInterval(looking)
      const closing = broker
      broker = undefined
      if (closing) await new Promise<void>(resolve => closing.close(resolve))
      for (const socket of sockets) socket.destroy()
      if (server?.listening) await new Promise(resolve => server?.close(resolve))
    },
    port: () => portOf(server),
    sessions: () => [...sessions.values()].map(({ cn }) => cn).toSorted(),
  }
}

function portOf(server: Server | undefined): number {
  const address = server?.address()
  return typeof address === 'object' && address ? address.port : 0
}

function listener(
  { ca_pem, cert_pem, key_pem }: BrokerOptions,
  broker: Aedes,
  connections: ConnectionLimits,
  warn: Warn,
): Server {
  const tls = { ca: ca_pem, cert: cert_pem, key: key_pem, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS } as const
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, socket => {
    const entered = connections.open(socket)
    if (entered.ok) broker.handle(entered.stream)
    else warn(entered.reason)
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('connection', connections.startHandshake)
  server.on('tlsClientError', (error, { remoteAddress = 'somebody' }) => warn(`${remoteAddress} refused: ${error.message}`))
  return server
}

/** The serials of the list, read again when its file has changed. */
function revocations({ crlPath, ca_pem }: BrokerOptions) {
  let serials: ReadonlySet<string> = new Set()
  let seen: number | undefined
  return {
    serials: () => serials,
    /** @throws Error when the file cannot be read or is not the authority's; the previous list then stays in force */
    look: async () => {
      if (crlPath === undefined) return
      const { mtimeMs } = await stat(crlPath)
      if (mtimeMs === seen) return
      serials = await readCrl(await readFile(crlPath, 'utf8'), ca_pem)
      seen = mtimeMs
    },
  }
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

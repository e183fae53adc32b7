/** The embedded broker: mutual TLS, identity and topics from the certificate, revocation that ends live sessions. */
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { Aedes, type AedesOptions, type AuthenticateError, type Client } from 'aedes'
import type { Logger } from 'pino'
import { METADATA_MAX } from '#shared/core/telemetry/body.ts'
import { mayPublish, maySubscribe, type TopicRule, topicsOf } from '#shared/core/topic/rule.ts'
import { readCrl } from '#shared/node/pki.ts'
import type { Service } from '#shared/node/service.ts'
import { admit, type Guest, overstays } from './admission.ts'

export type BrokerOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** One or more authorities. */
  ca_pem: string
  cert_pem: string
  key_pem: string
  /** List of revoked certificates; looked at again every two seconds. Undefined: none is kept. */
  crlPath: string | undefined
  log: Logger
}

/** MQTT return codes of CONNACK. */
const REFUSED = { identifier: 2, notAuthorised: 5 } as const
const LOOK_MS = 2_000
const HANDSHAKE_MS = 10_000
/** Five times the edges that one hub is sized for. */
const CONNECTIONS_MAX = 5_000
/** A refusal that comes again and again is logged once in this time. */
const QUIET_MS = 60_000

export function brokerService(options: BrokerOptions): Service & { port(): number; sessions(): string[] } {
  const { log } = options
  const sessions = new Map<Client, Guest>()
  const sockets = new Set<TLSSocket>()
  const warn = quietly(log)
  const revoked = revocations(options)
  let server: Server | undefined
  let broker: Aedes | undefined
  let looking: NodeJS.Timeout | undefined

  const sweep = () => {
    for (const [client, guest] of sessions) {
      const reason = overstays(guest, revoked.serials(), Date.now())
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
      broker = await Aedes.createBroker(hooks(sessions, revoked.serials, warn))
      broker.on('clientReady', client => log.info({ cn: client.id }, 'connected'))
      broker.on('clientDisconnect', client => log.info({ cn: client.id }, 'disconnected'))
      broker.on('clientError', (client, error) => warn(`${client.id}: ${error.message}`))
      broker.on('connectionError', (_client, error) => warn(`a connection failed: ${error.message}`))
      server = listener(options, broker, sockets, warn)
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

function listener({ ca_pem, cert_pem, key_pem }: BrokerOptions, broker: Aedes, sockets: Set<TLSSocket>, warn: Warn): Server {
  const tls = { ca: ca_pem, cert: cert_pem, key: key_pem, minVersion: 'TLSv1.2', handshakeTimeout: HANDSHAKE_MS } as const
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    broker.handle(socket)
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('tlsClientError', (error, { remoteAddress = 'somebody' }) => warn(`${remoteAddress} refused: ${error.message}`))
  return server
}

/** The hooks of aedes. */
function hooks(sessions: Map<Client, Guest>, revoked: () => ReadonlySet<string>, warn: Warn): AedesOptions {
  /** Outlives the session, because a last will is published after it. */
  const rules = new WeakMap<Client, TopicRule>()
  const ruleOf = (client: Client | null) => client && rules.get(client)
  return {
    authenticate: (client, _username, _password, done) => {
      const refuse = (reason: string, returnCode: number) => {
        warn(`refused: ${reason}`)
        done(Object.assign(new Error(reason), { returnCode }) as AuthenticateError, false)
      }
      const admission = admit((client.conn as TLSSocket).getPeerCertificate(), client.id)
      if (!admission.ok) return refuse(admission.reason, REFUSED.identifier)
      const { guest } = admission
      const reason = overstays(guest, revoked(), Date.now())
      if (reason) return refuse(`${guest.cn}: ${reason}`, REFUSED.notAuthorised)
      rules.set(client, topicsOf(guest.identity))
      sessions.set(client, guest)
      client.conn.once('close', () => sessions.delete(client))
      done(null, true)
    },
    authorizePublish: (client, { topic, payload }, done) => {
      const rule = ruleOf(client)
      if (!rule || !mayPublish(rule, topic)) return done(new Error(`may not publish to ${topic}`))
      done(payload.length > METADATA_MAX ? new Error(`sent ${payload.length} bytes to ${topic}`) : null)
    },
    authorizeSubscribe: (client, subscription, done) => {
      const rule = ruleOf(client)
      if (rule && maySubscribe(rule, subscription.topic)) return done(null, subscription)
      warn(`${client.id} may not subscribe ${subscription.topic}`)
      done(null, null)
    },
  }
}

/** The serials of the list, read again when its file has changed. */
function revocations({ crlPath, ca_pem }: BrokerOptions) {
  let serials: ReadonlySet<string> = new Set()
  let seen: number | undefined
  return {
    serials: () => serials,
    /** @throws Error when the file cannot be read or is not the authority's; the list is then kept as it was */
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
function quietly(log: Logger): Warn {
  let said = new Map<string, number>()
  return text => {
    const now = Date.now()
    if (now - (said.get(text) ?? -Infinity) < QUIET_MS) return
    if (said.size >= 1_000) said = new Map()
    said.set(text, now)
    log.warn(text)
  }
}

/** One MQTT 3.1.1 session over mutual TLS, reconnected in the background. */
import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { connect, type IClientOptions, MqttClient } from 'mqtt'
import type { Logger } from 'pino'
import { afterLoss, NO_RETRY, retryMs } from '#shared/core/telemetry/retry.ts'
import { SECOND } from '#shared/core/time.ts'
import { isClockDoubt } from '#shared/node/pki/broker-certificate.ts'
import type { Pair } from '#shared/node/pki/pki.ts'
import { TLS_MINIMUM } from '#shared/node/pki/tls-minimum.ts'

/** Where a broker is, and the certificates of a session with it. */
export type BrokerEndpoint = Pair & { host: string; port: number; ca_pem: string }

type LinkOptions = {
  /** Asked at each attempt to connect. */
  endpoint: () => BrokerEndpoint
  /**
   * Asked where the broker's certificate is not valid at the time of this machine. @returns why it is refused, undefined to
   * accept it. Without it such a certificate is refused.
   */
  judgeBroker?: (peer: X509Certificate, endpoint: BrokerEndpoint) => string | undefined
  /** The certificate's common name. */
  clientId: string
  /** Retained. The broker publishes it when the session ends without a disconnect packet. */
  will?: { topic: string; payload: Buffer }
  /** Topic filters, QoS 1. */
  subscribe: string[]
  /** Called once for each connection, after it is connected and subscribed. */
  onUp: () => void
  /** @param endedSoon number of consecutive sessions that ended soon after they began, including this one */
  onDown: (reason: string, endedSoon: number) => void
  /** @param isRetained whether it is the copy that the broker keeps for new subscribers */
  onMessage: (topic: string, payload: Buffer, isRetained: boolean) => void
  log: Logger
}

/** The session as a service uses it. */
export type Link = {
  isUp(): boolean
  /**
   * Publishes with QoS 1. Resolves when the broker has the message, which does not mean that central has stored it; rejects
   * when the connection ends before.
   */
  publish(topic: string, payload: Buffer, options?: { retain: boolean }): Promise<void>
  start(): void
  /** Ends the session and begins another one at once. */
  reconnect(): Promise<void>
  stop(): Promise<void>
}

const CONNECT_MS = 15_000
/** How long a session may take to end in good order. */
const END_MS = 3 * SECOND
const KEEPALIVE_SECS = 30

/**
 * Creates a link that connects when started and again, at growing intervals, whenever the connection ends. Sessions are clean:
 * the broker stores no messages, because the outbox does.
 */
export const mqttLink = (options: LinkOptions): Link => new MqttLink(options)

class MqttLink implements Link {
  readonly #options: LinkOptions
  #client: MqttClient | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #isStopped = false
  #isUp = false
  /** End of the session before this one. */
  #ending: Promise<void> | undefined
  #upSince: number | undefined
  #retry = NO_RETRY
  /** Reason of the last logged loss, so that a repeated one is not logged again. */
  #loggedReason = ''

  constructor(options: LinkOptions) {
    this.#options = options
  }

  isUp(): boolean {
    return this.#isUp
  }

  async publish(topic: string, payload: Buffer, { retain } = { retain: false }): Promise<void> {
    // MqttClient would keep it until it is connected, and say nothing when it never is.
    if (!this.#client?.connected) throw new Error('not connected to the broker')
    await this.#client.publishAsync(topic, payload, { qos: 1, retain })
  }

  start(): void {
    this.#connect(undefined)
  }

  async reconnect(): Promise<void> {
    const client = this.#client
    if (!client || this.#isStopped) return
    this.#client = undefined
    this.#isUp = false
    this.#upSince = undefined
    this.#options.onDown('connecting again', 0)
    this.#ending = endSession(client)
    await this.#ending
    if (!this.#isStopped) this.start()
  }

  /** @param judge of the broker's certificate, after TLS could not accept it at the time of this machine */
  #connect(judge: LinkOptions['judgeBroker']): void {
    const endpoint = this.#options.endpoint()
    const options = connectOptions(endpoint, this.#options)
    const client = judge
      ? new MqttClient(owner => judgedSocket(owner, endpoint, peer => judge(peer, endpoint)), options)
      : connect(options)
    let reason = 'the connection ended'
    let isDoubted = false
    this.#client = client
    client.on('error', error => {
      reason = error.message || error.name
      isDoubted = isClockDoubt(error)
    })
    client.on('close', () => {
      const { judgeBroker } = this.#options
      if (!isDoubted || judge || !judgeBroker || this.#client !== client) return this.#lose(client, endpoint, reason)
      client.end(true)
      this.#connect(judgeBroker)
    })
    client.on('message', (topic, payload, { retain }) => {
      if (this.#client === client) this.#options.onMessage(topic, payload, retain)
    })
    client.on('connect', () => this.#subscribe(client, endpoint))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retryTimer)
    const client = this.#client
    this.#client = undefined
    this.#isUp = false
    await this.#ending
    if (client) await endSession(client)
  }

  #subscribe(client: MqttClient, endpoint: BrokerEndpoint): void {
    const { subscribe, onUp, log } = this.#options
    const { host, port } = endpoint
    client.subscribe(subscribe, { qos: 1 }, (error, granted) => {
      if (this.#client !== client) return
      const refused = granted?.filter(({ qos }) => qos > 1).map(({ topic }) => topic) ?? []
      if (error || refused.length > 0) {
        return this.#lose(client, endpoint, error?.message ?? `may not subscribe ${refused.join(', ')}`)
      }
      this.#upSince = performance.now()
      this.#loggedReason = ''
      this.#isUp = true
      log.info({ host, port }, 'connected to the broker')
      onUp()
    })
  }

  /** Ends a lost connection and starts the next one after a pause. */
  #lose(lost: MqttClient, { host, port }: BrokerEndpoint, reason: string): void {
    if (this.#client !== lost) return
    this.#client = undefined
    lost.end(true)
    const { log, onDown } = this.#options
    if (this.#isUp || reason !== this.#loggedReason) log.warn({ host, port }, `not connected to the broker: ${reason}`)
    this.#loggedReason = reason
    this.#isUp = false
    this.#retry = afterLoss(this.#retry, this.#upSince === undefined ? undefined : performance.now() - this.#upSince)
    this.#upSince = undefined
    onDown(reason, this.#retry.ended)
    if (!this.#isStopped) this.#retryTimer = setTimeout(() => this.start(), retryMs(this.#retry, Math.random()))
  }
}

/**
 * Ends a session in good order, and the connection where that takes too long. MqttClient alone waits for acknowledgements without
 * end, also when the connection is lost meanwhile.
 */
async function endSession(client: MqttClient): Promise<void> {
  if (client.connected) {
    const closed = new Promise<void>(resolve => client.once('close', resolve))
    const late = setTimeout(() => client.stream.destroy(), END_MS)
    client.end()
    await closed
    clearTimeout(late)
    // While it waits, MqttClient does nothing at a second call.
    client.disconnecting = false
  }
  // What was not acknowledged is rejected.
  await client.endAsync(true)
}

/**
 * A TLS socket whose peer is judged by us. What is written before is no secret: a CONNECT packet with the public name of this
 * client. Nothing that the peer sends is read before it was judged.
 */
function judgedSocket(
  owner: MqttClient,
  { host, port, ca_pem, cert_pem, key_pem }: BrokerEndpoint,
  judge: (peer: X509Certificate) => string | undefined,
): TLSSocket {
  const certificates = { ca: ca_pem, cert: cert_pem, key: key_pem, ...TLS_MINIMUM } as const
  const servername = isIP(host) ? {} : { servername: host }
  const socket = connectTls({ host, port, ...certificates, ...servername, rejectUnauthorized: false })
  socket.once('secureConnect', () => {
    const peer = socket.getPeerX509Certificate()
    const refusal = peer ? judge(peer) : 'the broker has shown no certificate'
    if (refusal !== undefined) socket.destroy(new Error(refusal))
  })
  socket.on('error', error => owner.emit('error', error))
  return socket
}

function connectOptions(
  { host, port, ca_pem, cert_pem, key_pem }: BrokerEndpoint,
  { clientId, will }: LinkOptions,
): IClientOptions {
  return {
    protocol: 'mqtts',
    host,
    port,
    ca: ca_pem,
    cert: cert_pem,
    key: key_pem,
    rejectUnauthorized: true,
    clientId,
    protocolVersion: 4,
    clean: true,
    reconnectPeriod: 0,
    resubscribe: false,
    connectTimeout: CONNECT_MS,
    keepalive: KEEPALIVE_SECS,
    // The package would keep a buffer for each of the 65,536 numbers that a packet can have: 8 MB.
    writeCache: false,
    ...(will ? { will: { ...will, qos: 1, retain: true } } : {}),
  }
}

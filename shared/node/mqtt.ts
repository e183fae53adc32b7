/** One MQTT 3.1.1 session over mutual TLS, reconnected in the background. */
import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import type { Logger } from 'pino'
import { afterLoss, NO_RETRY, retryMs } from '#shared/core/telemetry/retry.ts'
import type { Pair } from '#shared/node/pki/pki.ts'

type LinkOptions = Pair & {
  host: string
  port: number
  ca_pem: string
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
  onMessage: (topic: string, payload: Buffer) => void
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
  stop(): Promise<void>
}

const CONNECT_MS = 15_000
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
    if (!this.#client) throw new Error('not connected to the broker')
    await this.#client.publishAsync(topic, payload, { qos: 1, retain })
  }

  start(): void {
    const client = connect(connectOptions(this.#options))
    let reason = 'the connection ended'
    this.#client = client
    client.on('error', error => (reason = error.message || error.name))
    client.on('close', () => this.#lose(client, reason))
    client.on('message', (topic, payload) => {
      if (this.#client === client) this.#options.onMessage(topic, payload)
    })
    client.on('connect', () => this.#subscribe(client))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#retryTimer)
    const client = this.#client
    this.#client = undefined
    this.#isUp = false
    if (client) await client.endAsync(!client.connected)
  }

  #subscribe(client: MqttClient): void {
    const { subscribe, onUp, log, host, port } = this.#options
    client.subscribe(subscribe, { qos: 1 }, (error, granted) => {
      if (this.#client !== client) return
      const refused = granted?.filter(({ qos }) => qos > 1).map(({ topic }) => topic) ?? []
      if (error || refused.length > 0) {
        return this.#lose(client, error?.message ?? `may not subscribe ${refused.join(', ')}`)
      }
      this.#upSince = performance.now()
      this.#loggedReason = ''
      this.#isUp = true
      log.info({ host, port }, 'connected to the broker')
      onUp()
    })
  }

  /** Ends a lost connection and starts the next one after a pause. */
  #lose(lost: MqttClient, reason: string): void {
    if (this.#client !== lost) return
    this.#client = undefined
    lost.end(true)
    const { host, port, log, onDown } = this.#options
    if (this.#isUp || reason !== this.#loggedReason) log.warn({ host, port }, `not connected to the broker: ${reason}`)
    this.#loggedReason = reason
    this.#isUp = false
    this.#retry = afterLoss(this.#retry, this.#upSince === undefined ? undefined : performance.now() - this.#upSince)
    this.#upSince = undefined
    onDown(reason, this.#retry.ended)
    if (!this.#isStopped) this.#retryTimer = setTimeout(() => this.start(), retryMs(this.#retry, Math.random()))
  }
}

function connectOptions({ host, port, ca_pem, cert_pem, key_pem, clientId, will }: LinkOptions): IClientOptions {
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
    ...(will ? { will: { ...will, qos: 1, retain: true } } : {}),
  }
}

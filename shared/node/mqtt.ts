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
 * Makes a link that connects when started and again, at growing intervals, whenever the connection ends. Sessions are
 * clean: nothing waits in a broker, because what matters waits in the outbox.
 */
export function mqttLink(options: LinkOptions): Link {
  const { log, subscribe, onUp, onDown, onMessage } = options
  let client: MqttClient | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let isUp = false
  let upSince: number | undefined
  let retry = NO_RETRY
  let said = ''

  const lose = (lost: MqttClient, reason: string) => {
    if (client !== lost) return
    client = undefined
    lost.end(true)
    if (isUp || reason !== said) log.warn({ host: options.host, port: options.port }, `not connected to the broker: ${reason}`)
    said = reason
    isUp = false
    retry = afterLoss(retry, upSince === undefined ? undefined : performance.now() - upSince)
    upSince = undefined
    onDown(reason, retry.ended)
    if (!stopped) timer = setTimeout(open, retryMs(retry, Math.random()))
  }

  const open = () => {
    const opened = connect(connectOptions(options))
    let reason = 'the connection ended'
    client = opened
    opened.on('error', error => (reason = error.message || error.name))
    opened.on('close', () => lose(opened, reason))
    opened.on('message', (topic, payload) => {
      if (client === opened) onMessage(topic, payload)
    })
    opened.on('connect', () => {
      opened.subscribe(subscribe, { qos: 1 }, (error, granted) => {
        if (client !== opened) return
        const refused = granted?.filter(({ qos }) => qos > 1).map(({ topic }) => topic) ?? []
        if (error || refused.length > 0) return lose(opened, error?.message ?? `may not subscribe ${refused.join(', ')}`)
        upSince = performance.now()
        said = ''
        isUp = true
        log.info({ host: options.host, port: options.port }, 'connected to the broker')
        onUp()
      })
    })
  }

  return {
    isUp: () => isUp,
    publish: async (topic, payload, { retain } = { retain: false }) => {
      if (!client) throw new Error('not connected to the broker')
      await client.publishAsync(topic, payload, { qos: 1, retain })
    },
    start: open,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      const ending = client
      client = undefined
      isUp = false
      if (ending) await ending.endAsync(!ending.connected)
    },
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

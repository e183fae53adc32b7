/** Publishes readings, findings and status to the hub over one MQTTS session with the kit's certificate. Polling never waits for it. */
import { X509Certificate } from 'node:crypto'
import { errorText } from '#shared/core/error-text.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readNotices } from '#shared/core/telemetry/notice.ts'
import { readAck, writeLastWill } from '#shared/core/telemetry/status.ts'
import { type Topic, topicOf } from '#shared/core/topic/topics.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { type Link, mqttLink } from '#shared/node/mqtt.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { type Publisher, type PublisherOptions, type PublisherParts, publisherParts, type PublisherState } from './publisher.ts'

type MqttPublisherOptions = PublisherOptions & {
  kit: Kit
  /** Answers requests that the hub sends over the broker; without it the edge subscribes to none. */
  answer?: ((payload: Uint8Array) => object | undefined) | undefined
}

/** How often status goes out while connected, ms. */
const STATUS_MS = 60_000
/** This many sessions in a row that end soon after they began are not ended by chance. */
const ENDED_SOON = 3

export class MqttPublisher implements Publisher {
  readonly name = 'mqtt publisher'
  readonly #options: MqttPublisherOptions
  readonly #link: Link
  readonly #parts: PublisherParts
  readonly #acks
  #reason: string | undefined
  #statusTimer: NodeJS.Timeout | undefined
  /** Of the metadata that this session has published. */
  #publishedRevision: number | undefined

  constructor(options: MqttPublisherOptions) {
    const { kit, edge, answer, log } = options
    this.#options = options
    this.#acks = failureLog(log, 'acknowledgement not processed', 'acknowledgements are processed again')
    this.#link = mqttLink({
      ...kit,
      host: kit.edge.broker_host,
      port: kit.edge.broker_port,
      clientId: commonName({ kind: 'edge', ...kit.edge }),
      will: { topic: this.#topic('status'), payload: packBody(writeLastWill(edge.boot_id)) },
      subscribe: [this.#topic('acks'), ...(answer ? [this.#topic('requests')] : [])],
      onUp: () => void this.#connected(),
      onDown: (reason, endedSoon) => this.#disconnected(reason, endedSoon),
      onMessage: (name, payload) => (name === this.#topic('requests') ? this.#respond(payload) : this.#receive(payload)),
      log,
    })
    this.#parts = publisherParts(options, {
      destination: 'hub',
      cert_not_after: Date.parse(new X509Certificate(kit.cert_pem).validTo),
      publish: (topic, body) => this.#link.publish(topicOf({ ...topic, tenant_id: kit.edge.tenant_id }), packBody(body)),
    })
  }

  async start(): Promise<void> {
    this.#link.start()
  }

  async stop(): Promise<void> {
    clearInterval(this.#statusTimer)
    this.#parts.sender.disconnected()
    // Otherwise the broker publishes the last will only after it has found the connection closed.
    if (this.#link.isUp()) await this.#publishStatus(false)
    await this.#link.stop()
  }

  announce(): void {
    if (this.#link.isUp()) void this.#publishStatus(true)
  }

  state(): PublisherState {
    return this.#parts.state({ isUp: this.#link.isUp(), reason: this.#reason })
  }

  #topic(kind: Exclude<Topic['kind'], 'telemetry'>): string {
    const { tenant_id, site_id, edge_id } = this.#options.kit.edge
    return topicOf({ tenant_id, site_id, edge_id, kind })
  }

  /** Publishes metadata and status before readings: the hub accepts readings only of an edge that it knows. */
  async #connected(): Promise<void> {
    this.#reason = undefined
    this.#publishedRevision = undefined
    await this.#publishStatus(true)
    if (!this.#link.isUp()) return
    this.#parts.sender.connected()
    clearInterval(this.#statusTimer)
    this.#statusTimer = setInterval(() => void this.#publishStatus(true), STATUS_MS)
  }

  #disconnected(reason: string, endedSoon: number): void {
    this.#reason = reasonOf(reason, endedSoon, this.#parts.hasConflict())
    this.#parts.sender.disconnected()
    clearInterval(this.#statusTimer)
  }

  #receive(payload: Buffer): void {
    const { log } = this.#options
    const body = unpackBody(payload, SMALL_MAX)
    if (body.ok && 'notices' in body.value) {
      const notices = readNotices(body.value)
      return notices.ok
        ? this.#parts.receiveNotices(notices.value)
        : log.warn(`notice of the hub not readable: ${notices.reason}`)
    }
    const ack = body.ok ? readAck(body.value) : body
    if (!ack.ok) return log.warn(`acknowledgement not readable: ${ack.reason}`)
    this.#parts.checkBootIds(ack.value.boot_ids)
    this.#parts.sender.acknowledged(ack.value).then(this.#acks.worked, this.#acks.failed)
  }

  #respond(payload: Buffer): void {
    const response = this.#options.answer?.(payload)
    if (!response) return
    const sent = this.#link.publish(this.#topic('responses'), packBody(response))
    sent.catch((error: Error) => this.#options.log.debug(`response not sent: ${error.message}`))
  }

  /** Publishes metadata when it has changed, and status. After a failure both are published with the next status. */
  async #publishStatus(online: boolean): Promise<void> {
    const { edge, kit, log } = this.#options
    const metadata = writeMetadata(kit.edge.site_id, kit.edge.edge_id, edge.model())
    const isNew = metadata.revision !== this.#publishedRevision || this.#parts.notices.isMetadataRefused()
    try {
      if (online && isNew) await this.#publishRetained('metadata', metadata)
      this.#publishedRevision = metadata.revision
      await this.#publishRetained('status', this.#parts.status(online))
    } catch (error) {
      log.debug(`status not sent: ${errorText(error)}`)
    }
  }

  #publishRetained(kind: 'metadata' | 'status', body: object): Promise<void> {
    return this.#link.publish(this.#topic(kind), packBody(body), { retain: true })
  }
}

/** A broker of MQTT 3.1.1 cannot say why it ends a session, so repeated endings are explained here. */
function reasonOf(reason: string, endedSoon: number, isShared: boolean): string {
  if (isShared && endedSoon > 0) return 'The other process took the session over; both now take turns, a minute at most'
  if (endedSoon < ENDED_SOON) return reason
  return `${reason}; the broker has ended ${endedSoon} sessions in a row, as it does when another process connects as this edge`
}

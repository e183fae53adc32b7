/** Publishes readings, findings and status to the hub over one MQTTS session with the kit's certificate. Polling never waits for it. */
import type { X509Certificate } from 'node:crypto'
import { errorText } from '#shared/core/error-text.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeLive } from '#shared/core/telemetry/live.ts'
import { readNotices } from '#shared/core/telemetry/notice.ts'
import { isStatusAnswer, readAck, readStatusAnswer, writeLastWill } from '#shared/core/telemetry/status.ts'
import { type Topic, topicOf } from '#shared/core/topic/topics.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { type BrokerEndpoint, type Link, mqttLink } from '#shared/node/mqtt.ts'
import { refusalOfBroker } from '#shared/node/pki/broker-certificate.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import type { EdgeKits } from '../kit/edge-kits.ts'
import { timeSynced } from '#shared/node/machine.ts'
import type { Responder } from './responder.ts'
import { WINDOW_MAX } from '../core/outbox/send-window.ts'
import { type Publisher, type PublisherOptions, type PublisherParts, publisherParts, type PublisherState } from './publisher.ts'

type MqttPublisherOptions = PublisherOptions & {
  kits: EdgeKits
  /** Answers requests that the hub sends over the broker; without it the edge subscribes to none. */
  answer?: Responder | undefined
}

/** How often status goes out while connected, ms. */
const STATUS_MS = 60_000
/** How often the newest readings go out while the stream is behind, ms. */
const LIVE_MS = 15_000
/** This many sessions in a row that end soon after they began are not ended by chance. */
const ENDED_SOON = 3

export class MqttPublisher implements Publisher {
  readonly name = 'mqtt publisher'
  readonly #options: MqttPublisherOptions
  readonly #link: Link
  readonly #parts: PublisherParts
  readonly #acks
  /** Kit of the session, or of the last attempt. */
  #kit: Kit
  #wasUp = false
  #isStopped = false
  #reason: string | undefined
  /** Whether the hub has sent anything in this session. */
  #isHeard = false
  #statusTimer: NodeJS.Timeout | undefined
  #liveTimer: NodeJS.Timeout | undefined
  /** Of the metadata that this session has published. */
  #publishedRevision: number | undefined

  constructor(options: MqttPublisherOptions) {
    const { kits, edge, answer, log } = options
    this.#options = options
    this.#kit = kits.current()
    this.#acks = failureLog(log, 'acknowledgement not processed', 'acknowledgements are processed again')
    this.#link = mqttLink({
      endpoint: () => this.#endpoint(),
      judgeBroker: (peer, endpoint) => this.#judgeBroker(peer, endpoint),
      clientId: commonName({ kind: 'edge', ...this.#kit.edge }),
      will: { topic: this.#topic('status'), payload: packBody(writeLastWill(edge.boot_id)) },
      subscribe: [this.#topic('acks'), ...(answer ? [this.#topic('requests')] : [])],
      onUp: () => void this.#connected(),
      onDown: (reason, endedSoon) => this.#disconnected(reason, endedSoon),
      onMessage: (name, payload) => (name === this.#topic('requests') ? void this.#respond(payload) : this.#receive(payload)),
      log,
    })
    this.#parts = publisherParts(options, {
      destination: 'hub',
      certificate: () => ({
        not_after: kits.life().to,
        isRenewalDue: now => kits.isRenewalDue(now),
        isPortRenewalDue: now => kits.isPortRenewalDue(now),
      }),
      publish: (topic, body) => this.#link.publish(topicOf({ ...topic, tenant_id: this.#kit.edge.tenant_id }), packBody(body)),
    })
  }

  async start(): Promise<void> {
    this.#link.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#clearTimers()
    this.#parts.sender.disconnected()
    // Otherwise the broker publishes the last will only after it has found the connection closed. The end of the session waits for it.
    if (this.#link.isUp()) void this.#publishStatus(false)
    await this.#link.stop()
  }

  announce(): void {
    if (this.#link.isUp()) void this.#publishStatus(true)
  }

  clockWasSet(): void {
    this.#parts.clockWasSet()
  }

  state(): PublisherState {
    return this.#parts.state({ isUp: this.#link.isUp(), reason: this.#reason })
  }

  #topic(kind: Exclude<Topic['kind'], 'telemetry'>): string {
    const { tenant_id, site_id, edge_id } = this.#kit.edge
    return topicOf({ tenant_id, site_id, edge_id, kind })
  }

  #endpoint(): BrokerEndpoint {
    this.#kit = this.#options.kits.current()
    const { ca_pem, cert_pem, key_pem, edge } = this.#kit
    return { ca_pem, cert_pem, key_pem, host: edge.broker_host, port: edge.broker_port }
  }

  /**
   * The certificate of the broker is not valid at the time of this machine. Where no time server sets the clock nothing is said
   * for this time; otherwise it may still be the time that the hub has told over an earlier session.
   */
  #judgeBroker(peer: X509Certificate, endpoint: BrokerEndpoint): string | undefined {
    const { clock, log } = this.#options
    const now = clock.now()
    const times = timeSynced() === true ? [now, now - (this.#parts.clockOffset() ?? 0)] : []
    const refusal = refusalOfBroker(peer, { ...endpoint, times })
    if (refusal === undefined) log.warn('the certificate of the broker is not valid by the clock of this machine: set the clock')
    return refusal
  }

  /** Publishes metadata and status before readings: the hub accepts readings only of an edge that it knows. */
  async #connected(): Promise<void> {
    this.#reason = undefined
    this.#wasUp = true
    this.#publishedRevision = undefined
    this.#isHeard = false
    void this.#options.kits.worked(this.#kit)
    await this.#publishStatus(true)
    await this.#publishLive()
    if (this.#isStopped || !this.#link.isUp()) return
    this.#parts.sender.connected()
    this.#clearTimers()
    this.#statusTimer = setInterval(() => void this.#publishStatus(true), STATUS_MS)
    this.#liveTimer = setInterval(() => void this.#publishLive(), LIVE_MS)
  }

  #disconnected(reason: string, endedSoon: number): void {
    // A session that was open shows that the kit is right, whatever has ended it.
    if (!this.#wasUp) this.#options.kits.failed()
    this.#wasUp = false
    this.#reason = reasonOf(reason, endedSoon)
    this.#parts.sender.disconnected()
    this.#clearTimers()
  }

  #receive(payload: Buffer): void {
    const { log } = this.#options
    this.#isHeard = true
    const body = unpackBody(payload, SMALL_MAX)
    const isAnswer = body.ok && isStatusAnswer(body.value)
    if (isAnswer) {
      const answer = readStatusAnswer(body.value)
      if (answer.ok) this.#parts.statusAnswered(answer.value)
      else log.warn(`time of the hub not readable: ${answer.reason}`)
    }
    if (body.ok && 'notices' in body.value) {
      const notices = readNotices(body.value)
      return notices.ok
        ? this.#parts.receiveNotices(notices.value)
        : log.warn(`notice of the hub not readable: ${notices.reason}`)
    }
    if (isAnswer) return
    const ack = body.ok ? readAck(body.value) : body
    if (!ack.ok) return log.warn(`acknowledgement not readable: ${ack.reason}`)
    this.#parts.sender.acknowledged(ack.value).then(this.#acks.worked, this.#acks.failed)
  }

  async #respond(payload: Buffer): Promise<void> {
    const { answer, kits, log } = this.#options
    const response = await answer?.(payload)
    if (!response) return
    await this.#link
      .publish(this.#topic('responses'), packBody(response))
      .catch((error: Error) => log.debug(`response not sent: ${error.message}`))
    // The answer to the request was to install a certificate, which the session uses from now on.
    if (kits.current() !== this.#kit && this.#link.isUp()) await this.#link.reconnect()
  }

  /**
   * Publishes metadata when it has changed, and status. After a failure both are published with the next status, and also while the hub
   * has said nothing in this session: a broker of MQTT 3.1.1 acknowledges what it denies, and without metadata the hub stores nothing.
   */
  async #publishStatus(online: boolean): Promise<void> {
    const { edge, log } = this.#options
    const { site_id, edge_id } = this.#kit.edge
    const metadata = writeMetadata(site_id, edge_id, edge.model())
    const isNew = !this.#isHeard || metadata.revision !== this.#publishedRevision || this.#parts.notices.isMetadataRefused()
    try {
      if (online && isNew) await this.#publishRetained('metadata', metadata)
      this.#publishedRevision = metadata.revision
      await this.#publishRetained('status', this.#parts.status(online))
    } catch (error) {
      log.debug(`status not sent: ${errorText(error)}`)
    }
  }

  /** Publishes the newest readings while the stream is behind. The hub shows them and stores those of the stream. */
  async #publishLive(): Promise<void> {
    const { edge, log } = this.#options
    if (this.#parts.sender.state().backlog <= WINDOW_MAX) return
    const { building_id } = edge.model().building
    const { tenant_id, site_id, edge_id } = this.#kit.edge
    try {
      for (const { protocol, readings } of edge.newestReadings()) {
        const topic = topicOf({ tenant_id, site_id, edge_id, kind: 'telemetry', protocol })
        await this.#link.publish(topic, packBody(writeLive({ building_id, protocol, readings })))
      }
    } catch (error) {
      log.debug(`newest readings not sent: ${errorText(error)}`)
    }
  }

  #clearTimers(): void {
    clearInterval(this.#statusTimer)
    clearInterval(this.#liveTimer)
  }

  #publishRetained(kind: 'metadata' | 'status', body: object): Promise<void> {
    return this.#link.publish(this.#topic(kind), packBody(body), { retain: true })
  }
}

/** A broker of MQTT 3.1.1 cannot say why it ends a session, so repeated endings are explained here. */
function reasonOf(reason: string, endedSoon: number): string {
  if (endedSoon < ENDED_SOON) return reason
  return `${reason}; the broker has ended ${endedSoon} sessions in a row, as it does when another process connects as this edge`
}

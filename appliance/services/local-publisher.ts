/** Sends readings, findings and status to the central on this box: one message at a time over HTTP, each answered when it is stored (contract §10). */
import { type HeardNotice, readNotices } from '#shared/core/telemetry/notice.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import type { Ack } from '#shared/core/telemetry/status.ts'
import { SECOND } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { OutgoingMessage } from '../sinks/outbox-reader.ts'
import { centralClient, type IngestAnswer, readIngestAnswer } from './central-client.ts'
import { type Publisher, type PublisherOptions, type PublisherParts, publisherParts, type PublisherState } from './publisher.ts'

type LocalPublisherOptions = PublisherOptions & {
  /** Address of central, and the token that it accepts. */
  central: { url: string; token: string }
}

/** How often status goes out; central takes an edge for offline after 90 s. */
const STATUS_MS = 20 * SECOND
/** How long after a failure the next attempt is made. */
const RETRY_MS = { first: SECOND, longest: 30 * SECOND }

/** Runs until stopped; central may be away for as long as the outbox has room. */
export class LocalPublisher implements Publisher {
  readonly name = 'local publisher'
  readonly #options: LocalPublisherOptions
  readonly #ending = new AbortController()
  readonly #post
  readonly #parts: PublisherParts
  /** Central takes messages in their order, so one request follows the other. */
  readonly #inTurn = createSerialQueue()
  #isUp = false
  #isStopped = false
  #reason: string | undefined
  #retryMs = RETRY_MS.first
  #timer: NodeJS.Timeout | undefined
  /** The metadata that central has. */
  #known: { revision: unknown; points: Set<string> } = { revision: undefined, points: new Set() }

  constructor(options: LocalPublisherOptions) {
    this.#options = options
    this.#post = centralClient(options.central, this.#ending.signal)
    this.#parts = publisherParts(options, {
      destination: 'central',
      certificate: () => null,
      publish: (_topic, body, outgoing) => this.#inTurn(() => this.#sendMessage(body, outgoing)),
    })
  }

  async start(): Promise<void> {
    void this.#sendStatus()
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#parts.sender.disconnected()
    const wasUp = this.#isUp
    this.#isUp = false
    const offline = this.#status(false)
    if (wasUp) await this.#inTurn(() => this.#post('/api/ingest/local/status', offline)).catch(() => undefined)
    this.#ending.abort()
    await this.#inTurn(async () => undefined)
  }

  announce(): void {
    // While central is away, the next attempt sends the status of that time.
    if (!this.#isStopped && this.#reason === undefined) void this.#sendStatus()
  }

  state(): PublisherState {
    return this.#parts.state({ isUp: this.#isUp, reason: this.#reason })
  }

  #status(online: boolean): object {
    const { site_id, edge_id } = this.#options.edge
    return { site_id, edge_id, ...this.#parts.status(online) }
  }

  async #sendMessage(body: object, outgoing: OutgoingMessage): Promise<void> {
    if (!this.#isUp) throw new Error('central is not reached')
    try {
      if (!this.#hasPointsOf(outgoing)) await this.#sendMetadata()
      const answer = readIngestAnswer(await this.#post('/api/ingest/local', body))
      await this.#parts.sender.acknowledged(ackOf(answer, outgoing))
    } catch (error) {
      this.#disconnected(error as Error)
      throw error
    }
  }

  /** Central refuses readings of points that are not in its metadata. */
  #hasPointsOf({ message }: OutgoingMessage): boolean {
    return !('readings' in message) || message.readings.every(({ id }) => this.#known.points.has(id))
  }

  async #sendMetadata(): Promise<void> {
    const { site_id, edge_id, model } = this.#options.edge
    const metadata = writeMetadata(site_id, edge_id, model())
    if (metadata.revision !== this.#known.revision) await this.#post('/api/ingest/local/metadata', metadata)
    this.#known = { revision: metadata.revision, points: new Set(model().points.map(({ point_id }) => point_id)) }
  }

  /** Sends status and metadata before readings: central accepts readings only of an edge that it knows. */
  async #sendStatus(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        const status = this.#status(true)
        const answer = await this.#post('/api/ingest/local/status', status)
        const { metadata_revision } = answer
        this.#parts.receiveNotices(noticesOf(answer))
        this.#known.revision = metadata_revision
        await this.#sendMetadata()
        if (metadata_revision === null) await this.#post('/api/ingest/local/status', status)
      })
    } catch (error) {
      return this.#disconnected(error as Error)
    }
    if (!this.#isStopped) this.#connected()
  }

  #connected(): void {
    const { central, log } = this.#options
    if (!this.#isUp) log.info({ url: central.url }, 'central accepts readings')
    this.#sendStatusIn(STATUS_MS)
    if (this.#isUp) return
    this.#isUp = true
    this.#reason = undefined
    this.#retryMs = RETRY_MS.first
    this.#parts.sender.connected()
  }

  #disconnected({ message }: Error): void {
    if (this.#isStopped) return
    if (this.#reason !== message) this.#options.log.warn(`central is not reached: ${message}`)
    this.#reason = message
    this.#isUp = false
    this.#parts.sender.disconnected()
    this.#sendStatusIn(this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.longest)
  }

  #sendStatusIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#sendStatus(), ms)
  }
}

function noticesOf(answer: Record<string, unknown>): HeardNotice[] {
  const read = answer['notices'] === undefined ? undefined : readNotices(answer)
  return read?.ok ? read.value : []
}

function ackOf({ status, through_seq, through_id, rejected }: IngestAnswer, { stream, seq }: OutgoingMessage): Ack {
  const [first, ...more] = rejected
  const reason = first && `${first.pointer} ${first.reason}${more.length > 0 ? `, and ${more.length} more` : ''}`.trim()
  return {
    stream,
    through_seq,
    ...(through_id !== undefined && { through_id }),
    ...(reason !== undefined && status !== 'gap' && { rejected: [{ seq, reason }] }),
  }
}

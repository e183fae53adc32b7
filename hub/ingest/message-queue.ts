/**
 * Queue of received messages, served round-robin by edge, so that an edge that sends too much only delays itself. Messages beyond
 * the bounds are dropped: they were not acknowledged, so the edge repeats them.
 */
import { MESSAGE_MAX } from '#shared/core/telemetry/body.ts'
import { isMessageTopic, type MessageTopic } from '#shared/core/telemetry/message.ts'
import { type Topic, topicBase } from '#shared/core/topic/topics.ts'

/** Most waiting messages of one edge: an edge has at most 50 in flight, and responses come besides. */
const PER_EDGE_MAX = 64
const PER_EDGE_BYTES = 32 * MESSAGE_MAX
/** Most waiting bytes of all edges: a hundred edges that send their backlog at once, with messages of the usual size. */
const ALL_BYTES = 128 * 2 ** 20
/** The queue yields to the event loop after this much work, ms. */
const SLICE_MS = 20
/** Most telemetry and findings messages that are handled, and so committed, together: they take about as long as a slice. */
const TOGETHER_MAX = 32
/** Metadata takes the most time, so the metadata of an edge pauses for this multiple of the time that its last one took. */
const METADATA_PAUSE = 20
/** Most edges whose pause is remembered. */
const PAUSES_MAX = 10_000

/** `isRetained`: the copy that the broker keeps for new subscribers. */
type Message = { topic: Topic; payload: Buffer; isRetained: boolean }
type Stored = { topic: MessageTopic; payload: Buffer }
/** Both process what they get synchronously. */
type Handlers = {
  /** Processes one message that is neither telemetry nor findings. */
  one(message: Message): void
  /** Processes telemetry and findings of several edges, those of each edge in their order. */
  together(messages: Stored[]): void
}
/** Only the newest metadata and the newest status are processed. */
type EdgeQueue = { metadata?: Message; status?: Message; messages: Message[]; bytes: number }

export class MessageQueue {
  readonly #handlers: Handlers
  /** By edge, in the order in which they are served next. */
  readonly #queues = new Map<string, EdgeQueue>()
  readonly #pausedUntil = new Map<string, number>()
  #bytes = 0
  #dropped = 0
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(handlers: Handlers) {
    this.#handlers = handlers
  }

  add(topic: Topic, payload: Buffer, isRetained = false): void {
    const name = topicBase(topic)
    const queue = this.#queues.get(name) ?? { messages: [], bytes: 0 }
    if (topic.kind === 'metadata' || topic.kind === 'status') queue[topic.kind] = { topic, payload, isRetained }
    else if (this.#isFull(queue, payload.length)) {
      this.#dropped++
      return
    } else {
      queue.messages.push({ topic, payload, isRetained })
      queue.bytes += payload.length
      this.#bytes += payload.length
    }
    this.#queues.set(name, queue)
    this.#immediate ??= setImmediate(() => this.#work())
  }

  stop(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#queues.clear()
  }

  /** Messages dropped since the start. */
  dropped(): number {
    return this.#dropped
  }

  #isFull(queue: EdgeQueue, bytes: number): boolean {
    if (queue.messages.length >= PER_EDGE_MAX || queue.bytes + bytes > PER_EDGE_BYTES) return true
    return this.#bytes + bytes > ALL_BYTES
  }

  #work(): void {
    this.#immediate = undefined
    const end = performance.now() + SLICE_MS
    let hasMore = true
    while (hasMore && performance.now() < end) hasMore = this.#handleNext()
    if (hasMore) this.#immediate = setImmediate(() => this.#work())
    else if (this.#queues.size > 0) {
      clearTimeout(this.#timer)
      const pauseMs = Math.min(...[...this.#queues.keys()].map(name => this.#pauseMs(name)))
      this.#timer = setTimeout(() => this.#work(), 1 + pauseMs)
    }
  }

  /** @returns false when the queues are empty or hold only paused metadata */
  #handleNext(): boolean {
    const together: Stored[] = []
    let other: Message | undefined
    while (!other && together.length < TOGETHER_MAX) {
      const message = this.#takeNext()
      if (!message) break
      const { topic, payload } = message
      if (isMessageTopic(topic)) together.push({ topic, payload })
      else other = message
    }
    if (together.length > 0) this.#handlers.together(together)
    if (other) this.#handleOther(other)
    return other !== undefined || together.length > 0
  }

  #handleOther(message: Message): void {
    const begunMs = performance.now()
    this.#handlers.one(message)
    if (message.topic.kind === 'metadata') this.#pause(topicBase(message.topic), begunMs)
  }

  /** The edge that is served moves to the end of the turn. */
  #takeNext(): Message | undefined {
    for (const [name, queue] of this.#queues) {
      const message = this.#takeFrom(name, queue)
      if (!message) continue
      this.#queues.delete(name)
      if (queue.metadata || queue.status || queue.messages.length > 0) this.#queues.set(name, queue)
      return message
    }
    return undefined
  }

  #takeFrom(name: string, queue: EdgeQueue): Message | undefined {
    if (queue.metadata && this.#pauseMs(name) === 0) return takeLatest(queue, 'metadata')
    if (queue.status) return takeLatest(queue, 'status')
    const next = queue.messages.shift()
    if (!next) return undefined
    queue.bytes -= next.payload.length
    this.#bytes -= next.payload.length
    return next
  }

  #pauseMs(name: string): number {
    return Math.max(0, (this.#pausedUntil.get(name) ?? 0) - performance.now())
  }

  #pause(name: string, begunMs: number): void {
    const now = performance.now()
    const pauses = this.#pausedUntil
    if (pauses.size >= PAUSES_MAX) for (const [other, until] of pauses) if (until <= now) pauses.delete(other)
    if (pauses.size < PAUSES_MAX) pauses.set(name, now + METADATA_PAUSE * (now - begunMs))
  }
}

function takeLatest(queue: EdgeQueue, slot: 'metadata' | 'status'): Message | undefined {
  const message = queue[slot]
  delete queue[slot]
  return message
}

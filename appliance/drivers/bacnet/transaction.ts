/** One request, from the queue of its device to its outcome. */
import { errorText } from '#shared/core/error-text.ts'
import type { RetryPolicy } from '../protocol.ts'
import { encodeRequest } from './codec.ts'
import type { Apdu } from './core/frame.ts'
import { formatRejection } from './core/network-message.ts'
import type { InvokeIds } from './core/invoke-ids.ts'
import { attemptTimeoutMs } from './core/rate-limit.ts'
import { type ServiceRequest, readReply, type BacnetReply } from './core/reply.ts'
import type { Segment } from './core/segments.ts'
import type { NetworkPath } from './network-paths.ts'
import type { RequestOutcome, Peer } from './outcome.ts'
import { BUFFER_OVERFLOW, createSegmentReceiver, type SegmentReceiver } from './segmented-reply.ts'
import type { QueueSlot } from './slot-queue.ts'

/** `garbled`: the reply carries the id of the request and does not answer it. */
export type ReplyVerdict = 'taken' | 'garbled'

type TransactionContext = {
  ids: InvokeIds<Transaction>
  path: NetworkPath
  /** The clock of `at` in an outcome, ms. */
  now: () => number
  /** In [0, 1); spreads repetitions over time. */
  random: () => number
  /** true: the caller has cancelled; a transaction that gets its slot then ends at once. */
  isCancelled(): boolean
  /** Called with the acknowledgement of the last segment, which may have to be repeated. */
  rememberFinalAck(invokeId: number, sequence: number, datagram: Buffer): void
}

type TransactionRequest = {
  peer: Peer
  question: ServiceRequest
  retryPolicy: RetryPolicy
  resolve(outcome: RequestOutcome): void
}

export const CANCELLED: RequestOutcome = { state: 'cancelled', reason: 'cancelled' }

/** The id of a request that was repeated, cancelled or segmented stays unused for this long, so that a late reply matches nothing. */
const ID_QUARANTINE_MS = 30_000
/** Pause until a request looks again for a free invoke id when its address has none. */
const NO_ID_MS = 250

/**
 * Waits for a slot of the device, then before each attempt for one of the network, and with the first for an invoke id. All attempts carry the same invoke id, so
 * the device can recognise the repetition, and a late answer is still the answer (135-2020 5.4.4).
 */
export class Transaction {
  readonly peer: Peer
  readonly #context: TransactionContext
  readonly #request: TransactionRequest
  #isOver = false
  #invokeId = 0
  /** It looked for a free invoke id in vain, and for how long it has waited for one, ms. */
  #lacksId = false
  #idWaitMs = 0
  #datagram: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #deviceSlot: QueueSlot | undefined
  #networkSlot: QueueSlot | undefined
  #attempts = 0
  #firstSentAt = 0
  #sentAt = 0
  #segments: SegmentReceiver | undefined
  #isSegmented = false
  /** Why the latest reply with this id was refused. */
  #garbledReason: string | undefined
  /** What the router said about the network of the device while the request was open. */
  #routerReason: string | undefined

  constructor(context: TransactionContext, request: TransactionRequest) {
    this.#context = context
    this.#request = request
    this.peer = request.peer
  }

  /** Queues the request. It may be over when this returns. */
  start(): void {
    const { device } = this.#context.path
    this.#deviceSlot = device.enter(this.peer.concurrency ?? 1, () => this.#attempt())
    // It may be over before the slot is known.
    if (this.#isOver) this.#releaseSlots()
  }

  /** Takes a reply with this transaction's invoke id from its device. */
  take(apdu: Apdu): ReplyVerdict {
    const { question } = this.#request
    if (apdu.kind === 'segment' && this.#acceptsSegments()) return this.#takeSegment(apdu)
    const reply = readReply(apdu, question)
    if (reply.state === 'garbled') {
      this.#garbledReason = reply.reason
      return 'garbled'
    }
    this.finish(this.#withTimes(reply))
    return 'taken'
  }

  /** The router refuses a message to the network of the device. It may accept a repetition, for example after its restart. */
  takeRejection(reason: number): void {
    const { host, station } = this.peer
    if (this.#attempts > 0)
      this.#routerReason = `router ${host} refuses messages to network ${station?.network}: ${formatRejection(reason)}`
  }

  /** Ends the transaction; later calls do nothing. */
  finish(outcome: RequestOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#segments?.abort(outcome)
    if (this.#datagram) {
      const isClean = this.#attempts === 1 && !('reason' in outcome) && !this.#isSegmented
      this.#context.ids.close(this.peer.host, this.#invokeId, performance.now() + (isClean ? 0 : ID_QUARANTINE_MS))
    }
    this.#request.resolve(outcome)
    this.#releaseSlots()
  }

  #attempt(): void {
    if (this.#attempts > this.#request.retryPolicy.retries) return this.finish(this.#unanswered())
    const { network } = this.#context.path
    this.#networkSlot = network.queue.enter(network.width(this.peer.concurrency ?? 1), () => {
      if (this.#context.isCancelled()) return this.finish(CANCELLED)
      // The answer to an earlier attempt is arriving: it uses the slot.
      if (this.#isSegmented || !this.#hasDatagram()) return undefined
      const pauseMs = network.pauseMs(performance.now())
      if (pauseMs === 0) return this.#send()
      this.#timer = setTimeout(() => this.#send(), pauseMs)
      return undefined
    })
    if (this.#isOver) this.#releaseSlots()
    else if (this.#lacksId) this.#networkSlot.leave()
  }

  /**
   * Takes an invoke id and encodes the request before its first attempt. The request has a slot of the network by then: hundreds of
   * devices behind one router wait for theirs, and its address has 255 ids for all of them.
   *
   * @returns false when the request is over, or waits for an id without a slot
   */
  #hasDatagram(): boolean {
    if (this.#datagram) return true
    const { host, station } = this.peer
    const { ids } = this.#context
    const id = ids.open(host, this, performance.now())
    this.#lacksId = id === undefined
    if (id === undefined) {
      this.#awaitId()
      return false
    }
    this.#invokeId = id
    try {
      this.#datagram = encodeRequest(this.#request.question, id, station, this.#acceptsSegments())
      return true
    } catch (error) {
      ids.close(host, id, 0)
      this.finish({ state: 'garbled', reason: `the request cannot be written: ${errorText(error)}` })
      return false
    }
  }

  #awaitId(): void {
    const { timeoutMs, retries } = this.#request.retryPolicy
    this.#networkSlot?.leave()
    if (this.#idWaitMs > timeoutMs * (1 + retries)) {
      return this.finish({ state: 'silent', reason: `all invoke ids of ${this.peer.host} are in use` })
    }
    this.#idWaitMs += NO_ID_MS
    this.#timer = setTimeout(() => this.#attempt(), NO_ID_MS)
    return undefined
  }

  #send(): void {
    const { timeoutMs } = this.#request.retryPolicy
    const waitMs = attemptTimeoutMs(timeoutMs, this.#attempts, this.#context.random())
    this.#attempts++
    this.#sentAt = performance.now()
    if (this.#attempts === 1) this.#firstSentAt = this.#sentAt
    const slotMs = Math.min(waitMs, this.#context.path.network.slotMs())
    this.#timer = setTimeout(() => this.#releaseNetworkSlot(waitMs - slotMs), slotMs)
    this.#transmit(this.#datagram!, error => {
      if (error) this.finish({ state: 'silent', reason: `cannot be sent: ${error.message}` })
    })
  }

  #transmit(datagram: Buffer, done: (error: Error | null) => void): void {
    if (this.peer.traffic) this.peer.traffic.sent_bytes += datagram.length
    this.#context.path.through.send(datagram, this.peer, done)
  }

  /** @param leftMs until the next attempt */
  #releaseNetworkSlot(leftMs: number): void {
    this.#context.path.network.noteAnswer(0)
    this.#networkSlot?.leave()
    if (leftMs > 0) this.#timer = setTimeout(() => this.#attempt(), leftMs)
    else this.#attempt()
  }

  #takeSegment(segment: Segment): ReplyVerdict {
    this.#segments ??= this.#createReceiver()
    const { question } = this.#request
    const result = this.#segments.take(segment)
    switch (result.state) {
      case 'foreign':
        this.#garbledReason = result.reason
        return 'garbled'
      case 'too_large':
        // The same outcome as of a device whose answer does not fit: fewer points may fit.
        this.finish(this.#withTimes({ state: 'refused', refusal: { by: 'abort', reason: BUFFER_OVERFLOW } }))
        return 'taken'
      case 'more':
        this.#isSegmented = true
        return 'taken'
      case 'whole': {
        this.#isSegmented = true
        const { payload } = result
        const reply = readReply({ kind: 'ack', invokeId: this.#invokeId, service: question.service, payload }, question)
        this.finish(reply.state === 'garbled' ? reply : this.#withTimes(reply))
        return reply.state === 'garbled' ? 'garbled' : 'taken'
      }
    }
  }

  #createReceiver(): SegmentReceiver {
    const { peer } = this
    const { question, retryPolicy } = this.#request
    const transaction = {
      peer,
      invokeId: this.#invokeId,
      service: question.service,
      timeoutMs: retryPolicy.timeoutMs,
      // A failure to send shows as the silence that follows.
      send: (bytes: Buffer) => this.#transmit(bytes, () => undefined),
      wait: (ms: number, then: () => void) => {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(then, ms)
      },
      rememberFinalAck: (sequence: number, bytes: Buffer) => this.#context.rememberFinalAck(this.#invokeId, sequence, bytes),
    }
    return createSegmentReceiver(transaction, count =>
      this.finish({ state: 'silent', reason: `the answer of ${peer.host}:${peer.port} ended after ${count} parts` }),
    )
  }

  #acceptsSegments(): boolean {
    return this.peer.segmentation ?? true
  }

  #withTimes(reply: Exclude<BacnetReply, { state: 'garbled' }>): RequestOutcome {
    const arrivedAt = performance.now()
    this.#context.path.network.noteAnswer(arrivedAt - this.#firstSentAt)
    return { ...reply, at: this.#context.now(), rttMs: arrivedAt - this.#sentAt }
  }

  #unanswered(): RequestOutcome {
    if (this.#garbledReason) return { state: 'garbled', reason: this.#garbledReason }
    if (this.#routerReason) return { state: 'silent', reason: this.#routerReason }
    return { state: 'silent', reason: `no answer from ${this.peer.host}:${this.peer.port} in ${this.#attempts} attempts` }
  }

  #releaseSlots(): void {
    this.#networkSlot?.leave()
    this.#deviceSlot?.leave()
  }
}

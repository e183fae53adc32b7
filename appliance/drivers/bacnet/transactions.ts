/** The open requests; matches replies to them. */
import type { RetryPolicy } from '../protocol.ts'
import { type Apdu, isSameStation, type Station } from './core/frame.ts'
import type { NetworkRejection } from './core/network-message.ts'
import { createInvokeIds } from './core/invoke-ids.ts'
import type { ServiceRequest } from './core/reply.ts'
import type { NetworkPath } from './network-paths.ts'
import type { RequestOutcome, Peer } from './outcome.ts'
import { CANCELLED, type ReplyVerdict, Transaction } from './transaction.ts'

type TransactionsOptions = {
  pathTo(peer: Peer): NetworkPath
  /** The clock of `at` in an outcome, ms. */
  now: () => number
  /** In [0, 1); spreads repetitions over time. */
  random: () => number
}

/** `index` in the list of all open transactions. */
type OpenTransaction = { signal: AbortSignal; transaction: Transaction; index: number }

/** The acknowledgement of a last segment. It is repeated when the device repeats the segment, because it was lost. */
type FinalAck = { peer: Peer; invokeId: number; sequence: number; resend(): void }

/** Final acknowledgements that are remembered; a device repeats its last segments only shortly after the end. */
const FINAL_ACKS_MAX = 32

export class Transactions {
  readonly #options: TransactionsOptions
  readonly #ids = createInvokeIds<Transaction>()
  readonly #open: OpenTransaction[] = []
  readonly #watchedSignals = new WeakSet<AbortSignal>()
  readonly #finalAcks: FinalAck[] = []
  #isClosed = false

  constructor(options: TransactionsOptions) {
    this.#options = options
  }

  request(peer: Peer, question: ServiceRequest, retryPolicy: RetryPolicy, signal: AbortSignal): Promise<RequestOutcome> {
    return new Promise(resolve => {
      if (this.#isClosed || signal.aborted) return resolve(CANCELLED)
      this.#watch(signal)
      this.#begin(peer, question, retryPolicy, signal, resolve)
    })
  }

  /**
   * Gives a reply to its transaction. It is matched by address, invoke id and station here, by service and properties in the
   * transaction; never by port, because routers answer from others.
   *
   * @param host the sender of the reply
   * @param bytes length of its datagram
   */
  take(host: string, source: Station | undefined, apdu: Apdu, bytes: number): ReplyVerdict | 'unmatched' {
    const { invokeId } = apdu
    const transaction = this.#ids.find(host, invokeId)
    if (transaction && isSameStation(source, transaction.peer.station)) {
      const { traffic } = transaction.peer
      if (traffic) traffic.received_bytes += bytes
      return transaction.take(apdu)
    }
    if (apdu.kind !== 'segment') return 'unmatched'
    const { sequence } = apdu
    const ack = this.#finalAcks.find(one => one.invokeId === invokeId && one.sequence === sequence && one.peer.host === host)
    if (ack && isSameStation(source, ack.peer.station)) ack.resend()
    return 'unmatched'
  }

  /** @param host the router that refuses a message. The refusal names no request, so it concerns all that are open to the network */
  takeRejection(host: string, { network, reason }: NetworkRejection): void {
    for (const { transaction } of this.#open) {
      const { peer } = transaction
      if (peer.host === host && peer.station?.network === network) transaction.takeRejection(reason)
    }
  }

  /** Cancels all open requests. */
  close(): void {
    this.#isClosed = true
    cancelAll([...this.#open])
  }

  #begin(
    peer: Peer,
    question: ServiceRequest,
    retryPolicy: RetryPolicy,
    signal: AbortSignal,
    end: (outcome: RequestOutcome) => void,
  ): void {
    const { now, random, pathTo } = this.#options
    const path = pathTo(peer)
    let entry: OpenTransaction | undefined
    let isOver = false
    const transaction = new Transaction(
      {
        ids: this.#ids,
        path,
        now,
        random,
        isCancelled: () => this.#isClosed || signal.aborted,
        rememberFinalAck: (invokeId, sequence, datagram) => {
          // A failure to send shows as the silence that follows.
          const resend = () => path.through.send(datagram, peer, () => undefined)
          this.#finalAcks.push({ peer, invokeId, sequence, resend })
          if (this.#finalAcks.length > FINAL_ACKS_MAX) this.#finalAcks.shift()
        },
      },
      {
        peer,
        question,
        retryPolicy,
        resolve: outcome => {
          isOver = true
          if (entry) this.#remove(entry)
          end(outcome)
        },
      },
    )
    transaction.start()
    if (!isOver) this.#open.push((entry = { signal, transaction, index: this.#open.length }))
  }

  /** Adds one listener for each signal, not for each request: a poll has thousands of requests and one signal. */
  #watch(signal: AbortSignal): void {
    if (this.#watchedSignals.has(signal)) return
    this.#watchedSignals.add(signal)
    const cancel = () => cancelAll(this.#open.filter(one => one.signal === signal))
    signal.addEventListener('abort', cancel, { once: true })
  }

  /** Moves the last entry into the place of `entry`. */
  #remove({ index }: OpenTransaction): void {
    const last = this.#open.pop()!
    if (last.index === index) return
    this.#open[index] = last
    last.index = index
  }
}

function cancelAll(open: readonly OpenTransaction[]): void {
  for (const { transaction } of open) transaction.finish(CANCELLED)
}

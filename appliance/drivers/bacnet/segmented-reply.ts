/** Receives one segmented answer: acknowledges segments, waits for the next, and ends an incomplete answer. */
import { type Assembly, type Progress, type Segment, type SegmentAck, takeSegment } from './core/segments.ts'
import { encodeAbort, encodeSegmentAck } from './codec.ts'
import type { RequestOutcome, Peer } from './outcome.ts'

/** The transaction that the answer belongs to. */
type SegmentedTransaction = {
  peer: Peer
  invokeId: number
  /** Service of the request. */
  service: number
  timeoutMs: number
  send(datagram: Buffer): void
  /** Replaces the current timer. */
  wait(ms: number, then: () => void): void
  /** Called with the acknowledgement of the last segment, which may be lost. */
  rememberFinalAck(sequence: number, datagram: Buffer): void
}

type SegmentResult =
  | { state: 'more' }
  | { state: 'whole'; payload: Uint8Array }
  /** Not a part of this answer. */
  | { state: 'foreign'; reason: string }
  | { state: 'too_large' }

export type SegmentReceiver = {
  take(segment: Segment): SegmentResult
  /** Sends an Abort to the device when the answer is incomplete. */
  abort(outcome: RequestOutcome): void
}

/** Timeouts for one part: the device repeats lost parts only after a timeout of its own. */
const PART_TIMEOUTS = 2
/** Maximum duration of an answer: 64 kB over MS/TP at 38,400 bit/s take half of it. */
const WHOLE_MS = 60_000
/** Reasons of an Abort (135-2020 18.10). */
const OTHER = 0
export const BUFFER_OVERFLOW = 1
const TSM_TIMEOUT = 10

/** @param onIncomplete called when no further part arrives; `parts`: number of received parts */
export function createSegmentReceiver(receiving: SegmentedTransaction, onIncomplete: (parts: number) => void): SegmentReceiver {
  const { peer, invokeId, service, timeoutMs, send, wait, rememberFinalAck } = receiving
  const since = performance.now()
  let assembly: Assembly | undefined

  function acknowledge(ack: SegmentAck): Buffer {
    const datagram = encodeSegmentAck(invokeId, ack, peer.station)
    send(datagram)
    return datagram
  }

  function awaitMore({ assembly: grown, isNew, ack }: Extract<Progress, { state: 'more' }>): void {
    assembly = grown
    // Only a new part extends the wait.
    const leftMs = since + WHOLE_MS - performance.now()
    if (isNew) wait(Math.min(PART_TIMEOUTS * timeoutMs, leftMs), () => onIncomplete(grown.parts.length))
    if (ack) acknowledge(ack)
  }

  return {
    take(segment) {
      if (segment.service !== service) return { state: 'foreign', reason: `the answer is to service ${segment.service}` }
      const progress = takeSegment(assembly, segment)
      switch (progress.state) {
        case 'foreign':
          return progress
        case 'too_large':
          return { state: 'too_large' }
        case 'more':
          awaitMore(progress)
          return { state: 'more' }
        case 'whole':
          assembly = undefined
          rememberFinalAck(progress.ack.sequence, acknowledge(progress.ack))
          return { state: 'whole', payload: progress.payload }
      }
    },
    abort(outcome) {
      if (assembly) send(encodeAbort(invokeId, abortReason(outcome), peer.station))
    },
  }
}

/**
 * @returns the reason for ending an incomplete answer. Without an Abort the device repeats its parts for all of its retries, and
 *   many devices handle only one transaction at a time. An Abort is sent only in transactions that this process began
 */
function abortReason({ state }: RequestOutcome): number {
  if (state === 'refused') return BUFFER_OVERFLOW
  return state === 'silent' ? TSM_TIMEOUT : OTHER
}

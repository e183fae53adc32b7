/** Receives one segmented answer: acknowledges segments, waits for the next, and ends an answer that breaks off. */
import { type Assembly, type Progress, type Segment, type SegmentAck, takeSegment } from './core/segments.ts'
import { encodeAbort, encodeSegmentAck } from './codec.ts'
import type { RequestOutcome, Peer } from './outcome.ts'

/** The transaction that the answer belongs to. */
type SegmentedTransaction = {
  peer: Peer
  invokeId: number
  /** Of the request. */
  service: number
  timeoutMs: number
  send(datagram: Buffer): void
  /** Waits for this instead of whatever was waited for. */
  wait(ms: number, then: () => void): void
  /** Called with the acknowledgement of the last segment, which may be lost. */
  rememberFinalAck(sequence: number, datagram: Buffer): void
}

type SegmentResult =
  | { state: 'more' }
  | { state: 'whole'; payload: Uint8Array }
  /** Not a part of this answer; `reason` in words. */
  | { state: 'foreign'; reason: string }
  | { state: 'too_large' }

export type SegmentReceiver = {
  take(segment: Segment): SegmentResult
  /** Ends the answer for the device too, when it is in the midst of it. */
  abort(outcome: RequestOutcome): void
}

/** Timeouts that a part may take: the device repeats what was lost only after a timeout of its own. */
const PART_TIMEOUTS = 2
/** An answer may take this long: 64 kB over MS/TP at 38,400 bit/s take half of it. */
const WHOLE_MS = 60_000
/** Reasons of an Abort (135-2020 18.10). */
const OTHER = 0
export const BUFFER_OVERFLOW = 1
const TSM_TIMEOUT = 10

/** @param breakOff called when no further part comes; `parts`: how many had come */
export function createSegmentReceiver(receiving: SegmentedTransaction, breakOff: (parts: number) => void): SegmentReceiver {
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
    // Only a new part buys more time.
    const leftMs = since + WHOLE_MS - performance.now()
    if (isNew) wait(Math.min(PART_TIMEOUTS * timeoutMs, leftMs), () => breakOff(grown.parts.length))
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
 * Why we end an answer in the midst of its parts. The device would else repeat them for as long as its retries last, and
 * many have room for one transaction alone. It is sent in transactions that we began, never to a stranger.
 */
function abortReason({ state }: RequestOutcome): number {
  if (state === 'refused') return BUFFER_OVERFLOW
  return state === 'silent' ? TSM_TIMEOUT : OTHER
}

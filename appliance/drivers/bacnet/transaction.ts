/** One request, from its turn with the device to its end. */
import { errorText } from '#shared/core/error-text.ts'
import type { Apdu } from './core/frame.ts'
import type { InvokeIds } from './core/invoke-ids.ts'
import { attemptTimeoutMs } from './core/rate-limit.ts'
import { type Question, readReply, type Reply } from './core/reply.ts'
import type { Segment } from './core/segments.ts'
import { encodeRequest } from './codec.ts'
import type { Slot } from './slot-queue.ts'
import { BUFFER_OVERFLOW, type SegmentReceiver, type SegmentedTransaction, createSegmentReceiver } from './segmented-reply.ts'
import type { Outcome, Patience, Peer } from './outcome.ts'
import type { NetworkPath } from './network-paths.ts'

export type Taken = 'taken' | 'garbled'
export type Pending = {
  readonly peer: Peer
  /** A reply with our invoke id, from our device. */
  take(apdu: Apdu): Taken
  settle(outcome: Outcome): void
}

type Machinery = {
  ids: InvokeIds<Pending>
  route: NetworkPath
  /** What `at` is reckoned in, ms. */
  now: () => number
  /** In [0, 1), spreads repetitions. */
  random: () => number
  /** Nobody wants the answer any more: what waits is let in to nothing. */
  isCancelled(): boolean
  /** Told when the end of a segmented answer has been acknowledged, which the device may not hear. */
  sayFarewell(invokeId: number, sequence: number, datagram: Buffer): void
}

export const CANCELLED: Outcome = { state: 'cancelled', reason: 'cancelled' }

type Request = { peer: Peer; question: Question; patience: Patience; resolve(outcome: Outcome): void }

/** How long the id of a request that was sent again, given up or answered in parts stays unused: what is late finds nobody. */
const QUIET_MS = 30_000
/** Who is silent for longer than this no longer keeps the others on its network waiting. */
const HOLD_MS = 1000
/** How often a request looks for a free invoke id when its address has none. */
const NO_ID_MS = 250

/**
 * Waits for its turn with the device, then for each attempt with the network. Attempts repeat the invoke id, so that the
 * device can see the repetition, and a late answer is still the answer (135-2020 5.4.4).
 *
 * @returns what replies are given to; it may be over already
 */
export function transact(machinery: Machinery, { peer, question, patience, resolve }: Request): Pending {
  const { ids, route, now, random, isCancelled } = machinery
  const { through, network, device } = route
  const { station, concurrency = 1, segmentation = true } = peer
  const pending: Pending = { peer, take, settle }
  let isOver = false
  let invokeId = 0
  let datagram: Buffer | undefined
  let timer: NodeJS.Timeout | undefined
  let atDevice: Slot | undefined
  let onNetwork: Slot | undefined
  let attempts = 0
  let sentAt = 0
  let parts: SegmentReceiver | undefined
  let isInParts = false
  /** Why the latest reply with this id was not taken. */
  let garbled: string | undefined

  atDevice = device.enter(concurrency, () => open(patience.timeoutMs * (1 + patience.retries)))
  // It may be over before it knows its place.
  if (isOver) leave()
  return pending

  function open(leftMs: number): void {
    if (isCancelled()) return settle(CANCELLED)
    const id = ids.open(peer.host, pending, performance.now())
    if (id !== undefined) return begin(id)
    if (leftMs <= 0) return settle({ state: 'silent', reason: `all invoke ids of ${peer.host} are in use` })
    timer = setTimeout(open, NO_ID_MS, leftMs - NO_ID_MS)
    return undefined
  }

  function begin(id: number): void {
    invokeId = id
    try {
      datagram = encodeRequest(question, id, station, segmentation)
    } catch (error) {
      ids.close(peer.host, id, 0)
      return settle({ state: 'garbled', reason: `the request cannot be written: ${errorText(error)}` })
    }
    return attempt()
  }

  function attempt(): void {
    if (attempts > patience.retries) return settle(unanswered())
    onNetwork = network.lane.enter(network.width(concurrency), () => {
      if (isCancelled()) return settle(CANCELLED)
      // The answer to an earlier attempt is on its way: it takes the place.
      if (isInParts) return undefined
      const pauseMs = network.pauseMs(performance.now())
      if (pauseMs === 0) return ask()
      timer = setTimeout(ask, pauseMs)
      return undefined
    })
    if (isOver) leave()
  }

  function ask(): void {
    const waitMs = attemptTimeoutMs(patience.timeoutMs, attempts, random())
    attempts++
    sentAt = performance.now()
    timer = setTimeout(hold, Math.min(waitMs, HOLD_MS), waitMs - HOLD_MS)
    through.send(datagram!, peer, error => {
      if (error) settle({ state: 'silent', reason: `cannot be sent: ${error.message}` })
    })
  }

  function hold(leftMs: number): void {
    onNetwork?.leave()
    if (leftMs > 0) timer = setTimeout(attempt, leftMs)
    else attempt()
  }

  function take(apdu: Apdu): Taken {
    if (apdu.kind === 'segment' && segmentation) return takePart(apdu)
    const reply = readReply(apdu, question)
    if (reply.state === 'garbled') {
      garbled = reply.reason
      return 'garbled'
    }
    settle(timed(reply))
    return 'taken'
  }

  function takePart(segment: Segment): Taken {
    parts ??= createSegmentReceiver(receiving(), breakOff)
    const received = parts.take(segment)
    switch (received.state) {
      case 'foreign':
        garbled = received.reason
        return 'garbled'
      case 'too_large':
        // As a device says that its answer does not fit; fewer points then may.
        settle(timed({ state: 'refused', refusal: { by: 'abort', reason: BUFFER_OVERFLOW } }))
        return 'taken'
      case 'more':
        isInParts = true
        return 'taken'
      case 'whole': {
        isInParts = true
        const reply = readReply({ kind: 'ack', invokeId, service: question.service, payload: received.payload }, question)
        settle(reply.state === 'garbled' ? reply : timed(reply))
        return reply.state === 'garbled' ? 'garbled' : 'taken'
      }
    }
  }

  function receiving(): SegmentedTransaction {
    const { timeoutMs } = patience
    const sayFarewell = (sequence: number, bytes: Buffer) => machinery.sayFarewell(invokeId, sequence, bytes)
    return { peer, invokeId, service: question.service, timeoutMs, send, wait, sayFarewell }
  }

  function breakOff(count: number): void {
    settle({ state: 'silent', reason: `the answer of ${peer.host}:${peer.port} broke off after ${count} parts` })
  }

  function wait(ms: number, then: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(then, ms)
  }

  /** Its failure shows as the silence that follows. */
  function send(bytes: Buffer): void {
    through.send(bytes, peer, () => undefined)
  }

  function timed(reply: Exclude<Reply, { state: 'garbled' }>): Outcome {
    return { ...reply, at: now(), rttMs: performance.now() - sentAt }
  }

  function unanswered(): Outcome {
    if (garbled) return { state: 'garbled', reason: garbled }
    return { state: 'silent', reason: `no answer from ${peer.host}:${peer.port} in ${attempts} attempts` }
  }

  function settle(outcome: Outcome): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    parts?.abort(outcome)
    if (datagram) {
      const isClean = attempts === 1 && !('reason' in outcome) && !isInParts
      ids.close(peer.host, invokeId, performance.now() + (isClean ? 0 : QUIET_MS))
    }
    resolve(outcome)
    leave()
  }

  function leave(): void {
    onNetwork?.leave()
    atDevice?.leave()
  }
}

/** The addressee of a request, and the outcomes of a request. */
import type { ByteCounts } from '#shared/core/poll/traffic.ts'
import type { RetryPolicy } from '../protocol.ts'
import type { Endpoint, Station } from './core/frame.ts'
import type { PropertyResult, RequestRefusal } from './core/reply.ts'

export type Peer = Endpoint & {
  /** Set when the device is behind the router at `host` and `port`. */
  station?: Station
  /** Concurrent requests that the device and its trunk accept; 1 when absent. */
  concurrency?: number
  /** false: the device mishandles segmentation, so requests state that segmented answers are not accepted. */
  segmentation?: boolean
  /** Counts the bytes of requests to it and of their answers. */
  traffic?: ByteCounts
}

/** Retries of a request that is likely to fail. Without any, one lost datagram would count as a failure. */
const HASTY_RETRIES = 1
export const withFewRetries = ({ timeoutMs, retries }: RetryPolicy): RetryPolicy => ({
  timeoutMs,
  retries: Math.min(HASTY_RETRIES, retries),
})

/** The outcome of a request. Every failure of a device is an outcome, never an exception. */
export type RequestOutcome =
  /** `at`: time of the answer on the clock of the transport; `rttMs` counts from the last attempt. */
  | { state: 'results'; results: PropertyResult[]; at: number; rttMs: number }
  | { state: 'refused'; refusal: RequestRefusal; at: number; rttMs: number }
  | { state: 'silent' | 'garbled' | 'cancelled'; reason: string }

/** The addressee of a request, and the outcomes of a request. */
import type { RetryPolicy } from '../protocol.ts'
import type { Endpoint, Station } from './core/frame.ts'
import type { PropertyResult, RequestRefusal } from './core/reply.ts'

export type Peer = Endpoint & {
  /** Set when the device is behind the router at `host` and `port`. */
  station?: Station
  /** Requests that the device, and the trunk it is on, take at a time; 1 when absent. */
  concurrency?: number
  /** false: it mishandles segmentation, so it is told that we do not accept an answer in parts. */
  segmentation?: boolean
}

/** Of a request that may well fail. With none a single loss would be taken for a failure. */
const HASTY_RETRIES = 1
export const withFewRetries = ({ timeoutMs, retries }: RetryPolicy): RetryPolicy => ({
  timeoutMs,
  retries: Math.min(HASTY_RETRIES, retries),
})

/** How a request ended. It always ends; there is no exception for what a peer does. */
export type RequestOutcome =
  /** `at`: when the answer came, on the clock given to the transport; `rttMs` from the last attempt. */
  | { state: 'results'; results: PropertyResult[]; at: number; rttMs: number }
  | { state: 'refused'; refusal: RequestRefusal; at: number; rttMs: number }
  | { state: 'silent' | 'garbled' | 'cancelled'; reason: string }

/** Who is asked, how patiently, and how it may end. */
import type { Endpoint, Station } from '#shared/core/bacnet/frame.ts'
import type { PropertyResult, Refusal } from '#shared/core/bacnet/reply.ts'

export type Peer = Endpoint & {
  /** Set when the device is behind the router at `host` and `port`. */
  station?: Station
  /** Requests that the device, and the trunk it is on, take at a time; 1 when absent. */
  concurrency?: number
  /** false: it mishandles segmentation, so it is told that we do not accept an answer in parts. */
  segmentation?: boolean
}

/** `timeoutMs`: how long the first attempt waits; each of `retries` further ones waits half of it longer. */
export type Patience = { timeoutMs: number; retries: number }

/** How a request ended. It always ends; there is no exception for what a peer does. */
export type Outcome =
  /** `at`: when the answer came, on the clock given to the transport; `rttMs` from the last attempt. */
  | { state: 'results'; results: PropertyResult[]; at: number; rttMs: number }
  | { state: 'refused'; refusal: Refusal; at: number; rttMs: number }
  | { state: 'silent' | 'garbled' | 'cancelled'; reason: string }

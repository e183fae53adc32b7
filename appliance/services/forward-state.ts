/** How a way out of the process fares. */
import type { Sender } from './sender.ts'

/** What pages and health show of a way out, to the hub or to the central on the box. Times are ms since 1970 UTC. */
export type ForwardState = {
  state: 'off' | 'connecting' | 'up'
  /** Why it is not up, in words. */
  reason?: string
  /** What an engineer should know of the outbox: why its stream began anew at this start. */
  note?: string
  /** Messages that are not acknowledged there. */
  backlog: number
  /** When the oldest of them was written. */
  oldest_at: number | null
  /** Messages dropped since start because there was no room for them. */
  dropped: number
  /** Messages that were refused there since start; they are kept aside. */
  rejected: number
  last_ack_at: number | null
  /** When the certificate of its session ends; null where it has none. */
  cert_not_after: number | null
}

/** What a process without this way shows. */
export const FORWARD_OFF: ForwardState = {
  state: 'off',
  backlog: 0,
  oldest_at: null,
  dropped: 0,
  rejected: 0,
  last_ack_at: null,
  cert_not_after: null,
}

/** @param link how the connection is; `reason` says why it is not up */
export function stateOf(
  sending: Sender,
  link: { isUp: boolean; reason: string | undefined; cert_not_after: number | null },
): ForwardState {
  const { backlog, oldest_at, dropped, rejected, lastAckAt, damage, note } = sending.state()
  const reason = damage ?? link.reason
  return {
    state: link.isUp ? 'up' : 'connecting',
    ...(reason !== undefined && { reason }),
    ...(note !== undefined && { note }),
    backlog,
    oldest_at,
    dropped,
    rejected,
    last_ack_at: lastAckAt,
    cert_not_after: link.cert_not_after,
  }
}

/** How a way out of the process fares. */
import type { Logger } from 'pino'
import type { Service } from '#shared/node/service.ts'
import type { EdgeSelf } from './edge-self.ts'
import type { Sender } from './sender.ts'

/** What pages and health show of a way out, to the hub or to the central on the box. Times are ms since 1970 UTC. */
export type ForwardState = {
  state: 'off' | 'connecting' | 'up'
  /** Why it is not up, in words. */
  reason?: string
  /** That another process runs as the same edge, in words. */
  conflict?: string
  /** What the hub says of this edge's standing: that it is refused, or shares its building. */
  notices?: string[]
  /** What an engineer should know of the outbox: why its stream began anew at this start. */
  note?: string
  /** Messages that are not acknowledged there. */
  backlog: number
  /** When the oldest of them was written. */
  oldest_at: number | null
  /** Messages dropped since start because there was no room for them. */
  dropped: number
  /** Messages of which one value for each point and quarter of an hour was kept since start, for want of room. */
  thinned: number
  /** Messages that were refused there since start; they are kept aside. */
  rejected: number
  last_ack_at: number | null
  /** When the certificate of its session ends; null where it has none. */
  cert_not_after: number | null
}

/** A way out of the process that runs by itself. */
export type Forwarding = Service & {
  forwardState(): ForwardState
  /** Says now, and not with the next status, what has changed: that polling goes on, or that points came or went. */
  announce(): void
}

/** What a process without this way shows. */
export const FORWARD_OFF: ForwardState = {
  state: 'off',
  backlog: 0,
  oldest_at: null,
  dropped: 0,
  thinned: 0,
  rejected: 0,
  last_ack_at: null,
  cert_not_after: null,
}

/** @param link how the connection is; `reason` says why it is not up */
export function stateOf(
  sending: Sender,
  link: {
    isUp: boolean
    reason: string | undefined
    conflict: string | undefined
    notices: string[]
    cert_not_after: number | null
  },
): ForwardState {
  const { backlog, oldest_at, dropped, thinned, rejected, lastAckAt, damage, note } = sending.state()
  const reason = damage ?? link.reason
  return {
    state: link.isUp ? 'up' : 'connecting',
    ...(reason !== undefined && { reason }),
    ...(link.conflict !== undefined && { conflict: link.conflict }),
    ...(link.notices.length > 0 && { notices: link.notices }),
    ...(note !== undefined && { note }),
    backlog,
    oldest_at,
    dropped,
    thinned,
    rejected,
    last_ack_at: lastAckAt,
    cert_not_after: link.cert_not_after,
  }
}

/** @param boot_ids who speaks as this edge, as the other side heard it. @returns in words that it is not this process alone */
export function conflictOf({ site_id, edge_id, boot_id }: EdgeSelf, boot_ids: string[] | undefined): string | undefined {
  const others = boot_ids?.filter(id => id !== boot_id).length ?? 0
  if (others === 0) return undefined
  return `Another process runs as edge ${edge_id} of site ${site_id}: one of the two needs an edge_id of its own in site.json`
}

/** Logs a conflict when it begins and when it is over. @returns the newer one */
export function warned(before: string | undefined, conflict: string | undefined, log: Logger): string | undefined {
  if (conflict !== undefined && before === undefined) log.warn(conflict)
  if (conflict === undefined && before !== undefined) log.info('this process alone runs as this edge again')
  return conflict
}

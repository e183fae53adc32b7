import type { Logger } from 'pino'
import type { Building, Equipment, Point } from '#shared/core/model.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { Kit } from '#shared/node/kit-read.ts'
import type { Service } from '#shared/node/service.ts'
import type { Outbox } from '../sinks/outbox.ts'

/** What pages and health show of the way to the hub. Times are ms since 1970 UTC. */
export type ForwardState = {
  state: 'off' | 'connecting' | 'up'
  /** Why it is not up, in words. */
  reason?: string
  /** Messages that the hub has not acknowledged. */
  backlog: number
  /** When the oldest of them was written. */
  oldest_at: number | null
  /** Messages dropped since start because the outbox was full. */
  dropped: number
  last_ack_at: number | null
  /** When the kit's certificate ends. */
  cert_not_after: number | null
}

export declare function forwardService(options: {
  outbox: Outbox
  kit: Kit
  /** Where the broker is; by default what the kit says. */
  broker?: { host: string; port: number }
  version: string
  /** Read at every connection and once a minute; published when it changed. */
  model: () => { building: Building; equipment: Equipment[]; points: Point[]; name: string; connector_url?: string }
  clock: Clock
  log: Logger
}): Service & { forwardState(): ForwardState }

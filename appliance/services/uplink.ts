import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import type { Service } from '#shared/node/service.ts'
import { certificateOperations } from '../kit/certificate-operations.ts'
import type { EdgeKits } from '../kit/edge-kits.ts'
import type { Outbox } from '../sinks/outbox.ts'
import { LocalPublisher } from './local-publisher.ts'
import { MqttPublisher } from './mqtt-publisher.ts'
import { answeringOnce, type EdgeOperations, responder } from './responder.ts'
import { type EdgeDescription, PUBLISHER_OFF, type PublisherState } from './publisher.ts'

export type Uplink = {
  publishers: Service[]
  /** Sends the status to hub and central at once. */
  announce(): void
  hubState(): PublisherState
  /** The clock of this machine was set: by how much it differs from the hub's is measured anew. */
  clockWasSet(): void
  /** State of the publisher to the central on this box. */
  centralState(): PublisherState
}

export type UplinkOptions = {
  /** Undefined where nothing leaves this process. */
  outbox: Outbox | undefined
  /** Undefined where this edge does not connect to a broker. */
  kits: EdgeKits | undefined
  /** The central on this box; undefined where it is this process. */
  central?: { url: string; token: string } | undefined
  edge: EdgeDescription
  /** What the hub may ask over the broker besides a renewal. */
  operations?: EdgeOperations | undefined
  clock: Clock
  log: Logger
}

/** The publishers of this edge: to the hub, to the central on this box, to both, or none. */
export function createUplink({ outbox, kits, central, operations, ...parts }: UplinkOptions): Uplink {
  const answer = kits && answeringOnce(responder({ ...operations, ...certificateOperations(kits) }, parts.log))
  const hub = outbox && kits && new MqttPublisher({ ...parts, outbox, kits, answer })
  const local = outbox && central && new LocalPublisher({ ...parts, outbox, central })
  return {
    publishers: [...(hub ? [hub] : []), ...(local ? [local] : [])],
    announce() {
      hub?.announce()
      local?.announce()
    },
    clockWasSet: () => hub?.clockWasSet(),
    hubState: () => hub?.state() ?? PUBLISHER_OFF,
    centralState: () => local?.state() ?? PUBLISHER_OFF,
  }
}

import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import type { Service } from '#shared/node/service.ts'
import type { Outbox } from '../sinks/outbox.ts'
import { LocalPublisher } from './local-publisher.ts'
import { MqttPublisher } from './mqtt-publisher.ts'
import { type EdgeDescription, PUBLISHER_OFF, type PublisherState } from './publisher.ts'

export type Uplink = {
  publishers: Service[]
  /** Sends the status to hub and central at once. */
  announce(): void
  hubState(): PublisherState
  /** State of the publisher to the central on this box. */
  centralState(): PublisherState
}

export type UplinkOptions = {
  /** Undefined where nothing leaves this process. */
  outbox: Outbox | undefined
  /** Undefined where this edge does not connect to a broker. */
  kit: Kit | undefined
  /** The central on this box; undefined where it is this process. */
  central?: { url: string; token: string } | undefined
  edge: EdgeDescription
  /** Answers what the hub asks over the broker. */
  answer?: ((payload: Uint8Array) => object | undefined) | undefined
  clock: Clock
  log: Logger
}

/** The publishers of this edge: to the hub, to the central on this box, to both, or none. */
export function createUplink({ outbox, kit, central, answer, ...parts }: UplinkOptions): Uplink {
  const hub = outbox && kit && new MqttPublisher({ ...parts, outbox, kit, answer })
  const local = outbox && central && new LocalPublisher({ ...parts, outbox, central })
  return {
    publishers: [...(hub ? [hub] : []), ...(local ? [local] : [])],
    announce() {
      hub?.announce()
      local?.announce()
    },
    hubState: () => hub?.state() ?? PUBLISHER_OFF,
    centralState: () => local?.state() ?? PUBLISHER_OFF,
  }
}

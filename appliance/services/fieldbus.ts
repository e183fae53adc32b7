/** A protocol process without central: it polls and hands everything to the hub through the outbox. */
import type { Logger } from 'pino'
import type { Effective, Settings } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { Service } from '#shared/node/service.ts'
import { readVersion } from '#shared/node/version.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { FIELDBUS_ENV } from '../env.ts'
import { catalogueWatch } from './field-catalogue.ts'
import { openField } from './field.ts'
import { fieldModel } from './model-sync.ts'
import { pollService } from './poll.ts'
import { openUplink } from './uplink.ts'

export type FieldbusOptions = {
  settings: Settings<typeof FIELDBUS_ENV>
  effective: Effective[]
  /** What this process speaks; devices of other protocols are another's. */
  protocols: readonly FieldProtocol[]
  log: Logger
}

/** @throws Error with the reason when files, kit or store cannot be used */
export async function fieldbusServices({ settings, effective, protocols, log }: FieldbusOptions): Promise<Service[]> {
  const { site, catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log })
  const { site_id, edge_id, building } = site
  const about = { name: building.name, version: readVersion() }
  const uplink = await openUplink({
    settings: { ...settings, SERVICE_MQTT_ENABLED: true },
    site_id,
    edge_id,
    catalogue,
    model: () => ({ ...about, ...fieldModel(site, catalogue.current()) }),
    clock: wallClock,
    log,
  })
  const polling = pollService({ catalogue: catalogue.current(), protocols, sinks: uplink.sinks, clock: wallClock, log })
  catalogue.onChange(polling.reload)
  return [...uplink.services, polling, catalogueWatch(catalogue, log)]
}

/** A protocol process without central: it polls, and what it reads goes through the outbox to broker, central or both. */
import type { Logger } from 'pino'
import type { Effective, Settings } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import { readVersion } from '#shared/node/version.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { SPLIT_EDGE_VARIABLES } from '../env.ts'
import type { PriorityFactory, PriorityEndpoints } from '../priority/priority-api.ts'
import { edgeHttp } from './edge-http.ts'
import { catalogueWatch, type FieldCatalogue } from './field-catalogue.ts'
import { openField } from './field.ts'
import { fieldModel } from './model-sync.ts'
import { pollService } from './poll.ts'
import { openUplink } from './uplink.ts'

export type FieldbusOptions = {
  /** Of the process, as its image is called. */
  name: string
  settings: Settings<typeof SPLIT_EDGE_VARIABLES>
  effective: Effective[]
  /** What this process speaks; devices of other protocols are another's. */
  protocols: readonly FieldProtocol[]
  /** What this process answers over HTTP besides health and poll status. */
  routes?: (catalogue: FieldCatalogue) => Route[]
  /** Where this process speaks BACnet. */
  priority?: PriorityFactory
  log: Logger
}

/**
 * Everything that a protocol process runs, in the order in which it starts.
 *
 * @throws Error with the reason when files, kit or store cannot be used
 */
export async function fieldbusServices(options: FieldbusOptions): Promise<Service[]> {
  const { name, settings, effective, protocols, routes, priority, log } = options
  const { site, catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log })
  const { site_id, edge_id, building } = site
  const { SERVICE_CENTRAL_URL: url, SERVICE_LOCAL_INGEST_TOKEN: token } = settings
  const clock = wallClock
  const version = readVersion()
  // What is said of the points follows a change before anything is read of them.
  let listed = catalogue.current()
  catalogue.onChange(next => {
    listed = next
  })
  const uplink = await openUplink({
    settings,
    central: url !== undefined && token !== undefined ? { url, token } : undefined,
    self: {
      site_id,
      edge_id,
      runs_rules: false,
      model: () => ({ name: building.name, version, ...fieldModel(site, listed) }),
      pollStatus: () => polling.pollStatus(),
    },
    ...(priority && { answer: (payload: Uint8Array) => asked?.answer(payload) }),
    catalogue,
    clock,
    log,
  })
  const polling = pollService({ catalogue: catalogue.current(), protocols, sinks: uplink.sinks, clock, log })
  catalogue.onChange(polling.reload)
  const { pollStatus, storing } = polling
  const asked: PriorityEndpoints | undefined = await priority?.({ catalogue, clock, site_id, edge_id, kit: uplink.kit, version })
  const ways = { hub: uplink.forwardState, central: uplink.localState }
  const http = await edgeHttp({
    ...{ name, version, settings, pollStatus, storing, ways },
    ...{ routes: [...(routes?.(catalogue) ?? []), ...(asked?.routes ?? [])], clock, log },
  })
  return [...uplink.services, polling, uplink.announcing, ...(asked?.services ?? []), catalogueWatch(catalogue, log), http]
}

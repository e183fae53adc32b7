/** A protocol process without central: it polls, and sends readings through the outbox to the broker, to central or to both. */
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import { readVersion } from '#shared/node/version.ts'
import type { SPLIT_EDGE_VARIABLES } from '../env.ts'
import type { PriorityServices } from '../priority/priority-api.ts'
import { edgeHttp } from './edge-http.ts'
import { type EdgeOptions, openEdge } from './edge.ts'
import { catalogueWatch } from './field-catalogue.ts'

type SplitEdgeOptions = Pick<EdgeOptions, 'site' | 'catalogue' | 'protocols' | 'kits'> & {
  /** Name of the process, as its image is called. */
  name: string
  settings: Settings<typeof SPLIT_EDGE_VARIABLES>
  /** Routes of this process besides health and poll status. */
  routes?: Route[]
  /** The priority visits; only where this process reads BACnet. */
  priority?: PriorityServices
  log: Logger
}

/**
 * @returns all services of the process, in the order in which they start
 * @throws Error with the reason when the outbox cannot be used
 */
export async function openSplitEdge(options: SplitEdgeOptions): Promise<Service[]> {
  const { name, settings, site, catalogue, protocols, kits, priority, routes = [], log } = options
  const { SERVICE_CENTRAL_URL: url, SERVICE_LOCAL_INGEST_TOKEN: token } = settings
  const clock = wallClock
  const version = readVersion()
  const edge = await openEdge({
    ...{ settings, site, catalogue, protocols, kits, version, clock, log },
    central: url !== undefined && token !== undefined ? { url, token } : undefined,
    operations: priority?.operations,
  })
  const { polling } = edge
  const http = await edgeHttp({
    ...{ name, version, settings, clock, log },
    pollStatus: () => polling.pollStatus(),
    storing: () => polling.storing(),
    traffic: () => polling.traffic(),
    publishers: { hub: edge.uplink.hubState, central: edge.uplink.centralState },
    routes: [...routes, ...(priority?.routes ?? [])],
  })
  const watch = catalogueWatch(catalogue, log)
  return [...edge.storageServices, ...edge.pollServices, ...(priority?.services ?? []), watch, http]
}

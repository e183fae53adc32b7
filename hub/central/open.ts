/** Central of a hub: ingests what edges send, forwards requests to edges, and serves the pages of the fleet. */
import type { Logger } from 'pino'
import { pollStatusRoute } from '#shared/central/api/health.ts'
import type { Central } from '#shared/central/central.ts'
import { createIngestService, type IngestService } from '#shared/central/ingest-service.ts'
import { metricsService } from '#shared/central/metrics.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import {
  type CentralSettings,
  createCentralOf,
  openWorkspaceOf,
  type ProcessParts,
  serveCentral,
} from '#shared/central/process.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import type { CentralFiles } from '../broker/files.ts'
import { openConnectors } from '../connectors/open.ts'
import { hubHealth } from '../ingest/health.ts'
import { createMqttSubscriber } from '../ingest/mqtt-subscriber.ts'
import { monitorRoutes } from '../monitor/monitor.route.ts'
import { MqttMonitor } from '../monitor/mqtt-monitor.ts'
import { fleetRoutes } from '../pages/fleet.route.ts'
import { hubOverrides } from '../pages/overrides.route.ts'

type Parts = Pick<ProcessParts, 'service' | 'effective' | 'clock' | 'log'> & {
  /** Undefined where this process does not connect to a broker. */
  files: CentralFiles | undefined
  broker: { host: string; port: number }
}

export type HubCentral = {
  central: Central
  ingestService: IngestService
  routes: (layout: PageLayout) => Route[]
  /** Stores, rules and runs. They start before any message is ingested. */
  services: Service[]
  /** The connection to the broker and to edges; started after a broker in the same process. */
  connections: Service[]
}

/** @throws Error that names the setting, file or folder that cannot be used */
export async function openHubCentral(settings: CentralSettings, { files, broker, ...parts }: Parts): Promise<HubCentral> {
  const { clock, log } = parts
  const workspace = await openWorkspaceOf(settings, parts)
  const { model, edges, edgeClaims: claims } = workspace.stores
  const ingestService = createIngestService({ inbox: workspace.inbox, model, edges, claims, clock, log })
  const monitor = new MqttMonitor(clock.now)
  const subscriber = files && createMqttSubscriber({ broker, ...files, ingestService, monitor, log })
  const connectors = openConnectors({ edges, files, publish: subscriber?.publish })
  const health = hubHealth({ edges, claims, ingestService, broker: subscriber }, clock.now)
  const central = createCentralOf(settings, workspace, {
    ...parts,
    scheduled: true,
    watchEdges: true,
    onFindings: () => undefined,
    health,
  })

  subscriber?.onResponse(connectors.onResponse)
  const { context } = central
  return {
    central,
    ingestService,
    routes: layout => [
      ...fleetRoutes(context, layout),
      pollStatusRoute(ingestService),
      ...monitorRoutes(monitor, layout),
      ...connectors.routes,
      ...hubOverrides({ context, layout, connectors: connectors.client }),
    ],
    services: [...workspace.services, ...central.services, ingestService, ...central.schedule],
    connections: [...(subscriber ? [subscriber] : []), connectors.service],
  }
}

/** The servers of API, pages and metrics. */
export async function serveHub(
  settings: CentralSettings,
  { central, routes }: Pick<HubCentral, 'central' | 'routes'>,
  log: Logger,
): Promise<Service[]> {
  const more = [{ href: '/mqtt', text: 'Messages' }]
  const layout = { product: 'hub', name: settings.SERVICE_SITE_ID, first: 'Fleet', more } as const
  const http = await serveCentral(settings, { central, layout, routes, log })
  return [metricsService(central.context, settings.SERVICE_METRICS_BIND, log), http]
}

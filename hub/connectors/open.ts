/** Creates the connectors of a hub from their parts: routes, clients and the service that closes them. */
import { connectorsRoutes } from '#shared/central/api/connectors.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord, EdgeStore } from '#shared/core/stores.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Current } from '#shared/node/watched-files.ts'
import type { Service } from '#shared/node/service.ts'
import { addressRoutes } from './address-routes.ts'
import { createBrokerClient } from './broker-client.ts'
import type { EdgeReply } from './edge-client.ts'
import { createConnectors, type EdgeConnectors } from './connectors.ts'
import { edgeInspectionRoutes } from './inspection-routes.ts'
import { type ConnectorFiles, createHttpsClient } from './https-client.ts'

/** Longest wait for a response. An edge reads from its own disk in well under a second, but a mobile connection is slow. */
const RESPONSE_MS = 15 * SECOND

type OpenConnectorsOptions = {
  /** Tenant of the edges, where the hub serves tenants. */
  tenant_id?: string | undefined
  edges: EdgeStore
  /** Undefined where the hub has no certificates; it then cannot reach any edge by HTTPS. */
  files: Current<ConnectorFiles> | undefined
  /** Undefined where the hub is not connected to a broker. */
  publish: ((topic: Topic, body: object) => Promise<void>) | undefined
  /** Default 15 s. */
  timeoutMs?: number
}

type OpenConnectors = {
  /** For the pages. */
  client: EdgeConnectors
  routes: Route[]
  /** Asks an edge over the broker, whatever address it has. @throws Problem edge_unreachable or edge_timeout */
  askBroker: (edge: EdgeRecord, operation: string, request: object) => Promise<EdgeReply>
  /** Handles what edges publish under `responses`. */
  onResponse: (topic: Topic, payload: Uint8Array) => void
  /** A session of an edge has begun. */
  onSession: (edge: EdgeKey) => void
  service: Service
}

export function openConnectors({
  tenant_id,
  edges,
  files,
  publish,
  timeoutMs = RESPONSE_MS,
}: OpenConnectorsOptions): OpenConnectors {
  const https = files && createHttpsClient({ files, tenant_id, timeoutMs })
  const broker = publish && createBrokerClient({ publish: (topic, body) => publish({ ...topic, tenant_id }, body), timeoutMs })
  const client = createConnectors({ edges, https, broker: broker?.send })
  return {
    client,
    routes: [...connectorsRoutes(client), ...edgeInspectionRoutes(client), ...addressRoutes(edges)],
    askBroker: async (edge, operation, request) => {
      if (!broker) throw new Problem('edge_unreachable', 'This hub is not connected to a broker')
      return broker.send(edge, operation, request)
    },
    onResponse: (topic, payload) => broker?.onResponse(topic, payload),
    onSession: edge => broker?.onSession(edge),
    service: { name: 'connectors', start: async () => undefined, stop: async () => https?.close() },
  }
}

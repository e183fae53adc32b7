/** The connectors of a hub as its mains wire them. */
import { type Connectors, connectorsRoutes } from '#shared/central/api/connectors.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import { addressRoutes } from './address-routes.ts'
import { brokerWay } from './broker-client.ts'
import { connectors } from './connectors.ts'
import { httpsWay } from './https-client.ts'

/** Longest that an edge may take: it answers from its own disk, so a second is much, but a mobile line is slow. */
const ANSWER_MS = 15 * SECOND

type OpenConnectorsOptions = {
  /** Whose edges are asked, where the hub serves tenants. */
  tenant_id?: string | undefined
  edges: EdgeStore
  /** Undefined where the hub has no certificates: it then cannot ask any edge by HTTPS. */
  files: { ca_pem: string; tokensKey: string | undefined } | undefined
  /** Undefined where the hub is not connected to a broker. */
  publish: ((topic: Topic, body: object) => Promise<void>) | undefined
  /** Default 15 s. */
  timeoutMs?: number
}

type OpenConnectors = {
  /** For the pages. */
  asked: Connectors
  routes: Route[]
  /** Takes what edges publish under `responses`. */
  onResponse: (topic: Topic, payload: Uint8Array) => void
  service: Service
}

export function openConnectors({
  tenant_id,
  edges,
  files,
  publish,
  timeoutMs = ANSWER_MS,
}: OpenConnectorsOptions): OpenConnectors {
  const https = files && httpsWay({ ...files, tenant_id, timeoutMs })
  const broker = publish && brokerWay({ publish: (topic, body) => publish({ ...topic, tenant_id }, body), timeoutMs })
  const asked = connectors({ edges, https, broker: broker?.ask })
  return {
    asked,
    routes: [...connectorsRoutes(asked), ...addressRoutes(edges)],
    onResponse: (topic, payload) => broker?.take(topic, payload),
    service: { name: 'connectors', start: async () => undefined, stop: async () => https?.close() },
  }
}

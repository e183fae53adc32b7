/** The HTTPS port of the edge, for hubs that can reach it. It serves the routes of the priority history and nothing else. */
import type { Logger } from 'pino'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { unchanging } from '#shared/node/watched-files.ts'
import type { HistoryService } from './history-service.ts'
import { connectorRoutes } from './connector-routes.ts'

type ConnectorOptions = {
  service: HistoryService
  /** Undefined where no hub is configured. */
  kit: Kit | undefined
  host: string
  port: number
  version: string
  log: Logger
}

/**
 * Listens from start to stop of the service.
 *
 * @throws Error when the kit has no token or no certificate for this port
 */
export function connectorService({ service, kit, host, port, version, log }: ConnectorOptions): Promise<HttpService> {
  const { token, connector_cert_pem: cert, connector_key_pem: key } = kit ?? {}
  if (token === undefined || cert === undefined || key === undefined) {
    const lacking = kit
      ? 'the kit lacks edge.token or connector.cert.pem; `provisioning connector` writes both'
      : 'there is no kit'
    throw new Error(`SERVICE_CONNECTOR_PORT: ${lacking}`)
  }
  // This port has no login, so only the token of the edge is valid.
  return openHttp({
    name: 'connector',
    version,
    host,
    port,
    tls: unchanging({ cert, key }),
    routes: connectorRoutes(service, token),
    auth: openAuthWithoutUsers(log, Date.now),
    audit: undefined,
    log,
    trustedProxies: [],
  })
}

/** The edge's own HTTPS port, for hubs that reach it. It has the questions about priority history and nothing else. */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { openRefusedLogins } from '#shared/node/auth/refused-logins.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import type { HistoryService } from './history-service.ts'
import { connectorRoutes } from './connector-routes.ts'

export type ConnectorOptions = {
  service: HistoryService
  /** Undefined where no hub is known. */
  kit: Kit | undefined
  host: string
  port: number
  version: string
  log: Logger
}

/**
 * It listens when started.
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
  // Nobody logs in here, so no token but the edge's own is ever valid.
  const settings = {
    secret: randomBytes(32).toString('hex'),
    passwords: { admin: undefined, agent: undefined, viewer: undefined },
    trustedProxies: [],
  }
  const onRefused = openRefusedLogins(undefined, log, Date.now).add
  return openHttp({
    name: 'connector',
    version,
    host,
    port,
    tls: { cert, key },
    routes: connectorRoutes(service, token),
    auth: openAuth({ settings, epochs: { get: () => 0, set: () => undefined }, now: Date.now, onRefused }),
    audit: undefined,
    log,
    trustedProxies: [],
  })
}

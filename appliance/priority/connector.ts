/** The HTTPS port of the edge, for hubs that can reach it. It serves the routes for hubs and nothing else. */
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { type HttpService, openHttp, withTls } from '#shared/node/http/server.ts'
import type { ServerTls } from '#shared/node/http/server-tls.ts'
import { ageComplaint, type Kit, KIT_EXTRAS, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import type { Route } from '#shared/node/http/route.ts'
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { type WatchedFiles, watchFiles } from '#shared/node/watched-files.ts'
import { readPortPair, renewedPortFile } from '../kit/port-certificate.ts'

type ConnectorOptions = {
  /** With the token of the edge; there is no other way in. */
  routes: (token: string) => Route[]
  /** Undefined where no hub is configured. */
  kit: Kit | undefined
  /** Where the kit was put, as a folder or a ZIP: a pair that is replaced there is used at once. */
  kitPath: string
  /** Folder of the renewed kits, where the hub's new certificate of this port is stored. */
  renewed: string
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
export async function connectorService({ routes, kit, kitPath, renewed, ...options }: ConnectorOptions): Promise<HttpService> {
  const { host, port, version, log } = options
  const { token, connector_cert_pem: cert, connector_key_pem: key } = kit ?? {}
  if (token === undefined || cert === undefined || key === undefined) {
    const lacking = kit
      ? 'the kit lacks edge.token or connector.cert.pem; `provisioning connector` writes both'
      : 'there is no kit'
    throw new Error(`SERVICE_CONNECTOR_PORT: ${lacking}`)
  }
  // This port has no login, so only the token of the edge is valid.
  const tls = await watchConnector({ cert, key }, kitPath, renewed, log)
  const http = await openHttp({
    name: 'connector',
    version,
    host,
    port,
    tls,
    routes: routes(token),
    auth: openAuthWithoutUsers(log, Date.now),
    audit: undefined,
    log,
    trustedProxies: [],
  })
  return withTls(http, tls)
}

/** A kit without such a pair, such as one whose files are being replaced, changes nothing. */
const watchConnector = (first: ServerTls, kitPath: string, renewed: string, log: Logger): Promise<WatchedFiles<ServerTls>> =>
  watchFiles<ServerTls>({
    name: 'certificate of the HTTPS port',
    paths: [
      ...[kitPath, join(kitPath, KIT_EXTRAS.connector_cert_pem), join(kitPath, KIT_EXTRAS.connector_key_pem)],
      renewedPortFile(renewed),
    ],
    read: async before => {
      if (!before) return first
      const pair = await readPortPair(await readKitOfAnyTime(kitPath), renewed)
      if (!pair) return before
      const { connector_cert_pem: cert, connector_key_pem: key } = pair
      createSecureContext({ cert, key })
      const complaint = ageComplaint({ cert_pem: cert }, Date.now())
      if (complaint !== undefined) throw new Error(`${kitPath}: ${complaint}`)
      return { cert, key }
    },
    log,
  })

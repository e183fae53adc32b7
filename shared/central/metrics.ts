/** Health as figures for Prometheus, at an address of its own without a login. Off unless it is set. */
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Service } from '#shared/node/service.ts'
import type { RequestCounts } from '#shared/node/http/request-counts.ts'
import type { CentralContext } from './context.ts'

const LIVE_PATH = '/live'

/**
 * `GET /metrics` in Prometheus' text format. Names are `plenum_` and what health calls them: `plenum_ingest_ok`,
 * `plenum_poll_points_down`; `plenum_check` is 1 for a check that is well, 0.5 for a warning and 0 for a failure. There is
 * one series for each name, none for each point or device. Requests are counted by kind and class of status. `detail` may name hosts and is left out; a `reason` is for everybody.
 *
 * `GET /live` answers 200 as long as the process answers, for supervisors that end one which does not: what health complains of, such
 * as a full disk, is still there after a restart.
 *
 * @param bind `address:port`; undefined leaves it off
 */
export function metricsService(
  context: CentralContext,
  requests: Readonly<RequestCounts>,
  bind: string | undefined,
  log: Logger,
): Service {
  let server: Server | undefined
  return {
    name: 'metrics',
    async start() {
      if (bind === undefined) return
      const { metricsText } = await import('./metrics-text.ts')
      const render = metricsText(context, requests)
      server = createServer((request, response) => {
        if (request.url === LIVE_PATH && request.method === 'GET') return void response.writeHead(200).end('live\n')
        if (request.url !== '/metrics' || request.method !== 'GET') return void response.writeHead(404).end('GET /metrics\n')
        render().then(
          ({ type, text }) => response.writeHead(200, { 'content-type': type }).end(text),
          error => {
            log.error({ err: error }, 'figures cannot be given')
            response.writeHead(500).end()
          },
        )
      })
      const cut = bind.lastIndexOf(':')
      server.listen(Number(bind.slice(cut + 1)), bind.slice(0, cut))
      await once(server, 'listening').catch((error: Error) => {
        throw new Error(`SERVICE_METRICS_BIND ${bind} cannot be used: ${error.message}`, { cause: error })
      })
    },
    async stop() {
      if (!server?.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

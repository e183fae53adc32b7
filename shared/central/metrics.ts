/** Health as figures for Prometheus, at an address of its own without a login. Off unless it is set. */
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Service } from '#shared/node/service.ts'
import { BUCKETS_SECS, type RequestCounts } from '#shared/node/http/request-counts.ts'
import type { CentralContext } from './context.ts'
import { healthOf } from '#shared/central/api/health.ts'

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
      const { collectDefaultMetrics, Gauge, Registry } = await import('@prometheus-io/client')
      const own = new Registry()
      collectDefaultMetrics({ register: own })
      const render = async () => {
        const registry = new Registry()
        for (const { name, help, labels, value } of figures(await healthOf(context))) {
          const known = registry.getSingleMetric(name) as InstanceType<typeof Gauge> | undefined
          const gauge = known ?? new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] })
          gauge.set(labels, value)
        }
        return { type: own.contentType, text: `${await registry.metrics()}${requestFigures(requests)}${await own.metrics()}` }
      }
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

/** Latency, traffic, errors and load of the server, as a counter, a histogram and a gauge. */
function requestFigures({ running, answered, latency }: Readonly<RequestCounts>): string {
  const total = [...answered].flatMap(([kind, classes]) =>
    [...classes].map(([status, count]) => `plenum_http_requests_total{kind="${kind}",status="${status}"} ${count}`),
  )
  const seconds = [...latency].flatMap(([kind, { buckets, count, sumSecs }]) => {
    let within = 0
    return [
      ...BUCKETS_SECS.map(
        (bound, i) => `plenum_http_request_seconds_bucket{kind="${kind}",le="${bound}"} ${(within += buckets[i]!)}`,
      ),
      `plenum_http_request_seconds_bucket{kind="${kind}",le="+Inf"} ${count}`,
      `plenum_http_request_seconds_sum{kind="${kind}"} ${sumSecs}`,
      `plenum_http_request_seconds_count{kind="${kind}"} ${count}`,
    ]
  })
  const lines = [
    '# HELP plenum_http_requests_total Requests by kind and class of status; aborted: the caller went away',
    '# TYPE plenum_http_requests_total counter',
    ...total,
    '# HELP plenum_http_request_seconds Time from a request to the end of its answer, streams of events left out',
    '# TYPE plenum_http_request_seconds histogram',
    ...seconds,
    '# HELP plenum_http_requests_running Requests that are being answered',
    '# TYPE plenum_http_requests_running gauge',
    `plenum_http_requests_running ${running}`,
  ]
  return `${lines.join('\n')}\n`
}

type Figure = { name: string; help: string; labels: Record<string, string>; value: number }

const WELL = { ok: 1, warn: 0.5, fail: 0 } as const

function figures({ service, version, checks, ...body }: Awaited<ReturnType<typeof healthOf>>): Figure[] {
  const numbers = (from: object, prefix: string, of: string): Figure[] =>
    Object.entries(from).flatMap(([key, value]) =>
      typeof value === 'number' ? [{ name: `plenum_${prefix}${key}`, help: `${key} of ${of}`, labels: {}, value }] : [],
    )
  return [
    { name: 'plenum_build_info', help: 'What runs', labels: { service, version }, value: 1 },
    ...numbers(body, '', 'the process'),
    ...Object.entries(checks).flatMap(([check, result]) => [
      { name: 'plenum_check', help: '1 well, 0.5 a warning, 0 a failure', labels: { check }, value: WELL[result.status] },
      ...(typeof result['reason'] === 'string'
        ? [
            {
              name: 'plenum_check_reason',
              help: 'Why a check is not well',
              labels: { check, reason: result['reason'] },
              value: 1,
            },
          ]
        : []),
      ...numbers(result, `${check}_`, check),
    ]),
  ]
}

/** Health and requests as text for Prometheus. A file of its own, because the library is loaded only where somebody asks for metrics. */
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client'
import { BUCKETS_SECS, type RequestCounts } from '#shared/node/http/request-counts.ts'
import { healthOf } from './api/health.ts'
import type { ClassUse } from '#shared/core/disk-use.ts'
import { type BuildingExtent, monthStart } from '#shared/core/series/history-quota.ts'
import { SECOND } from '#shared/core/time.ts'
import type { CentralContext } from './context.ts'

/** @returns a function that gives the figures of this moment, with those of the process */
export function metricsText(context: CentralContext, requests: Readonly<RequestCounts>) {
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  return async (): Promise<{ type: string; text: string }> => {
    const registry = new Registry()
    const shown = [
      ...figures(await healthOf(context)),
      ...storageFigures(await context.storage()),
      ...historyFigures(context.historyExtents()),
    ]
    for (const { name, help, labels, value } of shown) {
      const known = registry.getSingleMetric(name) as InstanceType<typeof Gauge> | undefined
      const gauge = known ?? new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] })
      gauge.set(labels, value)
    }
    return { type: own.contentType, text: `${await registry.metrics()}${requestFigures(requests)}${await own.metrics()}` }
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

const storageFigures = (uses: ClassUse[]): Figure[] =>
  uses.flatMap(({ name, bytes, max_bytes }) => {
    const [labels, of] = [{ class: name }, 'of each class of data on the disk'] as const
    const size = { name: 'plenum_storage_bytes', help: `Bytes ${of}`, labels, value: bytes }
    if (max_bytes === null) return [size]
    return [size, { name: 'plenum_storage_max_bytes', help: `Most bytes ${of}`, labels, value: max_bytes }]
  })

const historyFigures = (extents: BuildingExtent[]): Figure[] =>
  extents.flatMap(({ building_id, bytes, max_bytes, whole_from, thinned_from }) => {
    const figure = (name: string, help: string, value: number): Figure => ({
      ...{ name: `plenum_history_building_${name}`, help, labels: { building_id }, value },
    })
    const since = (month: string | null, name: string, help: string) =>
      month === null ? [] : [figure(name, help, monthStart(month) / SECOND)]
    return [
      figure('bytes', 'Bytes of sealed history of a building', bytes),
      ...(Number.isFinite(max_bytes) ? [figure('max_bytes', 'Most bytes of sealed history of a building', max_bytes)] : []),
      ...since(whole_from, 'whole_from_secs', 'Since when every sample of a building is kept'),
      ...since(thinned_from, 'thinned_from_secs', 'Since when one value for 15 minutes of a building is kept'),
    ]
  })

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

/** The API of discovery, in processes that run BACnet on the OT network. */
import { Type } from '@sinclair/typebox'
import { FILTER_MAX } from '../core/discovery/point-filter.ts'
import { ADDRESS_PATTERN, ADDRESSES_MAX, BOUNDS, completeRequest } from '../core/discovery/request.ts'
import type { DeviceResult, Discovery } from '../core/discovery/discovery.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { silentAddresses } from '../core/discovery/changes.ts'
import { ADDED_ANSWER, DISCOVERY_ANSWER, PREVIEW_ANSWER, STARTED_ANSWER } from './discovery-schemas.ts'
import type { DiscoveryService } from './discovery-service.ts'

const within = ([minimum, maximum]: readonly [number, number]) => Type.Optional(Type.Integer({ minimum, maximum }))
/** Devices that one request names: as many as a discovery takes. */
const KEYS_MAX = 2000
/** Longest key: instance, address, network and mac. */
const KEY = Type.String({ minLength: 1, maxLength: 80 })

export const POLL_SECS = { default: 60, minimum: 1, maximum: 86_400 } as const
const CHOICE = {
  devices: Type.Array(KEY, { minItems: 1, maxItems: KEYS_MAX }),
  poll_secs: Type.Optional(Type.Integer({ minimum: POLL_SECS.minimum, maximum: POLL_SECS.maximum })),
  only: Type.Optional(
    Type.String({ maxLength: FILTER_MAX, description: 'words of the points that are wanted, with a minus of others' }),
  ),
}
type Choice = { devices: string[]; poll_secs?: number; only?: string }
const choiceOf = ({ devices, poll_secs = POLL_SECS.default, only = '' }: Choice) => ({ keys: devices, poll_secs, only })

export const discoveryRoutes = (service: DiscoveryService): Route[] => [
  startRoute(service),
  route({
    method: 'GET',
    path: '/api/bacnet/discover',
    auth: 'operator',
    summary: 'The newest discovery: log, devices, what has changed, and why it may be empty',
    query: strict({ after_line: Type.Optional(Type.Integer({ minimum: 0 })) }),
    reply: DISCOVERY_ANSWER,
    handle: ({ query }) => {
      const discovery = service.current()
      if (!discovery) return { ok: true, enabled: service.enabled, job: null }
      return { ok: true, enabled: service.enabled, job: jobView(service, discovery, query.after_line ?? 0) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/bacnet/discover/stop',
    auth: 'operator',
    summary: 'Ends the discovery that runs; what it has found stays',
    body: strict({}),
    reply: DONE_ANSWER,
    action: 'bacnet_discover_stop',
    handle: ({ audit }) => {
      service.halt()
      audit({ subject: service.current()?.job_id ?? 'none' })
      return { ok: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api/bacnet/discover/preview',
    auth: 'operator',
    summary: 'The entries that devices of the newest discovery would make, and the traffic; changes nothing',
    body: strict(CHOICE),
    reply: PREVIEW_ANSWER,
    action: 'bacnet_discover_preview',
    problems: ['invalid'],
    handle: ({ body }) => ({ ok: true, ...service.preview(choiceOf(body)) }),
  }),
  route({
    method: 'POST',
    path: '/api/bacnet/discover/add',
    auth: 'operator',
    summary: 'Adds devices of the newest discovery to the catalogue; they are polled from then on',
    body: strict({ ...CHOICE, confirm: Type.Boolean() }),
    reply: ADDED_ANSWER,
    action: 'bacnet_discover_add',
    problems: ['confirm_required', 'conflict', 'invalid'],
    handle: async ({ body: { confirm, ...choice }, audit }) => {
      if (!confirm) throw new Problem('confirm_required', 'Devices are added when the body says confirm: true')
      const { at: _at, ...added } = await service.add(choiceOf(choice))
      audit({ subject: added.device_ids.join(' '), after: added })
      return { ok: true, ...added }
    },
  }),
]

const startRoute = (service: DiscoveryService): Route =>
  route({
    method: 'POST',
    path: '/api/bacnet/discover',
    auth: 'operator',
    summary: 'Begins to call BACnet devices and to read what they hold; answers at once',
    body: strict({
      low: within(BOUNDS.instance),
      high: within(BOUNDS.instance),
      network: Type.Optional(
        Type.Union([oneOf(['all', 'local']), Type.Integer({ minimum: BOUNDS.network[0], maximum: BOUNDS.network[1] })]),
      ),
      addresses: Type.Optional(Type.Array(Type.String({ pattern: ADDRESS_PATTERN, maxLength: 21 }), { maxItems: ADDRESSES_MAX })),
      seconds: within(BOUNDS.seconds),
      requests_per_second: within(BOUNDS.requests_per_second),
    }),
    reply: STARTED_ANSWER,
    statuses: [202],
    action: 'bacnet_discover',
    problems: ['invalid', 'discovery_in_progress', 'discovery_disabled'],
    handle: ({ body, reply, audit }) => {
      const completed = completeRequest(body)
      if ('errors' in completed) throw new Problem('invalid', completed.errors[0]!.message, completed.errors)
      const { job_id, request } = service.begin(completed.request)
      audit({ subject: job_id, after: request })
      reply.code(202)
      return { ok: true, job_id, request }
    },
  })

function jobView(service: DiscoveryService, discovery: Discovery, afterLine: number) {
  const { job_id, state, request, started_at, finished_at, error, calls_sent, i_ams, ignored, devices, log } = discovery
  return {
    job_id,
    state,
    request,
    started_at: formatInstant(started_at),
    finished_at: finished_at === null ? null : formatInstant(finished_at),
    error,
    calls_sent,
    i_ams,
    ignored,
    silent: silentAddresses(discovery),
    devices: devices.map(deviceView),
    changes: service.changes(),
    why: service.why() ?? null,
    log: log.filter(({ n }) => n > afterLine).map(({ n, at, text }) => ({ n, at: formatInstant(at), text })),
  }
}

/** Without its objects: they come with the preview of the device. */
const deviceView = ({ objects, ...device }: DeviceResult) => ({ ...device, points: objects.length })

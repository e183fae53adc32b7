/** HTTP server of a protocol process: health and poll status. Nothing can be changed through it. */
import { Type } from '@sinclair/typebox'
import type { Logger } from 'pino'
import type { HealthCheck } from '#shared/central/context.ts'
import { publicChecks } from '#shared/central/public-health.ts'
import type { Settings } from '#shared/core/env.ts'
import { mergePollStatus } from '#shared/core/poll/merged.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { Storing } from '#shared/core/storage-status.ts'
import { formatInstant, SECOND } from '#shared/core/time.ts'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { POLL_STATUS } from '#shared/central/api/schemas/poll-schemas.ts'
import { route, type Route } from '#shared/node/http/route.ts'
import type { SPLIT_EDGE_VARIABLES } from '../env.ts'
import type { ProtocolTraffic } from '../core/poll/traffic.ts'
import type { PublisherState } from './publisher.ts'
import { pollCheck, publisherCheck } from './health-checks.ts'

export type EdgeHttpOptions = {
  /** Name of the process, as its image is called. */
  name: string
  version: string
  settings: Pick<Settings<typeof SPLIT_EDGE_VARIABLES>, 'SERVICE_EDGE_PORT' | 'SERVICE_CONTAINER' | 'SERVICE_LOCAL_INGEST_TOKEN'>
  pollStatus: () => PollStatus
  storing: () => Storing
  traffic: () => ProtocolTraffic[]
  /** States of the publishers by destination; one that is off is left out of health. */
  publishers: Record<'hub' | 'central', () => PublisherState>
  /** Further routes; each says who may call it. */
  routes?: readonly Route[]
  clock: Clock
  log: Logger
}

/**
 * Listens on loopback, and on every address inside a container only, from where its port is published to the host's loopback.
 * `GET /api/health` is public and contains no names; `GET /api/health/details` and `GET /api/bacnet/poll/status` take
 * SERVICE_LOCAL_INGEST_TOKEN.
 */
export function edgeHttp(options: EdgeHttpOptions): Promise<HttpService> {
  const { name, version, settings, clock, log } = options
  return openHttp({
    name,
    version,
    host: settings.SERVICE_CONTAINER ? '0.0.0.0' : '127.0.0.1',
    port: settings.SERVICE_EDGE_PORT,
    routes: [...edgeRoutes(options), ...(options.routes ?? [])],
    auth: openAuthWithoutUsers(log, clock.now),
    audit: undefined,
    log,
    trustedProxies: [],
  })
}

function edgeRoutes({ name, version, settings, pollStatus, storing, traffic, publishers, clock }: EdgeHttpOptions): Route[] {
  const startedAt = clock.now()
  const bearer = { subject: 'local', value: settings.SERVICE_LOCAL_INGEST_TOKEN, variable: 'SERVICE_LOCAL_INGEST_TOKEN' }
  const healthOf = () => {
    const poll = pollCheck(pollStatus(), storing(), clock.now(), traffic())
    const checks: Record<string, HealthCheck> = {
      poll,
      ...Object.fromEntries(Object.entries(publishers).flatMap(([to, state]) => checkOf(to, state()))),
    }
    const uptime_secs = Math.floor((clock.now() - startedAt) / SECOND)
    const ok = poll.status !== 'fail'
    return { ok, service: name, version, started_at: formatInstant(startedAt), uptime_secs, checks }
  }
  const reply = Type.Object({ ok: Type.Boolean() }, { additionalProperties: true })
  return [
    route({
      method: 'GET',
      path: '/api/health',
      auth: 'public',
      summary: 'Health of the process, in counts and codes; 503 with the same body when it does not poll',
      reply,
      statuses: [200, 503],
      handle: call => {
        const { checks, ...body } = healthOf()
        return call.reply.code(body.ok ? 200 : 503).send({ ...body, checks: publicChecks(checks) })
      },
    }),
    route({
      method: 'GET',
      path: '/api/health/details',
      auth: 'edge',
      bearer,
      summary: 'The same with the reasons in words; always 200',
      reply,
      handle: healthOf,
    }),
    route({
      method: 'GET',
      path: '/api/bacnet/poll/status',
      auth: 'edge',
      bearer,
      summary: 'Poll status of each device',
      reply: POLL_STATUS,
      handle: () => mergePollStatus(pollStatus(), []),
    }),
  ]
}

const checkOf = (to: string, publisher: PublisherState): [string, HealthCheck][] =>
  publisher.state === 'off' ? [] : [[to, publisherCheck(publisher)]]

/** The small door of a protocol process: whether it works, and how its polling goes. Nothing can be changed through it. */
import { randomBytes } from 'node:crypto'
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
import { openRefusedLogins } from '#shared/node/auth/refused-logins.ts'
import { route, type Route } from '#shared/node/http/route.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import type { SPLIT_EDGE_VARIABLES } from '../env.ts'
import type { ForwardState } from './forward-state.ts'
import { pollCheck, wayCheck } from './health-checks.ts'

export type EdgeHttpOptions = {
  /** Of the process, as its image is called. */
  name: string
  version: string
  settings: Pick<Settings<typeof SPLIT_EDGE_VARIABLES>, 'SERVICE_EDGE_PORT' | 'SERVICE_CONTAINER' | 'SERVICE_LOCAL_INGEST_TOKEN'>
  pollStatus: () => PollStatus
  storing: () => Storing
  /** The ways out of this process, by destination; one that is off is left out of health. */
  ways: Record<'hub' | 'central', () => ForwardState>
  /** What this process answers besides; each says who may call. */
  routes?: readonly Route[]
  clock: Clock
  log: Logger
}

/**
 * Listens on loopback, and on every address inside a container only, from where its port is published to the host's loopback.
 * `GET /api/health` is open and says no names; `GET /api/health/details` and `GET /api/bacnet/poll/status` take
 * SERVICE_LOCAL_INGEST_TOKEN.
 */
export function edgeHttp(options: EdgeHttpOptions): Promise<HttpService> {
  const { name, version, settings, clock, log } = options
  // Nobody logs in here, so no token but the shared one is ever valid.
  const nobody = { secret: randomBytes(32).toString('hex'), passwords: NO_PASSWORDS, trustedProxies: [] }
  const onRefused = openRefusedLogins(undefined, log, clock.now).add
  return openHttp({
    name,
    version,
    host: settings.SERVICE_CONTAINER ? '0.0.0.0' : '127.0.0.1',
    port: settings.SERVICE_EDGE_PORT,
    routes: [...edgeRoutes(options), ...(options.routes ?? [])],
    auth: openAuth({ settings: nobody, epochs: { get: () => 0, set: () => undefined }, now: clock.now, onRefused }),
    audit: undefined,
    log,
    trustedProxies: [],
  })
}

const NO_PASSWORDS = { admin: undefined, agent: undefined, viewer: undefined }

function edgeRoutes({ name, version, settings, pollStatus, storing, ways, clock }: EdgeHttpOptions): Route[] {
  const startedAt = clock.now()
  const bearer = { subject: 'local', value: settings.SERVICE_LOCAL_INGEST_TOKEN, variable: 'SERVICE_LOCAL_INGEST_TOKEN' }
  const healthOf = () => {
    const poll = pollCheck(pollStatus(), storing(), clock.now())
    const checks: Record<string, HealthCheck> = {
      poll,
      ...Object.fromEntries(Object.entries(ways).flatMap(([to, state]) => checkOf(to, state()))),
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
      summary: 'Whether the process works, in counts and codes; 503 with the same body when it does not poll',
      reply,
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
      summary: 'How polling goes, device by device',
      handle: () => mergePollStatus(pollStatus(), []),
    }),
  ]
}

const checkOf = (to: string, way: ForwardState): [string, HealthCheck][] => (way.state === 'off' ? [] : [[to, wayCheck(way)]])

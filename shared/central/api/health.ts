import { mergePollStatus } from '#shared/core/poll/merged.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { IngestService } from '#shared/central/ingest-service.ts'
import { Type } from '@sinclair/typebox'
import { errorText } from '#shared/core/error-text.ts'
import { formatInstant, SECOND } from '#shared/core/time.ts'
import { oneOf, route, type Route } from '#shared/node/http/route.ts'
import type { CentralContext, HealthCheck } from '#shared/central/context.ts'
import { POLL_STATUS } from './schemas/poll-schemas.ts'
import { publicChecks } from '#shared/central/public-health.ts'

/** By name; the end of the name is the unit. */
const FIGURE = Type.Union([Type.Number(), Type.String(), Type.Boolean(), Type.Null(), Type.Array(Type.String())])
const CHECK = Type.Object(
  { status: oneOf(['ok', 'warn', 'fail']), detail: Type.Optional(Type.String()) },
  { additionalProperties: FIGURE, description: 'with the figures of the check' },
)
const HealthReply = Type.Object({
  ok: Type.Boolean(),
  service: Type.String(),
  version: Type.String(),
  started_at: Type.String({ format: 'date-time' }),
  uptime_secs: Type.Integer(),
  auth_required: Type.Boolean(),
  multi_tenant: Type.Boolean(),
  historian_prefix: Type.String(),
  active_tenant_id: Type.String(),
  tenant_budgets: Type.Boolean(),
  edges: Type.Integer(),
  ingest_ok: Type.Integer(),
  ingest_duplicate: Type.Integer(),
  ingest_rejected: Type.Integer(),
  last_ingest_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  checks: Type.Record(Type.String(), CHECK),
})

export function healthRoutes(context: CentralContext): Route[] {
  const health = {
    method: 'GET',
    auth: 'public',
    summary: 'Whether the process works, in counts, codes and ages; 503 with the same body when a check fails',
    reply: HealthReply,
    statuses: [200, 503],
    handle: async ({ reply }) => {
      const { checks, ...body } = await healthOf(context)
      const counts = context.tenancy.multi_tenant && NO_COUNTS
      return reply.code(body.ok ? 200 : 503).send({ ...body, ...counts, checks: publicChecks(checks) })
    },
  } as const satisfies Omit<Route, 'path'>
  return [
    { ...health, path: '/api/health' },
    { ...health, path: '/health' },
    route({
      method: 'GET',
      path: '/api/health/details',
      auth: 'viewer',
      summary: 'The same with the reasons of each check in words; always 200',
      reply: HealthReply,
      handle: () => healthOf(context),
    }),
    route({
      method: 'GET',
      path: '/api/version',
      auth: 'viewer',
      anyBuilding: true,
      summary: 'The version that runs',
      reply: Type.Object({ ok: Type.Literal(true), service: Type.String(), version: Type.String() }),
      handle: () => ({ ok: true, service: context.service, version: context.version }),
    }),
  ]
}

/** A caller without a token receives no figures of the tenants of a hub. */
const NO_COUNTS = { edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }

/** Body of `GET /api/health/details`. */
export async function healthOf({ service, version, startedAt, clock, auth, health, tenancy }: CentralContext) {
  const entries = Object.entries(health.checks).map(async ([name, check]) => [name, await runCheck(check)] as const)
  const checks = Object.fromEntries(await Promise.all(entries))
  const { last_ingest_at, ...counters } = health.counters()
  return {
    ok: Object.values(checks).every(({ status }) => status !== 'fail'),
    service,
    version,
    started_at: formatInstant(startedAt),
    uptime_secs: Math.floor((clock.now() - startedAt) / SECOND),
    auth_required: auth.required,
    multi_tenant: tenancy.multi_tenant,
    historian_prefix: tenancy.historian_prefix,
    active_tenant_id: tenancy.tenant_id,
    tenant_budgets: tenancy.multi_tenant,
    ...counters,
    last_ingest_at: last_ingest_at === null ? null : formatInstant(last_ingest_at),
    checks,
  }
}

async function runCheck(check: () => HealthCheck | Promise<HealthCheck>): Promise<HealthCheck> {
  try {
    return await check()
  } catch (error) {
    return { status: 'fail', detail: errorText(error) }
  }
}

/**
 * How polling goes: devices and points by state, with round trips and errors (contract §10), here and at the edges that
 * report to this central.
 *
 * @param own what this process polls; undefined where it has no driver
 */
export const pollStatusRoute = (ingestService: Pick<IngestService, 'ingest'>, own?: () => PollStatus): Route =>
  route({
    method: 'GET',
    path: '/api/bacnet/poll/status',
    auth: 'viewer',
    summary: 'How polling goes, device by device, here and at the edges',
    reply: POLL_STATUS,
    handle: () => mergePollStatus(own?.(), ingestService.ingest.registry.pollReports()),
  })

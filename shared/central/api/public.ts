import { formatInstant, SECOND } from '#shared/core/time.ts'
import { takeSnapshot } from '#shared/flow/snapshot.ts'
import { route, type Route } from '#shared/node/http/route.ts'
import { SNAPSHOT_ANSWER, SUMMARY_ANSWER } from './schemas/model-schemas.ts'
import type { CentralContext } from '#shared/central/context.ts'

/** The routes are public, so answers are cached for a while: frequent requests cost nothing. */
const KEPT_MS = 10 * SECOND

/** Public health: counts, codes and ages only. */
export function publicRoutes(context: CentralContext): Route[] {
  const snapshot = kept(() => ({ as_of: formatInstant(context.clock.now()), ...takeSnapshot(context) }))
  return [
    route({
      method: 'GET',
      path: '/api/building/snapshot',
      auth: 'public',
      ofTenant: true,
      summary: 'Counts, codes and ages of everything here',
      reply: SNAPSHOT_ANSWER,
      handle: () => ({ ok: true, ...snapshot() }),
    }),
    route({
      method: 'GET',
      path: '/api/dashboard/summary',
      auth: 'public',
      ofTenant: true,
      summary: 'The few figures of a dashboard',
      reply: SUMMARY_ANSWER,
      handle: () => {
        const { as_of, buildings, equipment, points, findings_active, last_run_age_secs, newest_edge_data_age_secs } = snapshot()
        return { ok: true, as_of, buildings, equipment, points, findings_active, last_run_age_secs, newest_edge_data_age_secs }
      },
    }),
  ]
}

function kept<T>(make: () => T): () => T {
  let made: { at: number; value: T } | undefined
  return () => {
    if (!made || made.at < performance.now() - KEPT_MS) made = { at: performance.now(), value: make() }
    return made.value
  }
}

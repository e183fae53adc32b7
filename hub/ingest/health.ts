import type { HealthSources } from '#shared/central/context.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import type { ingestService } from './ingest.ts'

type Parts = { edges: EdgeStore; ingest: Pick<ReturnType<typeof ingestService>, 'counters'> | undefined }

/**
 * What a hub adds to health: its counters, and whether it hears its broker.
 *
 * @param parts looked up at each question; `ingest` is undefined where there is no broker
 */
export function hubHealth(parts: () => Parts): HealthSources {
  return {
    checks: {
      broker: () => {
        const counters = parts().ingest?.counters()
        if (!counters) return { status: 'ok', detail: 'off' }
        const { connected, ingest_waiting, ingest_failed } = counters
        const status = connected ? 'ok' : 'warn'
        return { status, ingest_waiting, ingest_failed, ...(!connected && { detail: 'the broker is not reached' }) }
      },
    },
    counters: () => {
      const { edges, ingest } = parts()
      const counters = ingest?.counters()
      return {
        edges: edges.list().length,
        ingest_ok: counters?.ingest_ok ?? 0,
        ingest_duplicate: counters?.ingest_duplicate ?? 0,
        ingest_rejected: counters?.ingest_rejected ?? 0,
        last_ingest_at: counters?.last_ingest_at ?? null,
      }
    },
  }
}

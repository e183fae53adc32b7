import type { HealthSources } from '#shared/central/context.ts'
import type { EdgeClaims, EdgeStore } from '#shared/core/stores.ts'
import { storingStatus } from '#shared/core/storage-status.ts'
import type { IngestDesk } from '#shared/central/ingest-service.ts'

const WAITS = 'what edges send cannot be stored, and waits with them:'

type Parts = {
  edges: EdgeStore
  claims: EdgeClaims
  desk: Pick<IngestDesk, 'flow' | 'counters' | 'edgeIds'>
  broker: { isConnected(): boolean } | undefined
}

/**
 * What a hub adds to health: its counters, whether it can store what edges send, and whether it is connected to its broker.
 *
 * @param parts `broker` is undefined where this process is not connected to one
 * @param now ms of the process's clock
 */
export function hubHealth({ edges, claims, desk, broker }: Parts, now: () => number): HealthSources {
  return {
    checks: {
      edge_ids: desk.edgeIds,
      edge_claims: () => {
        const [refused, takeovers] = [claims.refusals().length, claims.takeovers().length]
        if (refused + takeovers === 0) return { status: 'ok', refused, takeovers }
        return {
          status: 'warn',
          refused,
          takeovers,
          detail: 'edges are refused, or wait for somebody to confirm them: Fleet names them',
        }
      },
      ingest: () => {
        const trouble = desk.flow.trouble()
        const figures = storingStatus(trouble, now())
        // Nothing waits here: an edge keeps what is not acknowledged, within the quota of its outbox.
        return { ...figures, readings_waiting: 0, ...(trouble && { detail: `${WAITS} ${trouble.reason}` }) }
      },
      broker: () => {
        if (!broker) return { status: 'ok', detail: 'off' }
        const { ingest_waiting, ingest_failed } = desk.flow.counters()
        const connected = broker.isConnected()
        const status = connected ? 'ok' : 'warn'
        return { status, ingest_waiting, ingest_failed, ...(!connected && { detail: 'the broker is not reached' }) }
      },
    },
    counters: () => ({ edges: edges.list().length, ...desk.counters() }),
  }
}

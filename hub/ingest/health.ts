import type { HealthCheck, HealthSources } from '#shared/central/context.ts'
import type { IngestService } from '#shared/central/ingest-service.ts'
import { type StoringTrouble, storingStatus } from '#shared/core/storage-status.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { edgeName } from '#shared/core/model/model.ts'
import type { EdgeClaims, EdgeStore } from '#shared/core/stores.ts'

type Parts = {
  edges: EdgeStore
  claims: EdgeClaims
  /** Limits of what may be stored; undefined where there are none. */
  budget?: StorageBudget | undefined
  ingestService: Pick<IngestService, 'ingest' | 'counters' | 'edgeIds'>
  /** Certificates of the hub itself; undefined in a central of a tenant. */
  certificates?: (() => HealthCheck) | undefined
  /** Undefined where this process is not connected to a broker. `refused`: what it has refused, where it runs in this process. */
  broker: { isConnected(): boolean; refused?(): number } | undefined
  /** Set where this process is one of several that take turns. */
  replica?: { trouble(): StoringTrouble | undefined } | undefined
}

/**
 * Health of a hub: its counters, whether it can store what edges send, and whether it is connected to its broker.
 *
 * @param now ms of the process's clock
 */
export function hubHealth(
  { edges, claims, budget, ingestService, certificates, broker, replica }: Parts,
  now: () => number,
): HealthSources {
  const { monitor, registry } = ingestService.ingest
  const heldBack = () => registry.notices.heldBack()
  return {
    checks: {
      edge_ids: ingestService.edgeIds,
      edge_claims: () => {
        const [refused, takeovers] = [claims.refusals().length, claims.takeovers().length]
        if (refused + takeovers === 0) return { status: 'ok', refused, takeovers }
        const detail = 'an edge is refused or a building takeover is not confirmed: see the page Fleet'
        return { status: 'warn', refused, takeovers, detail }
      },
      ...(certificates && { certificates }),
      ...(replica && { cluster: () => clusterCheck(replica.trouble(), now()) }),
      ...(budget && {
        budget: () =>
          budgetCheck(
            budget,
            heldBack().filter(({ isBudget }) => isBudget),
          ),
      }),
      edge_bounds: () => {
        const beyond = heldBack().filter(({ isBudget }) => !isBudget)
        const figures = { edges_held_back: beyond.length, messages_held_back: monitor.counts().ingest_beyond_bounds }
        const [first] = beyond
        return first
          ? { status: 'warn', ...figures, detail: `edge ${edgeName(first)}: ${first.reason}` }
          : { status: 'ok', ...figures }
      },
      ingest: () => {
        const failure = monitor.trouble()
        const detail = failure && `messages of edges cannot be stored and stay on the edges: ${failure.reason}`
        // No reading is queued here: an edge retains unacknowledged messages in its outbox, up to its quota.
        const { ingest_next_streams: next_streams } = monitor.counts()
        return { ...storingStatus(failure, now()), readings_waiting: 0, next_streams, ...(detail !== undefined && { detail }) }
      },
      broker: () => {
        if (!broker) return { status: 'ok', detail: 'off' }
        const { ingest_waiting, ingest_failed } = monitor.counts()
        const counts = { ingest_waiting, ingest_failed, ...(broker.refused && { refused: broker.refused() }) }
        if (broker.isConnected()) return { status: 'ok', ...counts }
        return { status: 'warn', ...counts, detail: 'not connected to the broker' }
      },
    },
    counters: () => ({ edges: edges.count(), ...ingestService.counters() }),
  }
}

function clusterCheck(trouble: StoringTrouble | undefined, now: number): HealthCheck {
  const detail = trouble && `the cluster's database is not up to date, and nothing is acknowledged: ${trouble.reason}`
  return { ...storingStatus(trouble, now), active: true, ...(detail !== undefined && { detail }) }
}

/** Warns while the budget of the tenant prevents storing. */
function budgetCheck(budget: StorageBudget, heldBack: { reason: string }[]): HealthCheck {
  const figures = { ...budget.use(), edges_held_back: heldBack.length }
  const reason = budget.excess(0)?.reason ?? heldBack[0]?.reason
  return reason === undefined ? { status: 'ok', ...figures } : { status: 'warn', detail: reason, ...figures }
}

/** What a tenant may use of its hub, and what it uses (contract §3). */
import { formatCount } from './number-text.ts'
import type { Tenant } from './tenant.ts'
import { MINUTE, SECOND } from './time.ts'

/** The limits of a tenant; `null` is no limit. */
export type TenantBudget = Pick<Tenant, 'max_bytes' | 'max_series' | 'max_requests_per_minute'>
/** `bytes`: the database and the sealed files of a workspace. `series`: points that have history. */
export type StorageUse = { bytes: number; series: number }
/** `requests_per_minute`: those of the present minute of the clock. */
export type TenantUse = StorageUse & { requests_per_minute: number }

/** Why something is not stored, and how many series it would begin. */
export type BudgetExcess = { reason: string; added: number }

/** The limits of one workspace, checked before something is stored in it. */
export interface StorageBudget {
  use(): StorageUse
  /** @returns why readings of these points are not stored; undefined within the budget */
  excessOf(building_id: string, point_ids: ReadonlySet<string>): BudgetExcess | undefined
  /** The same for a number of new series. */
  excess(added: number): BudgetExcess | undefined
}

/**
 * @param added series that would begin
 * @returns undefined within the budget
 */
export function budgetExcess(
  { max_bytes, max_series }: Pick<TenantBudget, 'max_bytes' | 'max_series'>,
  { bytes, series }: StorageUse,
  added: number,
): BudgetExcess | undefined {
  if (max_bytes !== null && bytes >= max_bytes) {
    return { added, reason: `the budget of the tenant is used up: ${formatCount(bytes)} of ${formatCount(max_bytes)} bytes` }
  }
  if (added === 0 || max_series === null || series + added <= max_series) return undefined
  return {
    added,
    reason: `the budget of the tenant is used up: ${formatCount(series)} of ${formatCount(max_series)} series, and this begins ${formatCount(added)} more`,
  }
}

/** Counts the requests of each tenant by the minute of the clock. */
export class RequestMeter {
  #minute = -1
  #counts = new Map<string, number>()

  /**
   * Counts a request that is allowed.
   *
   * @param max requests a minute; null is no limit
   * @param now ms
   * @returns seconds to wait, or 0 when the request is allowed
   */
  take(tenant_id: string, max: number | null, now: number): number {
    const used = this.used(tenant_id, now)
    if (max !== null && used >= max) return Math.ceil((MINUTE - (now % MINUTE)) / SECOND)
    this.#counts.set(tenant_id, used + 1)
    return 0
  }

  /** @returns requests of the present minute */
  used(tenant_id: string, now: number): number {
    const minute = Math.floor(now / MINUTE)
    if (minute !== this.#minute) this.#counts.clear()
    this.#minute = minute
    return this.#counts.get(tenant_id) ?? 0
  }
}

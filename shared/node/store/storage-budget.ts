import { budgetExcess, type StorageBudget, type StorageUse, type TenantBudget } from '#shared/core/tenant-budget.ts'
import { SECOND } from '#shared/core/time.ts'
import { openKeys } from '../historian/keys.ts'
import type { Database } from '../sqlite.ts'

/** The bytes of files are summed at most this often: a hub has thousands of files, and messages come many times a second. */
const MEASURED_MS = SECOND

/** @param limits read for each check, so that a change of the budget counts at once */
export function openStorageBudget(
  db: Database,
  limits: () => Pick<TenantBudget, 'max_bytes' | 'max_series'> | undefined,
): StorageBudget {
  const keys = openKeys(db)
  const series = db.prepare('SELECT count(*) FROM history_points').pluck()
  const bytes = db
    .prepare(
      `SELECT (page_count - freelist_count) * page_size + (SELECT coalesce(sum(bytes), 0) FROM parts)
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )
    .pluck()
  let measured = { bytes: 0, at: -Infinity }
  const bytesNow = (): number => {
    const at = performance.now()
    if (at - measured.at >= MEASURED_MS) measured = { bytes: bytes.get() as number, at }
    return measured.bytes
  }
  const seriesNow = () => series.get() as number
  const use = (): StorageUse => ({ bytes: bytesNow(), series: seriesNow() })
  const newSeries = (building_id: string, point_ids: ReadonlySet<string>): number => {
    const building = keys.findBuilding(building_id)
    return point_ids.size - (building === undefined ? 0 : keys.findPoints(building, point_ids).size)
  }
  /** Reads only the figures that have a limit here, because this runs for each message. */
  const excess = (budget: ReturnType<typeof limits>, added: number) => {
    if (!budget) return undefined
    const bytes = budget.max_bytes === null ? 0 : bytesNow()
    return budgetExcess(budget, { bytes, series: budget.max_series === null || added === 0 ? 0 : seriesNow() }, added)
  }
  return {
    use,
    excess: added => excess(limits(), added),
    excessOf: (building_id, point_ids) => {
      const budget = limits()
      return excess(budget, budget && budget.max_series !== null ? newSeries(building_id, point_ids) : 0)
    },
  }
}

import type { Clock, Historian, Results } from '#shared/core/ports.ts'
import type { EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { SECOND } from '#shared/core/time.ts'

export type SnapshotPorts = { model: ModelStore; results: Results; edges: EdgeStore; clock: Clock; historian: Historian }

/** Active findings that are counted; beyond it the count says so by being this. */
const FINDINGS_MAX = 10_000

/**
 * What everyone may know: counts, codes and ages. No names, no addresses, no values.
 *
 * @returns ages in seconds of the process's clock; null for what never was
 */
export async function takeSnapshot({ model, results, edges, clock, historian }: SnapshotPorts) {
  const now = clock.now()
  const age = (ms: number | undefined | null) =>
    ms === undefined || ms === null ? null : Math.max(0, Math.round((now - ms) / SECOND))
  const buildings = model.buildings()
  const points = buildings.flatMap(({ building_id }) => model.points(building_id))
  const active = results.list({ state: 'active', limit: FINDINGS_MAX })
  const latest = buildings.flatMap(({ building_id }) => results.latest(building_id))
  const spans = (await Promise.all(buildings.map(({ building_id }) => historian.spans(building_id)))).flat()
  const newest = spans.reduce<number | undefined>((last, span) => Math.max(last ?? span.last, span.last), undefined)
  return {
    buildings: buildings.length,
    equipment: buildings.reduce((sum, { building_id }) => sum + model.equipment(building_id).length, 0),
    points: points.length,
    points_without_role: points.filter(({ role }) => role === undefined).length,
    edges: countBy(edges.list().map(({ status }) => status)),
    findings_active: active.length,
    findings_by_severity: countBy(active.map(({ severity }) => String(severity))),
    findings_by_kind: countBy(active.map(({ kind }) => kind)),
    findings_by_rule: countBy(active.map(({ rule_id }) => rule_id)),
    results: countBy(latest.map(({ status }) => status)),
    last_run_age_secs: age(results.runs({ limit: 1 })[0]?.finished_at),
    newest_sample_age_secs: age(newest),
  }
}

const countBy = (words: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words.toSorted(), word => word)].map(([word, all]) => [word, all.length]))

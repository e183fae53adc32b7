import type { ResultState, RuleResult } from '#shared/core/findings/finding.ts'
import type { Clock, FindingReader, ResultReader } from '#shared/core/ports.ts'
import type { EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { SECOND } from '#shared/core/time.ts'

type SnapshotPorts = { model: ModelStore; findings: FindingReader; results: ResultReader; edges: EdgeStore; clock: Clock }

/**
 * Figures that need no login: counts, codes and ages, without names, addresses, values or expensive queries.
 *
 * @returns ages in seconds of the process's clock; null for an event that never happened
 */
export function takeSnapshot({ model, findings, results, edges, clock }: SnapshotPorts) {
  const now = clock.now()
  const age = (ms: number | undefined | null) =>
    ms === undefined || ms === null ? null : Math.max(0, Math.round((now - ms) / SECOND))
  const buildings = model.buildings()
  const points = buildings.flatMap(({ building_id }) => model.points(building_id)).filter(({ gone }) => !gone)
  const active = findings.active()
  const standings = buildings.map(({ building_id }) => results.standing(building_id))
  const sumOf = (states: readonly ResultState[]) =>
    states.reduce((sum, state) => sum + standings.reduce((all, { counts }) => all + counts[state], 0), 0)
  const heard = edges.list().flatMap(({ last_data_at }) => last_data_at ?? [])
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
    results: Object.fromEntries(STATUSES.map(([status, states]) => [status, sumOf(states)] as const).filter(([, n]) => n > 0)),
    last_run_age_secs: age(results.runs({ limit: 1 })[0]?.finished_at),
    newest_edge_data_age_secs: age(heard.length ? Math.max(...heard) : null),
  }
}

/** The states of results that each status of the API has. */
const STATUSES = [
  ['fault', ['fault']],
  ['not_evaluated', ['gated', 'no_data']],
  ['pass', ['pass']],
] as const satisfies [RuleResult['status'], ResultState[]][]

const countBy = (words: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words.toSorted(), word => word)].map(([word, all]) => [word, all.length]))

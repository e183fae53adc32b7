/** Conditions that raise alerts: open findings that nobody has snoozed or dismissed, and edges that send nothing. */
import { type AlertCondition, EDGE_KINDS, type EdgeKind, type EdgeTrouble } from '#shared/core/alerts/alert.ts'
import { type Priority, priorityOf } from '#shared/core/findings/finding.ts'
import type { Building } from '#shared/core/model/model.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { MINUTE } from '#shared/core/time.ts'
import { edgeHref } from '#shared/central/ui/links.ts'
import type { FindingReader, Notes } from '#shared/core/ports.ts'
import type { EdgeRecord, EdgeStore, ModelStore } from '#shared/core/stores.ts'

/** An edge is silent when nothing came from it for this long: three of its status messages are missing then. */
export const SILENT_MS = 15 * MINUTE
const EDGE_PRIORITY: Priority = 1
const FINDINGS_MAX = 10_000

/** What is wrong with an edge that sends, at `now`. */
export type EdgeTroubles = (edge: EdgeRecord, now: number) => EdgeTrouble[]
export type AlertSources = {
  findings: FindingReader
  notes: Notes
  model: ModelStore
  edges: EdgeStore
  edgeTroubles?: EdgeTroubles | undefined
}

/**
 * `quiet`: the keys of those that are snoozed, and not among the conditions. `holding`: of conditions that keep an alert and raise
 * none. `unknown`: of those that nobody can tell, because the edge is not heard.
 */
type Conditions = {
  conditions: AlertCondition[]
  quiet: ReadonlySet<string>
  holding: ReadonlySet<string>
  unknown: ReadonlySet<string>
}

/** @param watchEdges whether edges connect to this process, and it has run long enough to notice a silent one */
export function alertConditions(
  { findings, notes, model, edges, edgeTroubles }: AlertSources,
  now: number,
  watchEdges: boolean,
): Conditions {
  const buildings = new Map(model.buildings().map(building => [building.building_id, building]))
  const conditions: AlertCondition[] = []
  const quiet = new Set<string>()
  const holding = new Set<string>()
  const unknown = new Set<string>()
  for (const finding of findings.list({ state: 'active', limit: FINDINGS_MAX })) {
    const { building_id, equipment_id, rule_id, role, kind, severity, title, evidence, from, finding_id } = finding
    const note = notes.of(finding, now)
    if (note.not_a_fault !== undefined || finding.suppressed_by !== undefined) continue
    const key = ['finding', building_id, equipment_id, rule_id, ...(role === undefined ? [] : [role])].join('/')
    if (note.snoozed_until !== undefined) {
      quiet.add(key)
      continue
    }
    const path = `/faults/${encodeURIComponent(finding_id)}`
    const what = { title: `${title} (${equipment_id})`, detail: evidence.sentence, since: from, path }
    conditions.push({ key, kind, priority: priorityOf(severity), ...placeOf(building_id, buildings), ...what })
  }
  for (const edge of watchEdges ? edges.list() : []) {
    const { last_seen_at, building_id, online } = edge
    const keyOf = (kind: EdgeKind) => `${kind}/${edgeName(edge)}`
    const place = { ...placeOf(building_id, buildings), path: edgeHref(edge) }
    const isHeard = online && last_seen_at !== null && now - last_seen_at <= SILENT_MS
    if (!isHeard) for (const kind of EDGE_KINDS) if (kind !== 'edge') unknown.add(keyOf(kind))
    for (const { isRaised, ...trouble } of isHeard ? (edgeTroubles?.(edge, now) ?? []) : []) {
      const key = keyOf(trouble.kind)
      conditions.push({ key, ...place, ...trouble })
      if (!isRaised) holding.add(key)
    }
    if (last_seen_at === null || now - last_seen_at <= SILENT_MS) continue
    const what = {
      title: `Edge ${edgeName(edge)} sends no data`,
      detail: `The hub has received nothing from this edge; its session is ${online ? 'open' : 'closed'}.`,
      since: last_seen_at,
    }
    conditions.push({
      key: keyOf('edge'),
      kind: 'edge',
      priority: EDGE_PRIORITY,
      ...place,
      ...what,
    })
  }
  for (const { key } of conditions) quiet.delete(key)
  return { conditions, quiet, holding, unknown }
}

function placeOf(building_id: string, buildings: ReadonlyMap<string, Building>) {
  const { name = building_id, timezone = 'UTC' } = buildings.get(building_id) ?? {}
  return { building_id, building_name: name, timezone }
}

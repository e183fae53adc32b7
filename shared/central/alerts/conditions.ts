/** Conditions that raise alerts: open findings that nobody has snoozed or dismissed, and edges that send nothing. */
import { type AlertCondition, EDGE_KINDS, type EdgeKind, type EdgeTrouble } from '#shared/core/alerts/alert.ts'
import { fleetConditions, fleetKey } from '#shared/core/alerts/fleet-alert.ts'
import { type Priority, priorityOf } from '#shared/core/findings/finding.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import { MINUTE } from '#shared/core/time.ts'
import { edgeHref } from '#shared/central/ui/links.ts'
import type { FindingReader, Notes } from '#shared/core/ports.ts'
import type { EdgeRecord, EdgeRefusal, EdgeStore, ModelStore } from '#shared/core/stores.ts'

/** An edge is silent when nothing came from it for this long; it sends a status each minute. */
export const SILENT_MS = 15 * MINUTE
/** One that is quiet for this long counts where the most of them are, so that the first of a fleet is not announced alone. */
const QUIET_MS = 10 * MINUTE
const EDGE_PRIORITY: Priority = 1
const FINDINGS_MAX = 10_000

/** What is wrong with an edge that sends, at `now`. */
export type EdgeTroubles = (edge: EdgeRecord, now: number) => EdgeTrouble[]
/** In words, of an edge that sends again: how long nothing came, and how much of that time has come since. */
export type EdgeReturn = (edge: EdgeRecord, silence: { from: number; to: number }, now: number) => string
/** Edges of which nothing is stored, also those that the hub does not list yet, at `now`. */
export type EdgeRefusals = (now: number) => EdgeRefusal[]
export type AlertSources = {
  findings: FindingReader
  notes: Notes
  model: ModelStore
  edges: EdgeStore
  edgeTroubles?: EdgeTroubles | undefined
  edgeRefusals?: EdgeRefusals | undefined
  edgeReturn?: EdgeReturn | undefined
  /** Name of the sender. */
  site: string
}

/**
 * `quiet`: the keys of those that are snoozed, and not among the conditions. `holding`: of conditions that keep an alert and raise
 * none. `unknown`: of those that nobody can tell, because the edge is not heard. `covered`: of those for which one of the fleet stands.
 */
type Conditions = {
  conditions: AlertCondition[]
  quiet: ReadonlySet<string>
  holding: ReadonlySet<string>
  unknown: ReadonlySet<string>
  covered: ReadonlySet<string>
}

/**
 * @param watchEdges whether edges connect to this process, and it has run long enough to notice a silent one
 * @param isOpen whether there is an alert of this key
 */
export function alertConditions(
  sources: AlertSources,
  now: number,
  watchEdges: boolean,
  isOpen: (key: string) => boolean = () => false,
): Conditions {
  const { findings, notes, model } = sources
  const buildings = new Map(model.buildings().map(building => [building.building_id, building]))
  const conditions: AlertCondition[] = []
  const quiet = new Set<string>()
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
  for (const { key } of conditions) quiet.delete(key)
  const none = { conditions: [], holding: new Set<string>(), unknown: new Set<string>(), covered: new Set<string>() }
  const ofEdges = watchEdges ? edgeConditions(sources, buildings, now, isOpen) : none
  return { ...ofEdges, conditions: [...conditions, ...ofEdges.conditions], quiet }
}

function edgeConditions(
  { edges, edgeTroubles, edgeRefusals, site }: AlertSources,
  buildings: ReadonlyMap<string, Building>,
  now: number,
  isOpen: (key: string) => boolean,
): Omit<Conditions, 'quiet'> {
  const conditions: AlertCondition[] = []
  const holding = new Set<string>()
  const unknown = new Set<string>()
  const add = ({ isRaised, ...condition }: AlertCondition & { isRaised: boolean }) => {
    conditions.push(condition)
    if (!isRaised) holding.add(condition.key)
  }
  const listed = edges.list()
  let unheard = 0
  for (const edge of listed) {
    const { last_seen_at, building_id, online } = edge
    const keyOf = (kind: EdgeKind) => edgeKey(kind, edge)
    const place = { ...placeOf(building_id, buildings), path: edgeHref(edge) }
    const isHeard = online && last_seen_at !== null && now - last_seen_at <= SILENT_MS
    if (!isHeard) {
      unheard++
      for (const kind of FIGURE_KINDS) unknown.add(keyOf(kind))
    }
    for (const trouble of isHeard ? (edgeTroubles?.(edge, now) ?? []) : [])
      add({ key: keyOf(trouble.kind), ...place, ...trouble })
    if (last_seen_at === null || now - last_seen_at <= QUIET_MS) continue
    add({
      ...{ key: keyOf('edge'), kind: 'edge', priority: EDGE_PRIORITY, ...place, since: last_seen_at },
      title: `Edge ${edgeName(edge)} sends no data`,
      detail: `The hub has received nothing from this edge; its session is ${online ? 'open' : 'closed'}.`,
      isRaised: now - last_seen_at > SILENT_MS,
    })
  }
  for (const refusal of edgeRefusals?.(now) ?? []) {
    const edge = edges.get(refusal.site_id, refusal.edge_id)
    const place = edge ? { ...placeOf(edge.building_id, buildings), path: edgeHref(edge) } : placeOfUnknown(refusal)
    add({
      ...{ key: `refused/${edgeName(refusal)}`, kind: 'refused', priority: EDGE_PRIORITY, ...place, since: refusal.since },
      title: `Nothing of edge ${edgeName(refusal)} is stored`,
      detail: `The hub refuses it: ${refusal.reason}.`,
      isRaised: true,
    })
  }
  if (unheard > listed.length / 2) for (const kind of FIGURE_KINDS) unknown.add(fleetKey(kind))
  const { fleet, covered } = fleetConditions({ conditions, holding, edges: listed.length, site, isOpen })
  return { conditions: [...conditions, ...fleet], holding, unknown, covered }
}

/** The key of what is wrong with an edge. */
export const edgeKey = (kind: EdgeKind, edge: EdgeKey): string => `${kind}/${edgeName(edge)}`

/** Kinds that an edge reports itself. */
const FIGURE_KINDS = EDGE_KINDS.filter(kind => kind !== 'edge' && kind !== 'refused')

const placeOfUnknown = ({ site_id }: EdgeRefusal) => ({ building_id: '', building_name: site_id, timezone: 'UTC', path: '/' })

function placeOf(building_id: string, buildings: ReadonlyMap<string, Building>) {
  const { name = building_id, timezone = 'UTC' } = buildings.get(building_id) ?? {}
  return { building_id, building_name: name, timezone }
}

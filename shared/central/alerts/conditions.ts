/** Conditions that raise alerts: open findings that nobody has snoozed or dismissed, and edges that send nothing. */
import { type AlertCondition, type AlertState, EDGE_KINDS, type EdgeKind, type EdgeTrouble } from '#shared/core/alerts/alert.ts'
import { fleetConditions, fleetKey } from '#shared/core/alerts/fleet-alert.ts'
import { type ActiveFinding, type Priority, priorityOf } from '#shared/core/findings/finding.ts'
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
 * @param stateOf the open alert of a key
 */
export function alertConditions(
  sources: AlertSources,
  now: number,
  watchEdges: boolean,
  stateOf: (key: string) => AlertState | undefined,
): Conditions {
  const buildings = buildingsOf(sources)
  const { conditions, quiet } = findingConditions(sources, buildings, now, stateOf)
  const none = { conditions: [], holding: new Set<string>(), unknown: new Set<string>(), covered: new Set<string>() }
  const ofEdges = watchEdges ? edgeConditions(sources, now, key => stateOf(key) !== undefined) : none
  return { ...ofEdges, conditions: [...conditions, ...ofEdges.conditions], quiet }
}

/** A hub has tens of thousands of findings, of which few are new: the others keep the sentence of their alert and are not read whole. */
function findingConditions(
  { findings, notes }: AlertSources,
  buildings: ReadonlyMap<string, Building>,
  now: number,
  stateOf: (key: string) => AlertState | undefined,
): Pick<Conditions, 'conditions' | 'quiet'> {
  const conditions: AlertCondition[] = []
  const quiet = new Set<string>()
  const silences = notes.silences(now)
  for (const finding of findings.active()) {
    const { finding_id, building_id, equipment_id, kind, severity, title, from } = finding
    const { not_a_fault, snoozed_until } = silences.get(finding_id) ?? {}
    if (not_a_fault !== undefined || finding.suppressed_by !== undefined) continue
    const key = findingKey(finding)
    if (snoozed_until !== undefined) {
      quiet.add(key)
      continue
    }
    const priority = priorityOf(severity)
    const open = stateOf(key)
    const isTold = open && !open.quiet && open.condition.priority <= priority
    const detail = isTold ? open.condition.detail : findings.get(finding_id)!.evidence.sentence
    const path = `/faults/${encodeURIComponent(finding_id)}`
    const what = { title: `${title} (${equipment_id})`, detail, since: from, path }
    conditions.push({ key, kind, priority, ...placeOf(building_id, buildings), ...what })
  }
  for (const { key } of conditions) quiet.delete(key)
  return { conditions, quiet }
}

const findingKey = ({ building_id, equipment_id, rule_id, role }: ActiveFinding) =>
  ['finding', building_id, equipment_id, rule_id, ...(role === undefined ? [] : [role])].join('/')

const buildingsOf = ({ model }: Pick<AlertSources, 'model'>): ReadonlyMap<string, Building> =>
  new Map(model.buildings().map(building => [building.building_id, building]))

/** @param isOpen whether there is an alert of this key */
export function edgeConditions(
  { model, edges, edgeTroubles, edgeRefusals, site }: AlertSources,
  now: number,
  isOpen: (key: string) => boolean,
): Omit<Conditions, 'quiet'> {
  const buildings = buildingsOf({ model })
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

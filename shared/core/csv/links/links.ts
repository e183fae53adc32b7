/** Links between equipment that the column maps of a package state. */
import type { Equipment } from '#shared/core/model/model.ts'
import type { CheckReport } from '../checks.ts'

/** Maximum number of entries of `feeds`, as in the route of the model. */
export const FEEDS_MAX = 1000

/** The links that one column map states. */
export type StatedLinks = {
  equipment_id: string
  /** Path of the column map, for the checks. */
  place: string
  parent?: string
  feeds?: string[]
}
type Entry = { field: 'parent' | 'feeds'; other: string; feeder: string; fed: string }

/**
 * Adds the stated links to the equipment of a package. A stated field replaces that of the model; a field that is left out
 * is not changed. An entry that names unknown equipment or its own equipment, or closes a loop, is reported and ignored.
 *
 * @param planned equipment of the package
 * @param known present equipment of the building
 */
export function applyLinks(planned: Equipment[], stated: StatedLinks[], known: Equipment[], checks: CheckReport): Equipment[] {
  const statedFields = new Set(
    stated.flatMap(({ equipment_id, parent, feeds }) => [
      ...(parent === undefined ? [] : [`${equipment_id} parent`]),
      ...(feeds === undefined ? [] : [`${equipment_id} feeds`]),
    ]),
  )
  const byId = new Map([...known, ...planned].map(one => [one.equipment_id, { ...one }]))
  for (const one of byId.values()) {
    if (statedFields.has(`${one.equipment_id} parent`)) delete one.parent_id
    if (statedFields.has(`${one.equipment_id} feeds`)) one.feeds = []
  }
  const graph = feedGraph([...byId.values()])
  for (const links of stated) {
    const own = byId.get(links.equipment_id)
    if (!own) continue
    for (const entry of entriesOf(links)) {
      if (!isAllowed(entry, links, { byId, graph, checks })) continue
      graph.add(entry.feeder, entry.fed)
      if (entry.field === 'parent') own.parent_id = entry.other
      else own.feeds = [...new Set([...(own.feeds ?? []), entry.other])]
    }
  }
  return planned.map(({ equipment_id }) => byId.get(equipment_id)!)
}

function entriesOf({ equipment_id, parent, feeds = [] }: StatedLinks): Entry[] {
  return [
    ...(parent === undefined ? [] : [{ field: 'parent' as const, other: parent, feeder: parent, fed: equipment_id }]),
    ...feeds.map(other => ({ field: 'feeds' as const, other, feeder: equipment_id, fed: other })),
  ]
}

function isAllowed(
  { field, other, feeder, fed }: Entry,
  { equipment_id, place }: StatedLinks,
  { byId, graph, checks }: { byId: Map<string, Equipment>; graph: FeedGraph; checks: CheckReport },
): boolean {
  const entry = `${field} ${JSON.stringify(other)}`
  if (!byId.has(other)) {
    const alike = [...byId.keys()].find(id => id.toLowerCase() === other.trim().toLowerCase())
    const hint = alike === undefined ? '' : `; perhaps ${alike}`
    checks.add('link_unknown', place, `${entry} is not equipment of the package or the building${hint}`, { examples: [entry] })
    return false
  }
  if (other === equipment_id) {
    checks.add('link_circular', place, `${entry} links ${equipment_id} to itself`, { examples: [entry] })
    return false
  }
  const path = graph.path(fed, feeder)
  if (path === undefined) return true
  const loop = [feeder, ...path].join(' → ')
  checks.add('link_circular', place, `${entry} closes the loop ${loop}`, { examples: [`${entry}: ${loop}`] })
  return false
}

type FeedGraph = {
  add(feeder: string, fed: string): void
  /** @returns the ids on the path from one to the other, both included; undefined when there is no path */
  path(from: string, to: string): string[] | undefined
}

/** `feeds` and `parent_id` are equivalent: a parent feeds its children. */
function feedGraph(equipment: Equipment[]): FeedGraph {
  const below = new Map<string, Set<string>>()
  const add = (feeder: string, fed: string) => void below.set(feeder, (below.get(feeder) ?? new Set()).add(fed))
  for (const { equipment_id, parent_id, feeds = [] } of equipment) {
    if (parent_id !== undefined) add(parent_id, equipment_id)
    for (const fed of feeds) add(equipment_id, fed)
  }
  return {
    add,
    path(from, to) {
      const before = new Map<string, string | undefined>([[from, undefined]])
      for (const [id] of before) {
        if (id === to) break
        for (const next of below.get(id) ?? []) if (!before.has(next)) before.set(next, id)
      }
      if (!before.has(to)) return undefined
      const path: string[] = []
      for (let id: string | undefined = to; id !== undefined; id = before.get(id)) path.unshift(id)
      return path
    },
  }
}

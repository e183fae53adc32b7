/** One alert in place of many: when most edges of a hub have the same trouble, its cause is rarely at the edges. */
import { countOf } from '../number-text.ts'
import { type AlertCondition, EDGE_KINDS, type EdgeKind } from './alert.ts'

/** Below this number of edges each has an alert of its own. */
const EDGES_MIN = 10
/** Shares of the edges above which the alert is raised, and holds. */
const RAISE_SHARE = 0.5
const HOLD_SHARE = 0.25

const WORDS: Record<EdgeKind, { title: string; cause: string }> = {
  edge: { title: 'Most edges send no data', cause: 'the broker, the network of this hub or its certificates' },
  refused: { title: 'Most edges are refused', cause: 'the budget or the settings of this hub' },
  poll: { title: 'Most edges do not read devices', cause: 'an update that all of them got' },
  backlog: { title: 'Most edges send late', cause: 'the disk, the load or the network of this hub' },
  clock: { title: 'Clocks of most edges differ from that of this hub', cause: 'the clock of this hub' },
  certificate: { title: 'Certificates of most edges are not renewed', cause: 'the authority of this hub, whose key renews them' },
  disk: { title: 'Disks of most edges are nearly full', cause: 'an update that all of them got' },
}

type Fleet = {
  conditions: readonly AlertCondition[]
  /** Keys of conditions that raise nothing by themselves. */
  holding: ReadonlySet<string>
  edges: number
  site: string
  isOpen: (key: string) => boolean
}

export const fleetKey = (kind: EdgeKind): string => `${kind}/*`

/**
 * @returns the conditions of the fleet, and the keys of those that they stand for: these raise nothing, and keep an alert that is open
 */
export function fleetConditions({ conditions, holding, edges, site, isOpen }: Fleet): {
  fleet: AlertCondition[]
  covered: Set<string>
} {
  const fleet: AlertCondition[] = []
  const covered = new Set<string>()
  for (const kind of EDGE_KINDS) {
    const key = fleetKey(kind)
    const found = conditions.filter(condition => condition.kind === kind)
    const share = found.length / edges
    const isHeld = isOpen(key) && share > HOLD_SHARE
    if (!isHeld && (found.length < EDGES_MIN || share <= RAISE_SHARE)) continue
    for (const one of found) covered.add(one.key)
    const raised = found.filter(one => !holding.has(one.key))
    if (raised.length === 0 && !isHeld) continue
    const { title, cause } = WORDS[kind]
    const priority = found.reduce((most, one) => (one.priority < most ? one.priority : most), found[0]!.priority)
    const since = found.reduce((first, one) => Math.min(first, one.since), Infinity)
    const detail = `${found.length} of ${countOf(edges, 'edge')}, so look at ${cause} first. No alert of a single one is sent meanwhile.`
    const place = { building_id: '', building_name: site, timezone: 'UTC', path: '/' }
    fleet.push({ key, kind, ...place, priority, title, detail, since })
  }
  return { fleet, covered }
}

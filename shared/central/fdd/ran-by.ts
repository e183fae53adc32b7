/** Which buildings have their faults found by an appliance of their own, and what is said of that where people set something. */
import type { EdgeRecord } from '#shared/core/stores.ts'
import { ranByWords } from '#shared/core/ui/ran-by.ts'
import type { CentralContext } from '../context.ts'

type Edges = Pick<CentralContext, 'edges'>

const runsRules = ({ status_body }: EdgeRecord): boolean => status_body['runs_rules'] !== false

/** Buildings whose own appliance runs the rules and sends what it finds. */
export const judgedElsewhere = (edges: CentralContext['edges']): Set<string> =>
  new Set(edges.list().flatMap(edge => (runsRules(edge) ? edge.building_id : [])))

/** @returns the name of the appliance that runs the building's rules; undefined where this process does */
export function ranBy({ edges }: Edges, building_id: string): string | undefined {
  const runner = edges.list().find(edge => edge.building_id === building_id && runsRules(edge))
  return runner && (runner.name || runner.edge_id)
}

/** What an answer adds about buildings whose rules run elsewhere; nothing where they run here. */
export function ranByView(context: Edges & Pick<CentralContext, 'model'>, ...building_ids: string[]): { notice?: string } {
  const said = building_ids.flatMap(building_id => {
    const appliance = ranBy(context, building_id)
    return appliance === undefined ? [] : ranByWords(context.model.building(building_id)?.name || building_id, appliance)
  })
  return said.length > 0 ? { notice: said.join(' ') } : {}
}

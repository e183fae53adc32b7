/** Which buildings have their faults found by an appliance of their own, and what is said of that where people set something. */
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { ranByWords } from '#shared/core/ui/ran-by.ts'
import type { CentralContext } from '../context.ts'

type Edges = Pick<CentralContext, 'edges'>

const runsRules = ({ status_body }: EdgeRecord): boolean => status_body['runs_rules'] !== false

/** Buildings whose own appliance runs the rules and sends what it finds. */
const judgedElsewhere = ({ edges }: Edges): Set<string> =>
  new Set(edges.list().flatMap(edge => (runsRules(edge) ? edge.building_id : [])))

/** Buildings whose faults this process finds. */
export function judgedHere({ model, edges }: Edges & Pick<CentralContext, 'model'>): string[] {
  const elsewhere = judgedElsewhere({ edges })
  return model.buildings().flatMap(({ building_id }) => (elsewhere.has(building_id) ? [] : [building_id]))
}

/** @returns the name of the appliance that runs the building's rules; undefined where this process does */
export function ranBy({ edges }: Edges, building_id: string): string | undefined {
  const runner = edges.list().find(edge => edge.building_id === building_id && runsRules(edge))
  return runner && (runner.name || runner.edge_id)
}

/**
 * What is kept here of such a building is what its appliance says. A run over the history that has come here so far, with the
 * parameters that are set here, would put its own word in its place.
 *
 * @throws Problem ran_by_appliance
 */
export function refuseRunElsewhere(context: Edges, building_id: string): void {
  const appliance = ranBy(context, building_id)
  if (appliance === undefined) return
  throw new Problem(
    'ran_by_appliance',
    `The rules of ${building_id} run on the appliance ${appliance}, which sends what it finds: run them there. What another value of a parameter would find, a backtest tells here.`,
  )
}

/** What an answer adds about buildings whose rules run elsewhere; nothing where they run here. */
export function ranByView(context: Edges & Pick<CentralContext, 'model'>, ...building_ids: string[]): { notice?: string } {
  const said = building_ids.flatMap(building_id => {
    const appliance = ranBy(context, building_id)
    return appliance === undefined ? [] : ranByWords(context.model.building(building_id)?.name || building_id, appliance)
  })
  return said.length > 0 ? { notice: said.join(' ') } : {}
}

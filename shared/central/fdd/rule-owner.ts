/** Which buildings have their faults found by an appliance of their own, and what is said of that where people set something. */
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { ruleOwnerText } from '#shared/central/ui/words.ts'

type Site = { edges: EdgeStore; model: ModelStore }

/** Two processes under one edge id may be of two buildings; the edge is known in that of the newest metadata. */
const isSharedBy = ({ site_id, edge_id, status_body }: EdgeRecord, building_id: string, model: Site['model']): boolean =>
  status_body['shared'] !== undefined &&
  model.building(building_id)?.site_id === site_id &&
  model.points(building_id).some(point => point.edge_id === edge_id && !point.gone)

/** @returns who runs a building's rules, if an edge says that it does: one that says nothing leaves them to whoever gathers its data */
function runnerOf({ edges, model }: Site): (building_id: string) => EdgeRecord | undefined {
  const runners = edges.list().filter(({ status_body }) => status_body['runs_rules'] === true)
  return building_id => runners.find(edge => edge.building_id === building_id || isSharedBy(edge, building_id, model))
}

/** Buildings whose faults this process finds. */
export function buildingsEvaluatedHere(site: Site): string[] {
  const runner = runnerOf(site)
  return site.model.buildings().flatMap(({ building_id }) => (runner(building_id) ? [] : [building_id]))
}

/** @returns the name of the appliance that runs the building's rules; undefined where this process does */
export function ruleOwner(site: Site, building_id: string): string | undefined {
  const runner = runnerOf(site)(building_id)
  return runner && (runner.name || runner.edge_id)
}

/**
 * What is kept here of such a building is what its appliance says. A run over the history that has come here so far, with the
 * parameters that are set here, would put its own word in its place.
 *
 * @throws Problem ran_by_appliance
 */
export function refuseRunOfAppliance(context: Site, building_id: string): void {
  const appliance = ruleOwner(context, building_id)
  if (appliance === undefined) return
  throw new Problem(
    'ran_by_appliance',
    `The rules of ${building_id} run on the appliance ${appliance}, which sends what it finds: run them there. What another value of a parameter would find, a backtest tells here.`,
  )
}

/** What an answer adds about buildings whose rules run elsewhere; nothing where they run here. */
export function ruleOwnerView(context: Site, ...building_ids: string[]): { notice?: string } {
  const said = building_ids.flatMap(building_id => {
    const appliance = ruleOwner(context, building_id)
    return appliance === undefined ? [] : ruleOwnerText(context.model.building(building_id)?.name || building_id, appliance)
  })
  return said.length > 0 ? { notice: said.join(' ') } : {}
}

/** Buildings whose own appliance runs their rules, and the notices that say so where people change settings. */
import { Problem } from '#shared/core/problem.ts'
import type { ResultReader } from '#shared/core/ports.ts'
import type { EdgeRecord, EdgeStore, ModelReader } from '#shared/core/stores.ts'
import { checkedAt } from '#shared/core/telemetry/status.ts'
import { type RuleOwner, ruleOwnerText } from '#shared/central/ui/words.ts'

type Site = { edges: EdgeStore; model: ModelReader }

/** @returns the edge that runs a building's rules, if an edge reports that it does; otherwise the hub runs them */
function runnerOf({ edges }: Pick<Site, 'edges'>): (building_id: string) => EdgeRecord | undefined {
  const runners = edges.list().filter(({ status_body }) => status_body['runs_rules'] === true)
  return building_id => runners.find(edge => edge.building_id === building_id)
}

/** `isOfBox`: an appliance runs the rules, and `at` is what it has reported; null where it has not. */
export type LastCheck = { at: number | null; isOfBox: boolean }

/** @returns when the rules of a building were run last, here or by its appliance, by the clock of this process */
export function lastChecks({ edges, results }: Pick<Site, 'edges'> & { results: Pick<ResultReader, 'runs'> }) {
  const runner = runnerOf({ edges })
  return (building_id: string): LastCheck => {
    const box = runner(building_id)
    if (box) return { at: checkedAt(box.status_body), isOfBox: true }
    return { at: results.runs({ building_id, limit: 1 })[0]?.finished_at ?? null, isOfBox: false }
  }
}

/** Buildings whose rules run in this process. */
export function buildingsEvaluatedHere(site: Site): string[] {
  const runner = runnerOf(site)
  return site.model.buildings().flatMap(({ building_id }) => (runner(building_id) ? [] : [building_id]))
}

/** @returns the appliance that runs the building's rules; undefined where this process does */
export function ruleOwner(site: Site, building_id: string): RuleOwner | undefined {
  const runner = runnerOf(site)(building_id)
  return runner && { site_id: runner.site_id, edge_id: runner.edge_id, name: runner.name || runner.edge_id }
}

/**
 * The findings of such a building come from its appliance. A run here, over the history received so far and with the parameters
 * of this process, would overwrite them.
 *
 * @throws Problem ran_by_appliance
 */
export function refuseRunOfAppliance(context: Site, building_id: string): void {
  const appliance = ruleOwner(context, building_id)
  if (appliance === undefined) return
  throw new Problem(
    'ran_by_appliance',
    `The rules of ${building_id} run on the appliance ${appliance.name}, which sends what it finds: run them there. A backtest of other parameter values is possible here.`,
  )
}

/** The notice of an answer about buildings whose rules run elsewhere; empty where they run here. */
export function ruleOwnerView(context: Site, ...building_ids: string[]): { notice?: string } {
  const said = building_ids.flatMap(building_id => {
    const appliance = ruleOwner(context, building_id)
    return appliance === undefined ? [] : ruleOwnerText(context.model.building(building_id)?.name || building_id, appliance.name)
  })
  return said.length > 0 ? { notice: said.join(' ') } : {}
}

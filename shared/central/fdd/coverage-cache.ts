/** Caches which rules can run in a building, by the revision of its model, the rules and their activation. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { RuleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import type { ModelStore, RuleStates } from '#shared/core/stores.ts'
import { openBuildingCache } from '#shared/central/building-cache.ts'

type CoverageRequest = { inactive: string[]; equipment: Equipment[]; points: Point[] }
type CoverageParts = {
  model: Pick<ModelStore, 'equipment' | 'points' | 'revision'>
  ruleStates: Pick<RuleStates, 'list'>
  /** Computes the coverage in another process. */
  compute: (request: CoverageRequest) => Promise<RuleCoverage>
}

export const inactiveOf = (ruleStates: Pick<RuleStates, 'list'>): string[] =>
  ruleStates.list().flatMap(({ active, rule_id }) => (active ? [] : [rule_id]))

/** Parameter settings are not part of the key: they change the result of a rule, never whether it can run. */
export function openCoverageCache({ model, ruleStates, compute }: CoverageParts) {
  const cached = openBuildingCache<RuleCoverage>()
  return {
    /**
     * @param rulesRevision of the rules as they are now
     * @throws what `compute` throws; the next call computes again
     */
    of(building_id: string, rulesRevision: string): Promise<RuleCoverage> {
      const inactive = inactiveOf(ruleStates)
      const key = JSON.stringify([rulesRevision, model.revision(building_id), inactive])
      const modelOf = () => ({ equipment: model.equipment(building_id), points: model.points(building_id) })
      return cached(building_id, key, async () => compute({ inactive, ...modelOf() }))
    },
  }
}

/** Caches which rules can run in a building, by the revision of its model, the rules and their activation. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { RuleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import type { ModelStore, RuleStates } from '#shared/core/stores.ts'
import { openTurns } from '#shared/node/turns.ts'

/** Buildings in the cache, most recently used first: one with 2,000 points takes about 1 MB. */
const BUILDINGS_MAX = 16

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
  const kept = new Map<string, { key: string; coverage: Promise<RuleCoverage> }>()
  const turn = openTurns()
  return {
    /**
     * @param rulesRevision of the rules as they are now
     * @throws what `compute` throws; the next call computes again
     */
    async of(building_id: string, rulesRevision: string): Promise<RuleCoverage> {
      const inactive = inactiveOf(ruleStates)
      const key = JSON.stringify([rulesRevision, model.revision(building_id), inactive])
      const known = kept.get(building_id)
      kept.delete(building_id)
      const entry = known?.key === key ? known : { key, coverage: compute({ inactive, ...modelOf(building_id) }) }
      kept.set(building_id, entry)
      const [oldest] = kept.keys()
      if (kept.size > BUILDINGS_MAX) kept.delete(oldest!)
      entry.coverage.catch(() => {
        if (kept.get(building_id) === entry) kept.delete(building_id)
      })
      await entry.coverage
      await turn()
      return entry.coverage
    },
  }

  function modelOf(building_id: string) {
    return { equipment: model.equipment(building_id), points: model.points(building_id) }
  }
}

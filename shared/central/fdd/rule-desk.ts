import type { ModelStore, RuleStates } from '#shared/core/stores.ts'
import type { Worker } from '#shared/node/worker.ts'
import type { PlatformConfigStore, RuleDesk } from '../context.ts'
import { openRuleShelf } from './rule-shelf.ts'
import type { FddHandlers } from './worker.ts'

/** Reads, checks and deploys rules, with the reading and checking done in a process of its own. */
export function openRuleDesk(parts: {
  checker: Worker<FddHandlers>
  config: PlatformConfigStore
  model: ModelStore
  ruleStates: RuleStates
  /** Folders in rising precedence. */
  ruleDirs: () => string[]
}): RuleDesk {
  const { checker, config, model, ruleStates, ruleDirs } = parts
  let last: Promise<unknown> = Promise.resolve()
  return {
    catalogue: () => checker.request('catalogue', ruleDirs()),
    test: rule_id => checker.request('test', { dirs: ruleDirs(), rule_id }),
    coverage(building_id) {
      const inactive = ruleStates.list().flatMap(({ active, rule_id }) => (active ? [] : [rule_id]))
      const [equipment, points] = [model.equipment(building_id), model.points(building_id)]
      return checker.request('coverage', { dirs: ruleDirs(), inactive, equipment, points })
    },
    check: files => checker.request('check', files),
    shelf(work) {
      // Opened anew each time: the folder is a setting, and opening one finishes what a crash has left.
      const turn = last.then(async () => work(await openRuleShelf(config.read().rules_dir)))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

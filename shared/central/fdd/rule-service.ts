import { relative } from 'node:path'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { ModelStore, RuleStates } from '#shared/core/stores.ts'
import { openRuleRegistry } from '#shared/node/rules/rule-registry.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { PlatformConfigStore, RuleService } from '#shared/central/context.ts'
import { inactiveOf, openCoverageCache } from './coverage-cache.ts'
import { openDeployedRules } from './deployed-rules.ts'
import { catalogueOf, ruleFileViews } from './rule-views.ts'
import type { FddHandlers } from './worker.ts'

/** Reads, checks and deploys rules, with the reading and checking done in a process of its own. */
export function createRuleService(parts: {
  checker: Pick<Worker<FddHandlers>, 'request'>
  config: PlatformConfigStore
  model: ModelStore
  ruleStates: RuleStates
  /** The folder of the catalogue that ships with the program. */
  shipped: string
  /** Throws while the disk is full: what is left of it is for deletes and marks. */
  needRoom(): void
}): RuleService {
  const { checker, config, model, ruleStates, shipped, needRoom } = parts
  const dirs = () => [shipped, config.read().rules_dir]
  const registry = openRuleRegistry({ dirs, read: async folders => catalogueOf(await checker.request('catalogue', folders)) })
  const coverages = openCoverageCache({
    model,
    ruleStates,
    compute: request => checker.request('coverage', { dirs: dirs(), ...request }),
  })
  const inTurn = createSerialQueue()
  return {
    catalogue: registry.current,
    reads: registry.reads,
    async deployed() {
      const folder = config.read().rules_dir
      const { rules } = await registry.current()
      return rules.flatMap(({ id: rule_id, filename: path }) => {
        const filename = relative(folder, path)
        return filename.startsWith('..') ? [] : [{ filename, rule_id }]
      })
    },
    files: async () => ruleFileViews(await registry.current(), { shipped, deployed: config.read().rules_dir }),
    read: rule_id => checker.request('read', { dirs: dirs(), rule_id }),
    test: rule_id => checker.request('test', { dirs: dirs(), rule_id }),
    coverage: async building_id => coverages.of(building_id, (await registry.current()).revision),
    coverageOfModel: request => checker.request('coverage', { dirs: dirs(), inactive: inactiveOf(ruleStates), ...request }),
    check: files => checker.request('check', files),
    withDeployed(work) {
      // Opened each time: the folder is a setting, and opening it finishes a change that a crash interrupted.
      return inTurn(async () => {
        const { list, change } = await openDeployedRules(config.read().rules_dir)
        return work({
          list,
          async change(put, remove) {
            if (put.length > 0) needRoom()
            await change(put, remove)
          },
        })
      })
    },
  }
}

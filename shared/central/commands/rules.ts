/** The command that deploys rule files, which both APIs call, and the table of fault definitions that follows the rules. */
import { definitionOf } from '#shared/core/findings/fault-definition.ts'
import { publishRules, type RuleText } from '#shared/flow/fdd/publish-rules.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, subjectOf } from './command.ts'

type RuleContext = Pick<CentralContext, 'rules' | 'definitions' | 'clock'>

/**
 * Checks and deploys rule files, all of them or none.
 *
 * @param dryRun checks only: nothing is deployed or audited
 * @throws Problem rule_invalid or rule_tests_failed
 */
export async function deployRules(context: RuleContext, { audit }: Pick<Actor, 'audit'>, files: RuleText[], dryRun = false) {
  const { check, deployed, withDeployed } = context.rules
  const done = await withDeployed(deployedRules => publishRules(files, { deployedRules, check, deployed }, dryRun))
  if (dryRun) return done
  audit({ subject: subjectOf(files.map(({ filename }) => filename)), after: done })
  await syncDefinitions(context)
  return done
}

/** Updates the table of fault definitions from the rules that run now. */
export async function syncDefinitions({ rules, definitions, clock }: RuleContext) {
  const catalogue = await rules.catalogue()
  return { ...definitions.sync(catalogue.rules.map(definitionOf), clock.now()), errors: catalogue.errors }
}

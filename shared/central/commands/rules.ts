/** Commands on rules, which pages and both APIs call, and the table of fault definitions that follows the rules. */
import { Type } from '@sinclair/typebox'
import { definitionOf } from '#shared/core/findings/fault-definition.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { needRule } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { RuleState, RuleVersion } from '#shared/core/stores.ts'
import {
  type DeployedRules,
  type Publication,
  publishRules,
  refuseFailing,
  type RuleDraft,
  type RuleText,
} from '#shared/flow/fdd/publish-rules.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, subjectOf } from './command.ts'

type RuleContext = Pick<CentralContext, 'rules' | 'ruleVersions' | 'definitions' | 'clock'>

/**
 * Checks and deploys rule files, all of them or none. Each text is stored as a version of its rule, and so is the one that it
 * replaces where nobody knows of it yet.
 *
 * @param dryRun checks only: nothing is deployed, stored or audited
 * @throws Problem rule_invalid or rule_tests_failed
 */
export async function deployRules(
  context: RuleContext,
  { caller, audit }: Actor,
  files: RuleDraft[],
  dryRun = false,
): Promise<Publication> {
  const { check, deployed, withDeployed } = context.rules
  const done = await withDeployed(async deployedRules => {
    const published = await publishRules(files, { deployedRules, check, deployed }, dryRun)
    if (!dryRun) {
      for (const { rule_id, yaml } of published.replaced) keepUnknown(context, rule_id, yaml)
      for (const { rule_id, yaml } of published.changed) {
        const [deployed_by, deployed_at] = [caller!.subject, context.clock.now()]
        context.ruleVersions.add({ rule_id, sha256: sha256(yaml), yaml, deployed_by, deployed_at })
      }
    }
    return published.done
  })
  if (dryRun) return done
  audit({ subject: subjectOf(done.rules.map(({ filename }) => filename)), after: done })
  await syncDefinitions(context)
  return done
}

/** Stores the text of a deployed file that nobody deployed by a command. */
function keepUnknown({ ruleVersions }: RuleContext, rule_id: string, yaml: string): void {
  const sha = sha256(yaml)
  if (ruleVersions.get(rule_id, sha)) return
  ruleVersions.add({ rule_id, sha256: sha, yaml, deployed_by: null, deployed_at: null })
}

/**
 * Removes a deployed file; a shipped rule of the same id counts again.
 *
 * @throws Problem unknown_rule, or conflict for a file that ships with the program
 */
export async function removeRuleFile(context: RuleContext, { audit }: Pick<Actor, 'audit'>, filename: string): Promise<void> {
  const { rules } = context
  const before = await rules.withDeployed(async deployedRules => {
    const found = await needDeployed(deployedRules, filename, rules)
    const rule = (await rules.deployed()).find(one => one.filename === filename)
    await deployedRules.change([], [filename])
    if (rule) keepUnknown(context, rule.rule_id, found.yaml)
    return found
  })
  audit({ subject: filename, before })
  await syncDefinitions(context)
}

async function needDeployed(
  deployed: DeployedRules,
  file: string,
  rules: Pick<RuleContext['rules'], 'files'>,
): Promise<RuleText> {
  const found = (await deployed.list()).find(({ filename }) => filename === file)
  if (found) return found
  const shipped = (await rules.files()).find(one => one.shipped && one.filename === file)
  if (!shipped) throw new Problem('unknown_rule', `No file ${file} is deployed`)
  throw new Problem(
    'conflict',
    `${file} ships with the program and is not removed; deactivate ${shipped.rules.join(', ')} instead`,
  )
}

/** The rule that ships with the program, as what is gone back to. */
export const SHIPPED = 'shipped'
/** The SHA-256 of a version, or `shipped`. */
export const ROLL_BACK_TO = Type.String({ pattern: `^([0-9a-f]{64}|${SHIPPED})$` })

/** Versions of a rule without their text. `shipped`: whether the program ships a rule of this id, whichever counts. */
/** @throws Problem unknown_rule for a rule that is not there and never was deployed */
export async function listVersions({ rules, ruleVersions }: RuleContext, rule_id: string) {
  const own = (await rules.files()).find(file => file.rules.includes(rule_id))
  const versions = ruleVersions.list(rule_id).map(({ sha256: sha, deployed_by, deployed_at }) => {
    return { sha256: sha, deployed_by, deployed_at, is_current: own !== undefined && !own.shipped && own.sha256 === sha }
  })
  needRule({ get: () => own ?? versions[0] }, rule_id)
  return { shipped: own !== undefined && (own.shipped || own.overrides_shipped), versions }
}

/** The last text of each rule that was deployed once and does not count any more, by id: it can be deployed again. */
export async function listRemovedRules({
  rules,
  ruleVersions,
}: Pick<RuleContext, 'rules' | 'ruleVersions'>): Promise<RuleVersion[]> {
  const { byId } = await rules.catalogue()
  return ruleVersions.newest().filter(({ rule_id }) => !byId.has(rule_id))
}

/** @throws Problem not_found */
export function needVersion({ ruleVersions }: Pick<RuleContext, 'ruleVersions'>, rule_id: string, sha: string): RuleVersion {
  const version = ruleVersions.get(rule_id, sha)
  if (!version) throw new Problem('not_found', `${rule_id} has no version ${sha}`)
  return version
}

/**
 * Deploys an earlier text of a rule again, or removes the own rule in the place of a shipped one.
 *
 * @param to as `ROLL_BACK_TO`
 * @throws Problem not_found, conflict where there is nothing to go back from, rule_invalid, or rule_tests_failed
 */
export async function rollBackRule(context: RuleContext, actor: Actor, rule_id: string, to: string): Promise<void> {
  if (to !== SHIPPED) {
    await deployRules(context, actor, [{ yaml: needVersion(context, rule_id, to).yaml }])
    return
  }
  const own = (await context.rules.files()).find(({ rules, overrides_shipped }) => overrides_shipped && rules.includes(rule_id))
  if (!own) throw new Problem('conflict', `No own rule has taken the place of the shipped ${rule_id}`)
  await removeRuleFile(context, actor, own.filename)
}

/**
 * Activates a rule that passes its own tests, or deactivates it.
 *
 * @throws Problem unknown_rule, rule_tests_failed, or conflict while the rule's file is being changed
 */
export async function activateRule(
  { rules, ruleStates, clock }: Pick<CentralContext, 'rules' | 'ruleStates' | 'clock'>,
  { caller, audit }: Actor,
  rule_id: string,
  active: boolean,
): Promise<RuleState> {
  if (active) {
    const checked = await rules.test(rule_id)
    refuseFailing([needRule({ get: () => checked }, rule_id)])
  } else needRule((await rules.catalogue()).byId, rule_id)
  const before = ruleStates.list().find(state => state.rule_id === rule_id)
  const state = { rule_id, active, changed_by: caller!.subject, changed_at: clock.now() }
  ruleStates.set(state)
  audit({ subject: rule_id, before, after: state })
  return state
}

/** Updates the table of fault definitions from the rules that run now. */
export async function syncDefinitions({ rules, definitions, clock }: Omit<RuleContext, 'ruleVersions'>) {
  const catalogue = await rules.catalogue()
  return { ...definitions.sync(catalogue.rules.map(definitionOf), clock.now()), errors: catalogue.errors }
}

import type { EquipmentType } from '#shared/core/model/model.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'

/** The text of a rule file. */
export type RuleText = { filename: string; yaml: string }
/** A text to deploy. Without a name it goes into the deployed file of its rule, or into a new one that is named by the rule's id. */
export type RuleDraft = { filename?: string; yaml: string }
/** The result of checking a file: the rule's id, or the errors with their places. */
export type RuleCheck = {
  filename: string
  rule_id: string | undefined
  errors: { line: number; column: number; message: string }[]
  /** Of the rule; empty where the file has errors. */
  title: string
  equipment: (EquipmentType | 'any')[]
  /** How many tests it has. */
  tests: number
  /** Those that fail. */
  failing: { name: string; line: number; problems: string[] }[]
}

export type DeployedRules = {
  /** The readable deployed files, ordered by name. */
  list(): Promise<RuleText[]>
  /** Adds, replaces and removes files atomically; durable when resolved. */
  change(put: RuleText[], remove: string[]): Promise<void>
}
type PublishPorts = {
  deployedRules: DeployedRules
  /** Parses the files and runs their tests, in a process of its own. */
  check: (files: RuleText[]) => Promise<RuleCheck[]>
  /** The valid rules of the deployed files. */
  deployed: () => Promise<{ filename: string; rule_id: string }[]>
}

/** Names of deployed files: no folder, no leading dot. */
export const RULE_FILENAME = '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,122}\\.ya?ml$'
/** How errors name a text that has no file yet. */
const NEW_RULE = 'rule'

export type Publication = {
  /** File names. */
  deployed: string[]
  unchanged: string[]
  rules: { filename: string; rule_id: string; title: string; equipment: (EquipmentType | 'any')[]; tests: number }[]
}

/**
 * Checks rule files with their tests and deploys all of them or none.
 *
 * @returns what was deployed, and the texts of rules that were replaced
 * @throws Problem rule_invalid or rule_tests_failed that lists every place
 */
export async function publishRules(
  drafts: RuleDraft[],
  { deployedRules, check, deployed: inForce }: PublishPorts,
  dryRun: boolean,
): Promise<{ done: Publication; replaced: { rule_id: string; yaml: string }[]; changed: { rule_id: string; yaml: string }[] }> {
  const checks = await check(drafts.map(({ filename = NEW_RULE, yaml }) => ({ filename, yaml })))
  refuseErrors(checks)
  const rulesInForce = await inForce()
  const files = drafts.map(({ filename, yaml }, i) => {
    const { rule_id, title, equipment, tests } = checks[i]!
    const rule = { rule_id: rule_id!, title, equipment, tests }
    return { filename: filename ?? fileOf(rule_id!, rulesInForce), yaml, rule }
  })
  const twice = files.find(({ filename }, i) => files.findIndex(other => other.filename === filename) !== i)
  if (twice) throw new Problem('rule_invalid', `${twice.filename} is in the request twice`)
  const others = rulesInForce.filter(({ filename }) => !files.some(file => file.filename === filename))
  refuseDoubles([...others, ...files.map(({ filename, rule }) => ({ filename, rule_id: rule.rule_id }))])
  refuseFailing(checks)
  const before = new Map((await deployedRules.list()).map(({ filename, yaml }) => [filename, yaml]))
  const changed = files.filter(({ filename, yaml }) => before.get(filename) !== yaml)
  if (!dryRun && changed.length) {
    await deployedRules.change(
      changed.map(({ filename, yaml }) => ({ filename, yaml })),
      [],
    )
  }
  const replaced = rulesInForce.flatMap(({ filename, rule_id }) => {
    const yaml = changed.some(file => file.filename === filename) ? before.get(filename) : undefined
    return yaml === undefined ? [] : [{ rule_id, yaml }]
  })
  const done = {
    deployed: changed.map(({ filename }) => filename),
    unchanged: files.filter(file => !changed.includes(file)).map(({ filename }) => filename),
    rules: files.map(({ filename, rule }) => ({ filename, ...rule })),
  }
  return { done, replaced, changed: changed.map(({ rule, yaml }) => ({ rule_id: rule.rule_id, yaml })) }
}

/** @throws Problem rule_invalid where the name is that of another rule's file, or none */
function fileOf(rule_id: string, inForce: { filename: string; rule_id: string }[]): string {
  const own = inForce.find(rule => rule.rule_id === rule_id)
  if (own && isName(own.filename)) return own.filename
  const filename = `${rule_id}.yaml`
  const other = inForce.find(rule => rule.filename === filename)
  if (other && !own) throw new Problem('rule_invalid', `${filename} holds ${other.rule_id}; nothing was deployed`)
  if (!isName(filename)) throw new Problem('rule_invalid', `No file can be named by ${rule_id}; nothing was deployed`)
  return filename
}

const isName = (filename: string): boolean => new RegExp(RULE_FILENAME).test(filename)

function refuseErrors(checked: RuleCheck[]): void {
  const errors = checked.flatMap(({ filename, errors }) =>
    errors.map(({ line, column, message }): DataError => ({ pointer: `${filename}:${line}:${column}`, row: line, message })),
  )
  if (errors.length)
    throw new Problem('rule_invalid', `${errors[0]!.pointer} ${errors[0]!.message}; nothing was deployed`, errors)
}

/** Refuses two files that define the same rule. */
function refuseDoubles(checked: { filename: string; rule_id: string }[]): void {
  const owners = new Map<string, string>()
  for (const { filename, rule_id } of checked) {
    const owner = owners.get(rule_id)
    if (owner !== undefined)
      throw new Problem('rule_invalid', `${filename} and ${owner} both define ${rule_id}; nothing was deployed`)
    owners.set(rule_id, filename)
  }
}

/** @throws Problem rule_tests_failed that names each failing case */
export function refuseFailing(checked: RuleCheck[]): void {
  const errors = checked.flatMap(({ filename, failing }) =>
    failing.flatMap(({ name, line, problems }) =>
      problems.map((problem): DataError => ({ pointer: `${filename}:${line}`, row: line, message: `${name}: ${problem}` })),
    ),
  )
  if (errors.length) throw new Problem('rule_tests_failed', `${errors[0]!.pointer} ${errors[0]!.message}`, errors)
}

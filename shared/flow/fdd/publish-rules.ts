import { type DataError, Problem } from '#shared/core/problem.ts'

/** The text of a rule file. */
export type RuleText = { filename: string; yaml: string }
/** The result of checking a file: the rule's id, or the errors with their places. */
export type RuleCheck = {
  filename: string
  rule_id: string | undefined
  errors: { line: number; column: number; message: string }[]
  /** Tests of the rule that fail. */
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

/**
 * Checks rule files with their tests and deploys all of them or none.
 *
 * @throws Problem rule_invalid or rule_tests_failed that lists every place
 */
export async function publishRules(
  files: RuleText[],
  { deployedRules, check, deployed: inForce }: PublishPorts,
  dryRun: boolean,
) {
  const twice = files.find(({ filename }, i) => files.findIndex(other => other.filename === filename) !== i)
  if (twice) throw new Problem('rule_invalid', `${twice.filename} is in the request twice`)
  const checked = await check(files)
  refuseErrors(checked)
  const deployed = new Map((await deployedRules.list()).map(({ filename, yaml }) => [filename, yaml]))
  const others = (await inForce()).filter(({ filename }) => !files.some(file => file.filename === filename))
  refuseDoubles([...others, ...checked])
  refuseFailing(checked)
  const changed = files.filter(({ filename, yaml }) => deployed.get(filename) !== yaml)
  if (!dryRun && changed.length) await deployedRules.change(changed, [])
  return {
    deployed: changed.map(({ filename }) => filename),
    unchanged: files.filter(file => !changed.includes(file)).map(({ filename }) => filename),
  }
}

function refuseErrors(checked: RuleCheck[]): void {
  const errors = checked.flatMap(({ filename, errors }) =>
    errors.map(({ line, column, message }): DataError => ({ pointer: `${filename}:${line}:${column}`, row: line, message })),
  )
  if (errors.length)
    throw new Problem('rule_invalid', `${errors[0]!.pointer} ${errors[0]!.message}; nothing was deployed`, errors)
}

/** Refuses two files that define the same rule. */
function refuseDoubles(checked: Pick<RuleCheck, 'filename' | 'rule_id'>[]): void {
  const owners = new Map<string, string>()
  for (const { filename, rule_id } of checked) {
    if (rule_id === undefined) continue
    const owner = owners.get(rule_id)
    if (owner !== undefined)
      throw new Problem('rule_invalid', `${filename} and ${owner} both define ${rule_id}; nothing was deployed`)
    owners.set(rule_id, filename)
  }
}

/** @throws Problem rule_tests_failed that names each failing case */
export function refuseFailing(checked: RuleCheck[]): void {
  const errors = checked.flatMap(({ filename, failing }) =>
    failing.map(({ name, line, problems }): DataError => {
      return { pointer: `${filename}:${line}`, row: line, message: `${name}: ${problems.join('; ')}` }
    }),
  )
  if (errors.length) throw new Problem('rule_tests_failed', `${errors[0]!.pointer} ${errors[0]!.message}`, errors)
}

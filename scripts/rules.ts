/** `scripts/rules check|test|mutate|explain|readme|backtest`: what a rule's author needs at the command line. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { openPlatformConfig } from '#shared/central/fdd/config.ts'
import { suppressionCycles } from '#shared/core/rules/episodes/suppress.ts'
import { explainRule } from '#shared/core/rules/report/explain.ts'
import { testRule } from '#shared/core/rules/testing/test-rule.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { backtest } from './rules-backtest.ts'
import { mutate } from './rules-mutate.ts'
import { sourceLines, sourceProblems } from './lib/rule-sources.ts'
import { readmeOf, sharedReasons } from './rules-readme.ts'

const USAGE = `scripts/rules check [FOLDER|FILE|ID]...     parse and check: keys, names, dimensions, sources, who silences whom
scripts/rules test [FOLDER|FILE|ID]...      run the tests inside the rules
scripts/rules mutate [FOLDER|FILE|ID]...    whether those tests notice every operator and figure that is altered
    --json                                  one line for each alteration
    --survivors FILE                        those that may live, and why (default scripts/catalogue/survivors.yaml)
scripts/rules explain ID...                 a rule in words
scripts/rules readme                        rules/README.md anew, from the rules and scripts/catalogue
scripts/rules backtest [FOLDER|FILE|ID]...  what rules would have said of history, and with other parameters
    --data DIR [--type ahu]                 wide CSV files, one for each equipment
    --workspace DIR --building B            or the history of an appliance or a hub
    --days N                                how many of the last days (default 30)
    --param NAME=VALUE                      compare with this value, as often as needed: what appears, goes, stays
    --scope type=TYPE|equipment=ID          as if it were set there; otherwise for the whole site
    --role ROLE                             of rules over every role, for this one alone
Without a folder: rules, and what is deployed in the workspace. Exit 0 when all is well, 1 when a rule fails, 64 when the command is not understood.
`

/** Longest backtest: what one run may span. */
const DAYS_MAX = 732

type Out = (line: string) => void
type Options = ReturnType<typeof readArgs>['values']
type Command = (rules: WrittenRule[], options: Options, out: Out, all: WrittenRule[]) => boolean | Promise<boolean>

const COMMANDS = new Map<string, Command>([
  ['check', checkAll],
  ['test', testAll],
  ['mutate', mutateAll],
  ['explain', explainAll],
  ['readme', writeReadme],
  ['backtest', backtestAll],
])

const text = { type: 'string' } as const
const readArgs = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      data: text,
      type: { ...text, default: 'ahu' },
      workspace: text,
      building: text,
      days: { ...text, default: '30' },
      param: { ...text, multiple: true, default: [] as string[] },
      json: { type: 'boolean', default: false },
      survivors: { ...text, default: 'scripts/catalogue/survivors.yaml' },
      scope: { ...text, default: 'site' },
      role: text,
    },
  })

/** @returns the exit code */
export async function main(args: string[], out: Out): Promise<number> {
  try {
    return await runCommand(args, out)
  } catch (error) {
    out(errorText(error))
    return 64
  }
}

async function runCommand(args: string[], out: Out): Promise<number> {
  const { positionals, values } = readArgs(args)
  const [name = '', ...rest] = positionals
  const command = COMMANDS.get(name)
  if (!command || values.help) {
    out(USAGE.trimEnd())
    return values.help ? 0 : 64
  }
  const folders = rest.filter(word => /[/.]/.test(word) || word === 'rules')
  const ids = rest.filter(word => !folders.includes(word))
  const { rules, errors } = loadRules(folders.length > 0 ? folders : ['rules', ...deployedIn(values.workspace)])
  for (const { filename, line, column, message } of errors) out(`${filename}:${line}:${column}: ${message}`)
  const missing = ids.filter(id => !rules.some(rule => rule.id === id))
  for (const id of missing) out(`${id}: no such rule`)
  const chosen = ids.length > 0 ? rules.filter(({ id }) => ids.includes(id)) : rules
  const fine = await command(chosen, values, out, rules)
  return fine && errors.length === 0 && missing.length === 0 ? 0 : 1
}

/** The rules of a workspace: the shipped ones, and before them those deployed there. @throws Error that names a setting that is none */
function deployedIn(workspace: string | undefined): string[] {
  if (workspace === undefined) return []
  const defaults = { rules_dir: join(workspace, 'rules'), rule_interval_hours: 3, lookback_days: 3 }
  return [openPlatformConfig(join(workspace, 'config', 'platform.json'), defaults).read().rules_dir]
}

function checkAll(rules: WrittenRule[], _: Options, out: Out): boolean {
  const cycles = suppressionCycles(rules)
  for (const cycle of cycles) out(`${cycle.join(' silences ')}: a ring`)
  for (const { filename, tests } of rules) if (tests.length === 0) out(`${filename}:1:1: the rule has no tests`)
  const reasons = sharedReasons()
  const unsourced = rules.flatMap(rule => sourceProblems(rule, reasons))
  for (const line of unsourced) out(line)
  out(`${rules.length} rules checked`)
  return cycles.length === 0 && unsourced.length === 0 && rules.every(({ tests }) => tests.length > 0)
}

function testAll(rules: WrittenRule[], _: Options, out: Out): boolean {
  let passed = 0
  let failed = 0
  for (const rule of rules) {
    for (const { name, line, ok, problems } of testRule(rule)) {
      if (ok) passed++
      else failed++
      for (const problem of problems) out(`${rule.filename}:${line}: ${rule.id} "${name}": ${problem}`)
    }
  }
  out(`${rules.length} rules: ${passed} tests passed, ${failed} failed`)
  return failed === 0
}

function explainAll(rules: WrittenRule[], _: Options, out: Out): boolean {
  const reasons = sharedReasons()
  for (const rule of rules) out(`${[...explainRule(rule), ...sourceLines(rule, reasons)].join('\n')}\n`)
  return rules.length > 0
}

function mutateAll(rules: WrittenRule[], { json, survivors }: Options, out: Out): boolean {
  return mutate(rules, { json, survivors }, out)
}

function writeReadme(_: WrittenRule[], __: Options, out: Out, all: WrittenRule[]): boolean {
  writeFileSync('rules/README.md', readmeOf(all))
  out(`rules/README.md: ${all.length} rules`)
  return true
}

async function backtestAll(
  rules: WrittenRule[],
  { days, param, ...where }: Options,
  out: Out,
  all: WrittenRule[],
): Promise<boolean> {
  const count = Number(days)
  if (!(count > 0 && count <= DAYS_MAX)) throw new Error(`--days ${days}: it takes a number above 0, at most ${DAYS_MAX}`)
  for (const line of await backtest(rules, all, { ...where, days: count, params: param })) out(line)
  return true
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), line => process.stdout.write(`${line}\n`))
}

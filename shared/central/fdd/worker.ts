/** The process in which rules are read, checked and run, so that no poll waits for them. */
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { type RuleCoverage, ruleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { testRule } from '#shared/core/rules/testing/test-rule.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { Problem } from '#shared/core/problem.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import type { RunProgress } from '#shared/core/runs/run-state.ts'
import { backtest, type BacktestJob, type BacktestReport } from '#shared/flow/fdd/backtest.ts'
import { type EvaluateJob, type Evaluation, evaluateRules } from '#shared/flow/fdd/evaluate-rules.ts'
import type { RuleCheck, RuleText } from '#shared/flow/fdd/publish-rules.ts'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openRuleCache, type RuleCache } from '#shared/node/rules/rule-cache.ts'
import { unlessGone } from '#shared/node/rules/rule-changes.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'
import { newestSource } from '#shared/node/version.ts'
import { type LoadedViews, readingOf, type RuleReading, viewsOf } from './rule-views.ts'

/** How often a step says how far it is: more than a person can read. */
const TELL_MS = 250
/** How often a rule is looked for whose file changes meanwhile. */
const READS_MAX = 3

export type FddInit = {
  dbPath: string
  root: string
  /** Folder of the engine state between runs, and file of the rules as parsed last. */
  states: string
  ruleCache: string
  /** Of the program. */
  version: string
  memoryMb: number
  /** How long one rule may take on one equipment in one run, ms. */
  ruleMs: number
}
export type FddHandlers = {
  evaluate(
    input: { job: EvaluateJob; dirs: string[] },
    signal: AbortSignal,
    tell: (progress: RunProgress) => void,
  ): Promise<Evaluation>
  backtest(input: { job: BacktestJob; dirs: string[] }, signal: AbortSignal): Promise<BacktestReport>
  check(files: RuleText[]): RuleCheck[]
  /** Runs the tests of one loaded rule; undefined when there is no such rule. */
  test(input: { dirs: string[]; rule_id: string }): Promise<RuleCheck | undefined>
  /** The text of one loaded rule with all that only its file says; undefined when there is no such rule. */
  read(input: { dirs: string[]; rule_id: string }): Promise<RuleReading | undefined>
  catalogue(dirs: string[]): Promise<LoadedViews>
  coverage(input: { dirs: string[]; inactive: string[]; equipment: Equipment[]; points: Point[] }): Promise<RuleCoverage>
}

serveWorker(async (init: FddInit): Promise<FddHandlers> => {
  const version = `${init.version} of ${newestSource()}`
  const rules = openRuleCache(init.ruleCache, version)
  const templates = new TemplateCache()
  const shared = { historian: await openHistoryReader(init), elapsed: () => performance.now(), yieldToEvents: setImmediate }
  return {
    evaluate: ({ job, dirs }, signal, tell) =>
      evaluateRules(job, {
        ...shared,
        loadRules: () => rules.load(dirs),
        saved: { states: openEngineStates(init.states, version), sampleLogs: openSampleLogs(init.states) },
        templates,
        ruleMs: init.ruleMs,
        progress: sparing(tell),
        signal,
      }),
    backtest: ({ job, dirs }, signal) => backtest(job, { ...shared, loadRules: () => rules.load(dirs), signal }),
    check: files => files.map(checkFile),
    async test({ dirs, rule_id }) {
      const file = await currentFile(rules, dirs, rule_id)
      return file && checkFile(file)
    },
    async read({ dirs, rule_id }) {
      const file = await currentFile(rules, dirs, rule_id)
      const parsed = file && parseRule(file.yaml, file.filename)
      return parsed?.ok ? readingOf(parsed.rule, file!.yaml) : undefined
    },
    async coverage({ dirs, inactive, equipment, points }) {
      const loaded = await rules.load(dirs)
      const active = loaded.rules.filter(({ id }) => !inactive.includes(id))
      return ruleCoverage(active, equipment, points)
    },
    catalogue: async dirs => viewsOf(await rules.load(dirs)),
  }
})

/** Reports each new step at once and the progress at intervals. */
function sparing(tell: (progress: RunProgress) => void): (progress: RunProgress) => void {
  let last: { step: string; at: number } | undefined
  return progress => {
    const at = performance.now()
    const isLast = progress.equipment_done === progress.equipment_total
    if (last?.step === progress.step && at - last.at < TELL_MS && !isLast) return
    last = { step: progress.step, at }
    tell(progress)
  }
}

/**
 * Reads the file of the rule that counts once more: its tests are in no cache.
 *
 * @throws Problem conflict when the file holds something else, which does not count yet
 */
async function currentFile(rules: RuleCache, dirs: string[], rule_id: string): Promise<RuleText | undefined> {
  for (let tries = 1; ; tries++) {
    const rule = (await rules.load(dirs)).rules.find(({ id }) => id === rule_id)
    if (!rule) return undefined
    const { filename } = rule
    const yaml = unlessGone(() => readFileSync(filename, 'utf8'))
    if (yaml !== undefined && sha256(yaml) === rule.sha256) return { filename, yaml }
    if (tries === READS_MAX) throw new Problem('conflict', `The file of ${rule_id} is being changed; try again`)
  }
}

function checkFile({ filename, yaml }: RuleText): RuleCheck {
  const parsed = parseRule(yaml, filename)
  if (!parsed.ok) {
    const errors = parsed.errors.map(({ line, column, message }) => ({ line, column, message }))
    return { filename, rule_id: undefined, errors, title: '', equipment: [], tests: 0, failing: [] }
  }
  const { id: rule_id, title, equipment, tests } = parsed.rule
  return { filename, rule_id, errors: [], title, equipment, tests: tests.length, failing: failingOf(parsed.rule) }
}

const failingOf = (rule: WrittenRule) =>
  testRule(rule)
    .filter(({ ok }) => !ok)
    .map(({ name, line, problems }) => ({ name, line, problems }))

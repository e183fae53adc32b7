/** `scripts/alter`: alters lines of product code, one at a time, and lists which alterations no test notices. */
import { errorText } from '#shared/core/error-text.ts'
import { appendFileSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { readExecutedLines } from './alterations/executed-lines.ts'
import { orderTests } from './alterations/reaching-tests.ts'
import { copyTree, type Tree } from './alterations/tree.ts'
import { type Baseline, drawAlterations, type Outcome, takeValid, tryAlteration } from './alterations/trial.ts'
import { type Alteration, alter } from './alterations/alterations.ts'

const USAGE = `scripts/alter [options]      alters lines of the last commit in a copy, one at a time, and runs the tests that reach them
  --count 60          how many lines
  --from 0            leaves out that many of the lines that the seed draws
  --seed 1            which lines: the same seed draws the same lines of the same commit
  --only PREFIX       only files whose path begins so; as often as needed
  --tests 40          at most so many test files for one alteration: those that execute the line, the nearest first
  --coverage FILE     which tests execute which lines: written when it is not there, else read; it counts for one commit
  --jobs 2            so many alterations at a time, each in a copy of its own
  --commit HEAD       what is altered
  --log FILE          one line of JSON for each outcome, as they come
  --again FILE        tries the alterations of such a file anew that nobody noticed
  --list              says what would be altered, and runs no test
A test that is red once counts when it is red again on the same copy, and green without the alteration.
Rules and the engine's rule language are left out: scripts/rules mutate alters those.
Alterations that change nothing anybody can see are listed with the reason in scripts/catalogue/equivalent.yaml.
Exit 0 when at least 90 % of those that change something are noticed.
`
const PRODUCT = ['shared/*.ts', 'appliance/*.ts', 'hub/*.ts', 'provisioning/*.ts', ':!shared/core/rules']
const EQUIVALENT = 'scripts/catalogue/equivalent.yaml'
/** Of a hundred alterations that change something, how many must be noticed. */
const NOTICED_MIN = 0.9
/** They read the tree itself and would be red for the text, not for what it does. */
const TEXT_TESTS = new Set(['test/architecture/tidy.test.ts', 'test/architecture/closure.test.ts'])
/** They need machines of their own, or an hour. */
const LEFT_OUT = /^test\/(cluster|emulator)\//

function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      count: { ...text, default: '60' },
      from: { ...text, default: '0' },
      seed: { ...text, default: '1' },
      tests: { ...text, default: '40' },
      jobs: { ...text, default: '2' },
      commit: { ...text, default: 'HEAD' },
      only: { ...text, multiple: true, default: [] },
      log: text,
      again: text,
      coverage: text,
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const number = (name: 'count' | 'from' | 'seed' | 'tests' | 'jobs') => {
    if (!/^\d{1,6}$/.test(values[name])) throw new Error(`--${name} takes a whole number, not ${values[name]}`)
    return Number(values[name])
  }
  const figures = { count: number('count'), from: number('from'), seed: number('seed') }
  return { ...values, ...figures, tests: number('tests'), jobs: Math.max(1, number('jobs')) }
}
type Options = ReturnType<typeof readOptions>

const keyOf = ({ file, before, after }: Pick<Alteration, 'file' | 'before' | 'after'>): string => [file, before, after].join('\n')

/** @returns keys of alterations that change nothing anybody can see */
function readEquivalent(): Set<string> {
  const listed = (parse(readFileSync(EQUIVALENT, 'utf8')) ?? []) as Record<'file' | 'before' | 'after' | 'reason', string>[]
  for (const entry of listed)
    if (!entry.reason) throw new Error(`${EQUIVALENT}: ${entry.file}: ${entry.before}: a reason is missing`)
  return new Set(listed.map(keyOf))
}

async function chosen(tree: Tree, options: Options): Promise<Alteration[]> {
  const files = tree
    .files(...PRODUCT)
    .filter(file => !options.only.length || options.only.some(prefix => file.startsWith(prefix)))
  if (options.again !== undefined) return survivorsOf(tree, options.again)
  const drawn = drawAlterations(tree.read, files, options.seed)
  return (await takeValid(tree, drawn, options.from + options.count)).slice(options.from)
}

/** Alterations that no test noticed in an earlier run and whose line still exists. */
function survivorsOf(tree: Tree, log: string): Alteration[] {
  const outcomes = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Outcome)
  return outcomes
    .filter(({ noticed_by }) => noticed_by === null)
    .map(({ file, line, before, after }) => ({ file, line, before, after }))
    .filter(alteration => alter(tree.read(alteration.file), alteration) !== undefined)
}

const say = (line: string) => process.stdout.write(`${line}\n`)
const placeOf = ({ file, line, before, after }: Alteration): string => `${file}:${line}\n    ${before}\n    ${after}`

function resultOf({ noticed_by, tried, flaky = [] }: Outcome): string {
  const result = noticed_by ? `noticed by ${noticed_by.file}: ${noticed_by.test}` : `not noticed by ${tried} test files`
  return [result, ...flaky.map(red => `red, but not for it: ${red}`)].join('\n    ')
}

async function tryAll(trees: Tree[], options: Options): Promise<boolean> {
  const tree = trees[0]!
  const equivalent = readEquivalent()
  const alterations = (await chosen(tree, options)).filter(alteration => !equivalent.has(keyOf(alteration)))
  if (options.list) {
    for (const alteration of alterations) say(placeOf(alteration))
    return true
  }
  const order = orderTests(
    tree.root,
    tree.files('test/*.test.ts').filter(file => !TEXT_TESTS.has(file) && !LEFT_OUT.test(file)),
    await readExecutedLines(tree, options.coverage),
  )
  const survivors: Outcome[] = []
  const baseline: Baseline = new Map()
  const queue = alterations.values()
  let done = 0
  const work = async (own: Tree) => {
    for (const alteration of queue) {
      const outcome = await tryAlteration(own, alteration, { order, testsMax: options.tests, baseline })
      if (outcome.noticed_by === null) survivors.push(outcome)
      if (options.log !== undefined) appendFileSync(options.log, `${JSON.stringify(outcome)}\n`)
      say(`${++done}/${alterations.length} ${placeOf(alteration)}\n    ${resultOf(outcome)}`)
    }
  }
  await Promise.all(trees.map(work))
  const noticed = alterations.length - survivors.length
  const share = alterations.length > 0 ? noticed / alterations.length : 1
  say(`${noticed} of ${alterations.length} noticed, ${(100 * share).toFixed(1)} % (at least ${100 * NOTICED_MIN} %)`)
  for (const survivor of survivors) say(placeOf(survivor))
  return share >= NOTICED_MIN
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const trees = Array.from({ length: options.list ? 1 : options.jobs }, () => copyTree(options.commit))
  const removeAll = () => trees.forEach(tree => tree.remove())
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      removeAll()
      process.exit(130)
    })
  try {
    return (await tryAll(trees, options)) ? 0 : 1
  } finally {
    removeAll()
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`alter: ${errorText(error)}\n`)
  process.exitCode = 64
}

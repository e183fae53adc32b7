/** Draws alterations, leaves out those that the type check refuses, and looks for a test that notices each of the others. */
import { formatDuration, MINUTE } from '#shared/core/time.ts'
import { importsOf, resolveImport } from '../closure.ts'
import { type Alteration, alterationsOf } from './alterations.ts'
import type { TestOrder } from './reaching-tests.ts'
import type { Tree } from './tree.ts'

export type Outcome = Alteration & {
  /** The first test file that went red, and which of its tests; null when none did. */
  noticed_by: { file: string; test: string } | null
  /** Test files that were run. */
  tried: number
  /** Tests that were red only once, or without the alteration as well: they do not count. */
  flaky?: string[]
}

const TYPES_MS = 10 * MINUTE
const SUITE_MS = 10 * MINUTE
/** A file of unit tests takes seconds; one that takes minutes hangs, and so does a group. */
const FILE_MS = 4 * MINUTE
/** A test waits for what no longer comes: its own limit is shorter than the suite's. */
const TEST_SECS = 60

const SLOW = /^test\/(e2e|browser)\//
/** Test files that run in one go. */
const GROUP = 4

/** The same for the same seed. @source mulberry32 (Ettinger) */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0
  return sides => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * sides)
  }
}

/** @returns one alteration for each line that has any, every line as likely as another, in random order */
export function drawAlterations(read: (file: string) => string, files: readonly string[], seed: number): Alteration[] {
  const roll = dice(seed)
  const lines = files.flatMap(file => [...Map.groupBy(alterationsOf(file, read(file)), ({ line }) => line).values()])
  for (let i = lines.length - 1; i > 0; i--) {
    const other = roll(i + 1)
    ;[lines[i], lines[other]] = [lines[other]!, lines[i]!]
  }
  return lines.map(own => own[roll(own.length)]!)
}

/** @returns the first `count` that still compile, in their order. A mistake that the compiler sees never gets as far as a test. */
export async function takeValid(tree: Tree, drawn: readonly Alteration[], count: number): Promise<Alteration[]> {
  const valid = new Set<Alteration>()
  for (let at = 0; valid.size < count && at < drawn.length; ) {
    let pending = drawn.slice(at, (at += count - valid.size))
    while (pending.length > 0) {
      const first = new Map(pending.toReversed().map(one => [one.file, one]))
      const round = pending.filter(one => first.get(one.file) === one)
      for (const one of await compiling(tree, round)) valid.add(one)
      pending = pending.filter(one => !round.includes(one))
    }
  }
  return drawn.filter(one => valid.has(one)).slice(0, count)
}

/** All are checked at once: an error is blamed on the alteration of its file or of what that imports, and others are found by halving. */
async function compiling(tree: Tree, all: readonly Alteration[]): Promise<Alteration[]> {
  if (all.length === 0) return []
  const { code, output, late } = await tree.altered(all, () => tree.run(['tsc', '--noEmit', '--pretty', 'false'], TYPES_MS))
  if (late) throw new Error('the type check does not end')
  if (code === 0) return [...all]
  const wrong = new Set([...output.matchAll(/^([^\s(]+)\(\d+,\d+\): error/gm)].map(([, file]) => file!))
  const isAltered = (file: string) => all.some(one => one.file === file)
  const importedBy = (file: string) => importsOf(tree.read(file)).flatMap(specifier => resolveImport(file, specifier) ?? [])
  const blamed = new Set([...wrong].flatMap(file => (isAltered(file) ? [file] : importedBy(file))))
  const rest = all.filter(({ file }) => !blamed.has(file))
  if (rest.length < all.length) return compiling(tree, rest)
  if (all.length === 1) return []
  const half = all.length >> 1
  return [...(await compiling(tree, all.slice(0, half))), ...(await compiling(tree, all.slice(half)))]
}

/** Test files that were green on a tree as it is, found out once for all: one that is red there notices nothing. */
export type Baseline = Map<string, Promise<boolean>>
type Red = { files: readonly string[]; test: string }

/**
 * Runs the tests that reach the file, until one notices the alteration. A red run counts when the file that was red is red
 * once more on the same tree, and green without the alteration.
 *
 * @param testsMax how many test files at most
 */
export async function tryAlteration(
  tree: Tree,
  alteration: Alteration,
  { order, testsMax, baseline }: { order: TestOrder; testsMax: number; baseline: Baseline },
): Promise<Outcome> {
  let tried = 0
  const flaky: string[] = []
  for (const group of groupsOf(order(alteration.file, alteration.line).slice(0, testsMax))) {
    tried += group.length
    for (let pending = [...group]; pending.length > 0; ) {
      const red = await tree.altered([alteration], () => redTwice(tree, pending))
      if (red === undefined) break
      const file = red.files.join(' ')
      if (red.isAgain && (await isGreen(tree, red.files, baseline)))
        return { ...alteration, noticed_by: { file, test: red.test }, tried, ...(flaky.length > 0 && { flaky }) }
      flaky.push(`${file}: ${red.test}`)
      // The run stopped at it: the others of the group have not all been run.
      pending = pending.filter(test => !red.files.includes(test))
    }
  }
  return { ...alteration, noticed_by: null, tried, ...(flaky.length > 0 && { flaky }) }
}

/** @returns what went red first, and whether it does so again when it runs by itself */
async function redTwice(tree: Tree, tests: readonly string[]): Promise<(Red & { isAgain: boolean }) | undefined> {
  const red = await redOf(tree, tests)
  return red && { ...red, isAgain: (await redOf(tree, red.files)) !== undefined }
}

async function isGreen(tree: Tree, files: readonly string[], baseline: Baseline): Promise<boolean> {
  const key = files.join(' ')
  let green = baseline.get(key)
  // A busy machine makes a test red that is well: only one that is red twice is not.
  if (!green) baseline.set(key, (green = redTwice(tree, files).then(red => !red?.isAgain)))
  return green
}

/** The nearest alone, for it notices most; then several at a time, for each start of AVA costs a second. Slow suites come last. */
function groupsOf(tests: readonly string[]): string[][] {
  const [first, ...others] = tests.filter(test => !SLOW.test(test))
  const groups = others.flatMap((_, i) => (i % GROUP === 0 ? [others.slice(i, i + GROUP)] : []))
  const slow = tests.filter(test => SLOW.test(test)).map(test => [test])
  return [...(first === undefined ? [] : [[first]]), ...groups, ...slow]
}

/** @returns the first test that went red and its file, or why the run counts as red; undefined when all are green */
async function redOf(tree: Tree, tests: readonly string[]): Promise<Red | undefined> {
  const slow = SLOW.exec(tests[0]!)
  const options = slow ? ['--config', `test/${slow[1]}/ava.config.js`] : ['--timeout', `${TEST_SECS}s`]
  const limit = slow ? SUITE_MS : FILE_MS
  const { code, output, late } = await tree.run(['ava', '--tap', '--fail-fast', ...options, ...tests], limit)
  if (late) return { files: tests, test: `not done after ${formatDuration(limit)}` }
  if (code === 0) return undefined
  const title = /^not ok \d+ - (.*)$/m.exec(output)?.[1]
  return { files: filesOf(title ?? '', tests), test: title ?? 'ended without a test' }
}

/** @returns of `tests` the one that AVA names before the title, all when it names none */
export function filesOf(title: string, tests: readonly string[]): readonly string[] {
  const named = tests.filter(test => {
    const parts = test
      .replace(/^test\//, '')
      .replace(/\.test\.ts$/, '')
      .split('/')
    return title.startsWith(`${parts.join(' › ')} › `) || title.startsWith(`${parts.at(-1)} › `)
  })
  return named.length > 0 ? named : tests
}

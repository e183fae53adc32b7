/** Which test files execute which lines of product code, from one run of the suite with V8's coverage. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HOUR } from '#shared/core/time.ts'
import type { Tree } from './tree.ts'

/** Of a product file, by line from 1: the test files that executed it, in their own process or in one that they started. */
export type ExecutedLines = Record<string, Record<number, string[]>>

type Range = { startOffset: number; endOffset: number; count: number }
type Script = { url: string; functions: { ranges: Range[] }[] }

const SUITE_MAX_MS = 2 * HOUR
/** Coverage slows the suite down, and AVA ends a suite in which no test has ended for so long. */
const PAUSE_MAX = '20m'
/** A map of fewer of the test files would let alterations pass unseen; a test that is skipped on this machine may be missing. */
const MEASURED_MIN = 0.9
const PRODUCT = /^(?:shared|appliance|hub|provisioning)\/.*\.ts$/
/** Suites that are run with configurations of their own. */
const SPECIAL = /^test\/(browser|cluster|e2e|emulator)\//
const TEST = /^test\/.*\.test\.ts$/

/**
 * @param file of the result; when it exists, it is read and nothing is run
 * @throws Error when the suite ended before most of its test files had run
 */
export async function readExecutedLines(tree: Tree, file: string | undefined): Promise<ExecutedLines> {
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as ExecutedLines
  const folder = mkdtempSync(join(tree.root, '..', 'coverage-'))
  const parents = join(folder, 'parents')
  const note = `import{appendFileSync}from'node:fs';appendFileSync('${parents}',process.pid+' '+process.ppid+'\\n')`
  const options = `--import=data:text/javascript,${encodeURIComponent(note)}`
  const environment = [`NODE_V8_COVERAGE=${folder}`, `NODE_OPTIONS=${options}`]
  const { output } = await tree.run(['env', ...environment, 'ava', '--tap', '--timeout', PAUSE_MAX], SUITE_MAX_MS)
  const executed = linesOf(tree, folder)
  rmSync(folder, { recursive: true })
  const measured = new Set(Object.values(executed).flatMap(lines => Object.values(lines).flat())).size
  const expected = tree.files('test/*.test.ts').filter(test => !SPECIAL.test(test)).length
  if (measured < MEASURED_MIN * expected)
    throw new Error(`coverage of ${measured} of ${expected} test files only; the suite ended with:\n${output.slice(-2_000)}`)
  if (file !== undefined) writeFileSync(file, JSON.stringify(executed))
  return executed
}

/** A coverage file is named after its process; `parents` has a line `pid ppid` for each. */
function linesOf(tree: Tree, folder: string): ExecutedLines {
  const prefix = `${pathToFileURL(tree.root).href}/`
  const parents = new Map(
    readFileSync(join(folder, 'parents'), 'utf8')
      .trim()
      .split('\n')
      .map(line => line.split(' ') as [string, string]),
  )
  const processes = readdirSync(folder).flatMap(name => {
    const pid = /^coverage-(\d+)-/.exec(name)?.[1]
    if (pid === undefined) return []
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Script[] }
    const scripts = result.filter(({ url }) => url.startsWith(prefix))
    return [{ pid, scripts: scripts.map(script => ({ ...script, file: script.url.slice(prefix.length) })) }]
  })
  const tests = new Map(processes.map(({ pid, scripts }) => [pid, scripts.find(({ file }) => TEST.test(file))?.file]))
  const testOf = (pid: string | undefined): string | undefined => pid && (tests.get(pid) ?? testOf(parents.get(pid)))
  const executed: ExecutedLines = {}
  for (const { pid, scripts } of processes) {
    const test = testOf(pid)
    if (test === undefined) continue
    for (const { file, functions } of scripts.filter(script => PRODUCT.test(script.file))) {
      const lines = (executed[file] ??= {})
      for (const line of executedLines(tree.read(file), functions)) {
        const own = (lines[line] ??= [])
        if (!own.includes(test)) own.push(test)
      }
    }
  }
  return executed
}

/**
 * @param functions V8's ranges, outer before inner: the innermost one that holds a character says how often it was executed
 * @returns lines from 1 of which something was executed
 */
export function executedLines(source: string, functions: Script['functions']): number[] {
  const counts = new Uint8Array(source.length)
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges) counts.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  const lines: number[] = []
  let at = 0
  for (const [index, line] of source.split('\n').entries()) {
    const start = at + line.length - line.trimStart().length
    if (counts.subarray(start, at + line.trimEnd().length).includes(1)) lines.push(index + 1)
    at += line.length + 1
  }
  return lines
}

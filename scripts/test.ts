/** Runs every check in order and ends with `N passed, N failed`. A check that breaks does not hide the ones after it. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

type Check = { name: string; command: string[] }
type Count = { passed: number; failed: number }

const TOOLS: Check[] = [
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types in the browser', command: ['tsc', '--noEmit', '-p', 'test/browser'] },
  { name: 'lint', command: ['oxlint', '--quiet', '--deny-warnings'] },
  { name: 'format', command: ['biome', 'format', '.'] },
]
const SUITES: Check[] = [{ name: 'unit and conformance', command: ['ava', '--tap'] }]
const SLOW_SUITES: Check[] = [
  { name: 'end to end', command: ['ava', '--tap', '--config', 'test/e2e/ava.config.js'] },
  { name: 'browser', command: ['ava', '--tap', '--config', 'test/browser/ava.config.js'] },
]

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs one tool; it passes when it exits 0. Its output is shown when it does not. */
async function runTool({ name, command }: Check): Promise<Count> {
  const lines: string[] = []
  const code = await run(command, line => lines.push(line))
  say(`${code === 0 ? 'ok    ' : 'NOT OK'} ${name}`)
  if (code !== 0) for (const line of lines) say(`       ${line}`)
  return { passed: Number(code === 0), failed: Number(code !== 0) }
}

const RESULT = /^(not )?ok \d+/
/** The part of a TAP stream that is about one failed test: its own line, its details and its log. */
const DETAIL = /^\s/

/** Runs a suite and counts its tests. What failed is shown whole, what passed is counted. */
async function runSuite({ name, command }: Check): Promise<Count> {
  const count = { passed: 0, failed: 0 }
  let failing = false
  say(`------ ${name}`)
  const code = await run(command, line => {
    const result = RESULT.exec(line)
    if (result) failing = result[1] !== undefined
    if (result) count[failing ? 'failed' : 'passed']++
    if (result ? failing : failing && DETAIL.test(line)) say(line)
  })
  if (code !== 0 && count.failed === 0) {
    say(`not ok - ${name} ended with ${code} and no failed test`)
    count.failed++
  }
  if (code === 0 && count.passed === 0) {
    say(`not ok - ${name} ran no test`)
    count.failed++
  }
  say(`${count.failed ? 'NOT OK' : 'ok    '} ${name}: ${count.passed} passed, ${count.failed} failed`)
  return count
}

/** @returns the exit code; 1 when the command could not be started or was killed */
async function run([file, ...args]: string[], onLine: (line: string) => void): Promise<number> {
  const child = spawn(file!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
  return new Promise(resolve => {
    child.on('error', error => {
      onLine(String(error))
      resolve(1)
    })
    child.on('close', code => resolve(code ?? 1))
  })
}

const options = process.argv.slice(2)
const unknown = options.filter(option => option !== '--fast')
if (unknown.length) {
  process.stderr.write(`usage: scripts/test [--fast]   (unknown: ${unknown.join(' ')})\n`)
  process.exit(2)
}

const total = { passed: 0, failed: 0 }
const add = ({ passed, failed }: Count) => {
  total.passed += passed
  total.failed += failed
}
for (const tool of TOOLS) add(await runTool(tool))
for (const suite of options.includes('--fast') ? SUITES : [...SUITES, ...SLOW_SUITES]) add(await runSuite(suite))
say(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed ? 1 : 0

/**
 * Runs every check in order and ends with `N passed, N failed`, and `, N skipped` where tests were not run. A check that
 * breaks does not hide the ones after it.
 */
import { COMPILED } from './lib-start/process.ts'
import { runInGroup } from './lib/process-group.ts'
import { closingLine, type Count, readTapResult, RowCount } from './lib/tap.ts'

type Check = { name: string; command: string[] }

const TOOLS: Check[] = [
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'types in the browser', command: ['tsc', '--noEmit', '-p', 'test/browser'] },
  { name: 'lint', command: ['oxlint', '--quiet', '--deny-warnings'] },
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'names', command: ['node', 'scripts/names.ts'] },
]
const SUITES: Check[] = [{ name: 'unit and conformance', command: ['ava', '--tap'] }]
const SLOW_SUITES: Check[] = [
  { name: 'end to end', command: ['ava', '--tap', '--config', 'test/e2e/ava.config.js'] },
  { name: 'browser', command: ['ava', '--tap', '--config', 'test/browser/ava.config.js'] },
]
/** Suites that take the place of the others, by option: they need root, packages of their own, and an hour. */
const SPECIAL_SUITES: Readonly<Record<string, Check>> = {
  '--image': { name: 'image in the emulator', command: ['ava', '--tap', '--config', 'test/emulator/ava.config.js'] },
  '--cluster': { name: 'hub on several machines', command: ['ava', '--tap', '--config', 'test/cluster/ava.config.js'] },
}

/** A thousand kills take a quarter of an hour. */
const LONG_TIMEOUT = '30m'
/** Time of one suite, ms: three times what it takes on two quiet cores, or a night with `--long`. */
const SUITE_MS = { short: 45 * 60_000, special: 12 * 3_600_000, long: 12 * 3_600_000 }

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Runs one tool; it passes when it exits 0. Its output is shown when it does not. */
async function runTool({ name, command }: Check): Promise<Count> {
  const lines: string[] = []
  const code = await run(command, line => lines.push(line))
  say(`${code === 0 ? 'ok    ' : 'NOT OK'} ${name}`)
  if (code !== 0) for (const line of lines) say(`       ${line}`)
  return { passed: Number(code === 0), failed: Number(code !== 0), skipped: 0 }
}

/** The part of a TAP stream that is about one failed test: its own line, its details and its log. */
const DETAIL = /^\s/
/** Tests that never ended, which have no result of their own in the stream. */
const UNFINISHED = /^# (\d+ tests? remaining in .+)$/

/** Runs a suite and counts its tests. What failed is shown whole, what was not run by name, what passed is counted. */
async function runSuite({ name, command }: Check): Promise<Count> {
  const count: Count = { passed: 0, failed: 0, skipped: 0 }
  const rows = new RowCount()
  let failing = false
  say(`------ ${name}`)
  const code = await run(command, line => {
    const result = readTapResult(line)
    if (result) {
      failing = result.outcome === 'failed'
      count[result.outcome]++
      rows.add(result)
    }
    const unfinished = UNFINISHED.exec(line)?.[1]
    if (unfinished !== undefined) {
      say(`not ok - ${unfinished}`)
      count.failed++
    }
    if (result?.outcome === 'skipped') say(`not run - ${result.title}`)
    else if (result ? failing : failing && DETAIL.test(line)) say(line)
  })
  if (code !== 0 && count.failed === 0) {
    say(`not ok - ${name} ended with ${code} and no failed test`)
    count.failed++
  }
  if (code === 0 && count.passed === 0) {
    say(`not ok - ${name} ran no test`)
    count.failed++
  }
  const rowLine = rows.line()
  if (rowLine !== undefined) say(`       ${rowLine}`)
  say(`${count.failed ? 'NOT OK' : 'ok    '} ${name}: ${closingLine(count)}`)
  return count
}

/** @returns the exit code; 1 when the command could not be started, or was killed because it took too long */
async function run(command: string[], onLine: (line: string) => void): Promise<number> {
  let rest = ''
  const onText = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  }
  const { end, ended } = runInGroup(command, { timeoutMs: suiteMs, onText })
  const stop = () => {
    end()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    const { code, isLate } = await ended
    if (rest) onLine(rest)
    if (isLate) say(`not ok - ${command.join(' ')} did not end within ${suiteMs / 60_000} min and was killed`)
    return code
  } catch (error) {
    onLine(String(error))
    return 1
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  }
}

const USAGE = `scripts/test [--fast | --image | --cluster] [--long]
  --fast    leaves out end to end and browser
  --image   builds the appliance's image and tries it in an emulator, in place of the other suites; as root
  --cluster installs RabbitMQ and PostgreSQL and tries hubs with them, in place of the other suites; as root
  --long    kills, cuts and random cases as often as on a night's run, and the tests that are rarely red
`
const options = process.argv.slice(2)
if (options.some(option => !['--fast', '--long', ...Object.keys(SPECIAL_SUITES)].includes(option))) {
  process.stderr.write(USAGE)
  process.exit(2)
}
// Suites inherit it; test/support/optional.ts reads it.
const isLong = options.includes('--long')
if (isLong) process.env['PLENUM_TEST_LONG'] = '1'
// Every test file is a process of its own: what one has compiled is not compiled again.
Object.assign(process.env, COMPILED)
const special = options.flatMap(option => SPECIAL_SUITES[option] ?? [])
const suiteMs = isLong ? SUITE_MS.long : special.length > 0 ? SUITE_MS.special : SUITE_MS.short

const total: Count = { passed: 0, failed: 0, skipped: 0 }
const add = ({ passed, failed, skipped }: Count) => {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}
for (const tool of TOOLS) add(await runTool(tool))
const suites = special.length > 0 ? special : options.includes('--fast') ? SUITES : [...SUITES, ...SLOW_SUITES]
for (const { name, command } of suites)
  add(await runSuite({ name, command: isLong ? [...command, '--timeout', LONG_TIMEOUT] : command }))
say(closingLine(total))
process.exitCode = total.failed ? 1 : 0

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { clockOf, simulatedClock } from '#shared/node/clock.ts'
import { readVersion } from '#shared/node/version.ts'
import { folder } from '../../support/folders.ts'

test('processes that share a simulated clock agree, and it runs as fast as it says', async t => {
  const atMs = Date.now()
  const text = `600@1000000@${atMs}`
  const a = clockOf(text)!
  const b = simulatedClock({ speed: 600, epochMs: 1_000_000, atMs })
  const before = a.now()
  const between = b.now()
  t.true(before <= between && between <= a.now())
  await a.sleep(60_000)
  t.true(a.now() - before >= 59_000)
})

test('a clock that is asked to stop sleeping does so at once', async t => {
  const stop = new AbortController()
  const slept = clockOf(undefined)!.sleep(3_600_000, stop.signal)
  stop.abort()
  await t.notThrowsAsync(slept)
})

for (const text of ['600', '600@x@1', 'fast@1@1', '']) {
  test(`"${text}" is no clock`, t => t.is(clockOf(text), undefined))
}

test('the version is three numbers and twelve digits of the revision', t => {
  t.regex(readVersion(), /^\d+\.\d+\.\d+\+[0-9a-f]{12}$/)
})

/** Runs two services, the second of which may fail to start, and reports what happened in order. */
const PROGRAM = (failing: boolean) => `
import pino from 'pino'
import { runUntilSignal } from '#shared/node/service.ts'
const say = text => process.stdout.write(text + '\\n')
const service = (name, fails) => ({ name, start: async () => { if (fails) throw new Error('no port'); say('start ' + name) }, stop: async () => say('stop ' + name) })
const alive = setInterval(() => {}, 1000)
await runUntilSignal([service('store', false), service('http', ${failing})], pino({ level: 'silent' }))
say('ready')
`

/** @returns what the program said, and its exit code; sends `signal` once it is ready */
async function runProgram(program: string, signal?: NodeJS.Signals, env: NodeJS.ProcessEnv = process.env) {
  const folder = mkdtempSync(join(import.meta.dirname, '.service-'))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, program)
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', data => {
    said += data
    if (signal && /ready/.test(said)) child.kill(signal)
  })
  const [code] = await once(child, 'close')
  rmSync(folder, { recursive: true })
  return { said: said.trim().split('\n'), code }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} stops services in reverse and exits 0`, async t => {
    const { said, code } = await runProgram(PROGRAM(false), signal)
    t.deepEqual([...new Set(said)], ['start store', 'start http', 'ready', 'stop http', 'stop store'])
    t.is(code, 0)
  })
}

for (const [what, options, hasStack] of [
  ['was foreseen', "{ cause: new Error('EADDRINUSE') }", false],
  ['was not foreseen', 'undefined', true],
] as const) {
  test(`a failing start that ${what} is told ${hasStack ? 'with its stack' : 'in one sentence'}`, async t => {
    const { said } = await runProgram(`
import pino from 'pino'
import { runUntilSignal } from '#shared/node/service.ts'
const start = async () => { throw new Error('the port is taken', ${options}) }
await runUntilSignal([{ name: 'http', start, stop: async () => undefined }], pino({}, pino.destination({ dest: 1, sync: true })))
`)
    const { level, msg, err } = JSON.parse(said[0]!)
    t.deepEqual([level, msg], [60, 'http cannot start: the port is taken'])
    t.is(typeof err?.stack === 'string', hasStack)
  })
}

test('what a process has compiled is kept when it is killed', async t => {
  const cache = folder(t)
  await runProgram(PROGRAM(false), 'SIGKILL', { ...process.env, NODE_COMPILE_CACHE: cache })
  const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  t.true(files.length >= 3, `${files.length} files: the program, the services and the log's package at least`)
})

test('a service that cannot start stops those that run and exits 1', async t => {
  const { said, code } = await runProgram(PROGRAM(true))
  t.deepEqual(said.slice(0, 3), ['start store', 'stop http', 'stop store'])
  t.is(code, 1)
})

test('a log that cannot be written stops nothing', async t => {
  const program = `
import { openLog } from '#shared/node/log.ts'
const log = openLog('full', 'info')
for (let i = 0; i < 3; i++) log.info('a line that a full disk does not take')
setTimeout(() => process.exit(7), 50)
`
  const folder = mkdtempSync(join(import.meta.dirname, '.service-'))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, program)
  const full = openSync('/dev/full', 'w')
  const [code] = await once(spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', full] }), 'close')
  closeSync(full)
  rmSync(folder, { recursive: true })
  t.is(code, 7)
})

import { readdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { setTimeout as wait } from 'node:timers/promises'
import { nodeFlags } from '#image/recipes/node-flags.ts'
import { workerFlags } from '#shared/node/worker/worker-process.ts'
import { openWorker, type Worker, type WorkerOptions } from '#shared/node/worker/worker.ts'
import { folder, until } from '../../../support/folders.ts'
import type { TestHandlers } from './worker-module.ts'

function open(t: ExecutionContext, more: Partial<WorkerOptions> = {}): Worker<TestHandlers> {
  const module = new URL('./worker-module.ts', import.meta.url)
  const worker = openWorker<TestHandlers>({ name: 'test', module, init: { a: 1 }, memoryMb: 256, idleMs: 20_000, ...more })
  t.teardown(() => worker.stop())
  return worker
}

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** Bounded: a process that stays fails the test. */
async function untilGone(pid: number): Promise<boolean> {
  for (let i = 0; i < 600 && !isGone(pid); i++) await wait(50)
  return isGone(pid)
}

test('the process starts with the first request, and typed arrays are transferred both ways', async t => {
  const worker = open(t)
  t.is(worker.pid(), undefined)
  const sent = { ts: Float64Array.of(1, Number.NaN, 3), map: new Map([['a', 1n]]) }
  const { input, init, pid } = await worker.request('echo', sent)
  t.deepEqual(input, sent)
  t.deepEqual(init, { a: 1 })
  t.is(worker.pid(), pid)
  t.not(pid, process.pid)
})

test('what a process has compiled is kept although it is always cut off', async t => {
  const cache = folder(t)
  const before = process.env['NODE_COMPILE_CACHE']
  process.env['NODE_COMPILE_CACHE'] = cache
  const answer = open(t).request('echo', 1)
  if (before === undefined) delete process.env['NODE_COMPILE_CACHE']
  else process.env['NODE_COMPILE_CACHE'] = before
  await answer
  const files = () => readdirSync(cache, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile()).length
  await until(() => files() >= 3, 'its module and those of the service are kept')
  t.pass()
})

test('a problem keeps its code and its error places; another error keeps its message', async t => {
  const worker = open(t)
  const problem = await t.throwsAsync(worker.request('refuse', 'no point x'), { code: 'unknown_point', message: 'no point x' })
  t.deepEqual((problem as unknown as { errors: unknown }).errors, [{ row: 3, message: 'odd' }])
  await t.throwsAsync(worker.request('stumble', undefined), { message: 'not a function' })
  t.is((await worker.request('echo', 1)).input, 1)
})

test('requests are answered in the order in which they came', async t => {
  const worker = open(t)
  const order: number[] = []
  await Promise.all([1, 2, 3].map(n => worker.request('echo', n).then(() => order.push(n))))
  t.deepEqual(order, [1, 2, 3])
})

test('when the process dies its request fails, and a new process answers the waiting requests', async t => {
  const worker = open(t)
  const first = (await worker.request('echo', 0)).pid
  const dying = worker.request('leave', 7)
  const waiting = worker.request('echo', 1)
  await t.throwsAsync(dying, { code: 'query_failed', message: 'the test process ended with code 7' })
  t.not((await waiting).pid, first)
})

test('a process that is killed during a request is replaced', async t => {
  const worker = open(t)
  const { pid } = await worker.request('echo', 0)
  const hanging = worker.request('hang', undefined)
  process.kill(pid, 'SIGKILL')
  await t.throwsAsync(hanging, { code: 'query_failed', message: 'the test process was ended by SIGKILL' })
  t.is((await worker.request('echo', 1)).input, 1)
})

test('a process that needs more memory than allowed is ended, and the message says so', async t => {
  const worker = open(t, { memoryMb: 150 })
  const ended = await t.throwsAsync(worker.request('grow', undefined), {
    code: 'query_failed',
    message: /^the test process needed \d+ MB where 150 MB are allowed$/,
  })
  const needed = Number(/\d+/.exec(ended!.message)![0])
  t.true(needed > 150 && needed < 600, `${needed} MB: seen soon after it went beyond`)
  t.is((await worker.request('echo', 1)).input, 1)
})

test('a cancelled request fails at once, whether it waits, ends by itself or its process has to be ended', async t => {
  const worker = open(t)
  await worker.request('echo', 0)
  for (const method of ['wait', 'hang'] as const) {
    const [running, queued] = [new AbortController(), new AbortController()]
    const first = worker.request(method, null as never, { signal: running.signal })
    const second = worker.request('echo', 2, { signal: queued.signal })
    const third = worker.request('echo', 3)
    queued.abort(new Error('nobody waits'))
    await t.throwsAsync(second, { message: 'nobody waits' })
    running.abort(new Error('too late'))
    await t.throwsAsync(first, { message: 'too late' })
    t.is((await third).input, 3, method)
  }
  await t.throwsAsync(worker.request('echo', 4, { signal: AbortSignal.abort(new Error('never')) }), { message: 'never' })
})

test('progress of a request arrives in order and before its answer', async t => {
  const worker = open(t)
  const told: unknown[] = []
  const [three] = await Promise.all([
    worker.request('count', 3, { onProgress: i => told.push(i) }),
    worker.request('count', 2), // Without onProgress, and without effect on the first request.
  ])
  t.deepEqual([three, told], [3, [0, 1, 2]])
})

test('no progress arrives after an abort', async t => {
  const worker = open(t)
  const ending = new AbortController()
  const told: number[] = []
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const onProgress = (i: number) => {
    told.push(i)
    if (told.length === 3) resolve()
  }
  const running = worker.request('chatter', null, { signal: ending.signal, onProgress })
  await begun
  ending.abort(new Error('enough'))
  const heard = told.length
  await t.throwsAsync(running, { message: 'enough' })
  t.is(await worker.request('count', 1), 1, 'the same process goes on')
  t.is(told.length, heard)
})

test('an idle process ends, and the next request starts another', async t => {
  const worker = open(t, { idleMs: 50 })
  const { pid } = await worker.request('echo', 0)
  t.true(await untilGone(pid))
  t.is(worker.pid(), undefined)
  t.not((await worker.request('echo', 1)).pid, pid)
})

test('a failed set-up fails each request with its reason', async t => {
  const worker = open(t, { init: 'broken' })
  await t.throwsAsync(worker.request('echo', 1), { message: 'the set-up failed' })
  await t.throwsAsync(worker.request('echo', 2), { message: 'the set-up failed' })
})

test('a stopped worker rejects running, waiting and later requests', async t => {
  const worker = open(t)
  const { pid } = await worker.request('echo', 0)
  const all = [worker.request('hang', undefined), worker.request('echo', 1)]
  const ended = worker.stop()
  for (const each of [...all, worker.request('echo', 2)]) await t.throwsAsync(each, { code: 'not_ready' })
  await ended
  t.true(isGone(pid))
})

test('a worker of an appliance lets its heap grow in small steps, and one of a hub has the flags of the hub', t => {
  const flags = workerFlags(nodeFlags('appliance/main.ts'))
  t.deepEqual(flags.slice(-2), ['--max-semi-space-size=2', '--heap-growing-percent=20'])
  t.false(flags.includes('--optimize-for-size'))
  t.deepEqual(workerFlags(nodeFlags('hub/main.ts')), [...nodeFlags('hub/main.ts')])
})

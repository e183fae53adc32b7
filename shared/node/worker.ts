import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Problem } from '#shared/core/problem.ts'
import type { Handlers } from './serve-worker.ts'
import { type FromWorker, fromWire, type ToWorker } from './worker-protocol.ts'

/** How often the resident memory of a busy worker is looked at. */
const WATCH_MS = 200
/** How long a cancelled request may take to end before its process is ended. */
const CANCEL_MS = 2_000
/** Requests that may wait for one worker; more would only hide that it cannot keep up. */
const QUEUE_MAX = 1_000
const KB = 1024
const MB = 1024 * 1024

export type WorkerOptions = {
  /** In messages: "the <name> process …". */
  name: string
  /** A module whose body calls `serveWorker`. */
  module: URL
  /** Passed to its `setUp` each time a process starts. */
  init: unknown
  /** Resident memory at which the process is ended (on Linux), and the bound of its JavaScript heap. */
  memoryMb: number
  /** How long it may be idle before it ends. */
  idleMs: number
}

export type Worker<H extends Handlers> = {
  /**
   * One request; they are answered in order, one at a time. An abort rejects at once.
   *
   * @throws Problem query_failed when the process ended before it answered; what the handler threw otherwise
   */
  request<M extends keyof H & string>(
    method: M,
    input: Parameters<H[M]>[0],
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<H[M]>>>
  /** Process id while one runs. */
  pid(): number | undefined
  /** Rejects what waits and ends the process. */
  stop(): Promise<void>
}

type Task = {
  id: number
  method: string
  input: unknown
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/** A process of its own for heavy work: it starts with the first request, ends when idle, and its death harms nobody else. */
export function openWorker<H extends Handlers>(options: WorkerOptions): Worker<H> {
  const { name, memoryMb, idleMs } = options
  const queue: Task[] = []
  let child: ChildProcess | undefined
  let current: Task | undefined
  let stopped = false
  let overBound = 0
  let lastId = 0
  let idle: NodeJS.Timeout | undefined
  let watch: NodeJS.Timeout | undefined

  const start = (): ChildProcess => {
    const execArgv = [...process.execArgv, `--max-old-space-size=${memoryMb}`]
    // A process group of its own: Ctrl-C on a terminal is the parent's business.
    const made = fork(options.module, { serialization: 'advanced', execArgv, detached: true })
    made.on('message', message => settle(message as FromWorker))
    made.once('exit', (code, signal) => lost(made, signal ? `was ended by ${signal}` : `ended with code ${code}`))
    made.once('error', error => lost(made, error.message))
    made.send({ kind: 'init', init: options.init } satisfies ToWorker)
    return made
  }

  const next = () => {
    clearTimeout(idle)
    current = queue.shift()
    if (!current) return rest()
    child ??= start()
    child.ref()
    child.channel?.ref()
    watch ??= setInterval(look, WATCH_MS).unref()
    const { id, method, input } = current
    child.send({ kind: 'request', id, method, input } satisfies ToWorker, error => error && child?.kill('SIGKILL'))
  }

  /** Idle processes do not keep their parent alive. */
  const rest = () => {
    clearInterval(watch)
    watch = undefined
    if (!child) return
    child.unref()
    child.channel?.unref()
    idle = setTimeout(() => {
      const done = child
      child = undefined // a request that comes now starts a new one
      done?.kill('SIGKILL')
    }, idleMs).unref()
  }

  const look = () => {
    const bytes = child?.pid === undefined ? 0 : residentBytes(child.pid)
    if (bytes <= memoryMb * MB) return
    overBound = bytes
    child?.kill('SIGKILL')
  }

  const settle = (message: FromWorker) => {
    if (message.id !== current?.id) return
    const { resolve, reject } = current
    if (message.kind === 'result') resolve(message.value)
    else reject(fromWire(message.error))
    next()
  }

  const lost = (which: ChildProcess, how: string) => {
    if (which !== child) return
    child = undefined
    const reason = overBound ? `needed ${Math.round(overBound / MB)} MB where ${memoryMb} MB are allowed` : how
    overBound = 0
    current?.reject(new Problem('query_failed', `the ${name} process ${reason}`))
    next()
  }

  const cancel = (task: Task, reason: Error) => {
    task.reject(reason)
    const waiting = queue.indexOf(task)
    if (waiting >= 0) queue.splice(waiting, 1)
    if (task !== current) return
    const busy = child
    busy?.send({ kind: 'cancel', id: task.id } satisfies ToWorker)
    setTimeout(() => void (current === task && busy?.kill('SIGKILL')), CANCEL_MS).unref()
  }

  return {
    request: (method, input, signal) =>
      new Promise((resolve, reject) => {
        if (stopped) return reject(new Problem('not_ready', `the ${name} process is stopped`))
        if (queue.length >= QUEUE_MAX)
          return reject(new Problem('not_ready', `${QUEUE_MAX} requests wait for the ${name} process`))
        if (signal?.aborted) return reject(signal.reason)
        const abort = () => cancel(task, signal?.reason as Error)
        const done =
          <T>(settleWith: (value: T) => void) =>
          (value: T) => {
            signal?.removeEventListener('abort', abort)
            settleWith(value)
          }
        const task: Task = { id: ++lastId, method, input, resolve: done(resolve as Task['resolve']), reject: done(reject) }
        signal?.addEventListener('abort', abort, { once: true })
        queue.push(task)
        if (!current) next()
      }),
    pid: () => child?.pid,
    stop: async () => {
      stopped = true
      const why = new Problem('not_ready', `the ${name} process is stopped`)
      for (const task of queue.splice(0)) task.reject(why)
      current?.reject(why)
      const last = child
      if (!last) return
      const ended = new Promise(resolve => last.once('exit', resolve))
      last.ref()
      last.kill('SIGKILL')
      await ended
    },
  }
}

/** @returns 0 where the machine does not tell, or the process is gone */
function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KB
  } catch {
    return 0
  }
}

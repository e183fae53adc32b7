import { Problem } from '#shared/core/problem.ts'
import type { Handlers } from './serve-worker.ts'
import { type ProcessOptions, startProcess, type WorkerProcess } from './worker-process.ts'
import { type FromWorker, fromWire } from './worker-protocol.ts'

/** How long a cancelled request may take to end before its process is ended. */
const CANCEL_MS = 2_000
/** Requests that may wait for one worker; more would only hide that it cannot keep up. */
const QUEUE_MAX = 1_000
/** A process that has kept this share of its memory is replaced before the next request, which would suffer for it. */
const FULL = 0.75

export type WorkerOptions = ProcessOptions & {
  /** In messages: "the <name> process …". */
  name: string
  /** How long its process may be idle before it ends. */
  idleMs: number
}

type RequestOptions = { signal?: AbortSignal; onProgress?: (progress: any) => void }

export type Worker<H extends Handlers> = {
  /**
   * One request; they are answered in order, one at a time. An abort rejects at once, and nothing is told after it.
   *
   * @param on `onProgress` hears what the handler tells until it answers
   * @throws Problem query_failed when the process ended before it answered; what the handler threw otherwise
   */
  request<M extends keyof H & string>(
    method: M,
    input: Parameters<H[M]>[0],
    on?: RequestOptions,
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
  onProgress: ((progress: unknown) => void) | undefined
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

/** A process of its own for heavy work: it starts with the first request, ends when idle, and its death harms nobody else. */
export function openWorker<H extends Handlers>(options: WorkerOptions): Worker<H> {
  const { name, idleMs } = options
  const queue: Task[] = []
  let worker: WorkerProcess | undefined
  let current: Task | undefined
  let stopped = false
  let lastId = 0
  let idle: NodeJS.Timeout | undefined

  const next = () => {
    clearTimeout(idle)
    current = queue.shift()
    if (!current) {
      worker?.busy(false)
      idle = setTimeout(dismiss, idleMs).unref()
      return
    }
    if (worker && worker.fullness() > FULL) dismiss()
    worker ??= startProcess(options, { message: settle, lost })
    worker.busy(true)
    const { id, method, input } = current
    worker.send({ kind: 'request', id, method, input })
  }
  const dismiss = () => {
    void worker?.end()
    worker = undefined
  }
  const settle = (message: FromWorker) => {
    if (message.id !== current?.id) return
    const { resolve, reject, onProgress } = current
    if (message.kind === 'progress') return onProgress?.(message.value)
    if (message.kind === 'result') resolve(message.value)
    else reject(fromWire(message.error))
    next()
  }
  const lost = (reason: string) => {
    worker = undefined
    current?.reject(new Problem('query_failed', `the ${name} process ${reason}`))
    next()
  }
  const cancel = (task: Task, reason: Error) => {
    task.reject(reason)
    task.onProgress = undefined
    const waiting = queue.indexOf(task)
    if (waiting >= 0) queue.splice(waiting, 1)
    if (task !== current) return
    worker?.send({ kind: 'cancel', id: task.id })
    setTimeout(() => {
      if (task !== current) return
      dismiss()
      next()
    }, CANCEL_MS).unref()
  }
  const refusal = (signal: AbortSignal | undefined): Error | undefined => {
    if (stopped) return new Problem('not_ready', `the ${name} process is stopped`)
    if (queue.length >= QUEUE_MAX) return new Problem('not_ready', `${QUEUE_MAX} requests wait for the ${name} process`)
    return signal?.aborted ? signal.reason : undefined
  }

  return {
    request: (method, input, { signal, onProgress } = {}) =>
      new Promise((resolve, reject) => {
        const refused = refusal(signal)
        if (refused) return reject(refused)
        const abort = () => cancel(task, signal?.reason)
        const then =
          <T>(settled: (value: T) => void) =>
          (value: T) => {
            signal?.removeEventListener('abort', abort)
            settled(value)
          }
        const id = ++lastId
        const task: Task = { id, method, input, onProgress, resolve: then(resolve as Task['resolve']), reject: then(reject) }
        signal?.addEventListener('abort', abort, { once: true })
        queue.push(task)
        if (!current) next()
      }),
    pid: () => worker?.pid,
    stop: async () => {
      stopped = true
      clearTimeout(idle)
      const why = new Problem('not_ready', `the ${name} process is stopped`)
      for (const task of queue.splice(0)) task.reject(why)
      current?.reject(why)
      current = undefined
      const last = worker
      worker = undefined
      await last?.end()
    },
  }
}

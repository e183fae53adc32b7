import { Problem } from '#shared/core/problem.ts'
import type { Handlers } from './serve-worker.ts'
import { type ProcessOptions, startProcess, type WorkerProcess } from './worker-process.ts'
import { type FromWorker, fromWire } from './worker-protocol.ts'

/** How long a cancelled request may take to end before its process is ended. */
const CANCEL_MS = 2_000
/** Maximum number of requests that wait for one worker; more would only hide that it cannot keep up. */
const QUEUE_MAX = 1_000
/** A process that uses more than this share of its memory is replaced before the next request. */
const FULL = 0.75

export type WorkerOptions = ProcessOptions & {
  /** Used in messages: "the <name> process …". */
  name: string
  /** How long its process may be idle before it ends. */
  idleMs: number
}

type RequestOptions = { signal?: AbortSignal; onProgress?: (progress: any) => void }

export type Worker<H extends Handlers> = {
  /**
   * Sends one request. Requests are answered in order, one at a time. An abort rejects at once, and `onProgress` is not
   * called after it.
   *
   * @param options `onProgress` is called with what the handler reports until it answers
   * @throws Problem query_failed when the process ended before it answered, not_ready when too many requests wait or the
   *   worker is stopped; otherwise what the handler threw
   */
  request<M extends keyof H & string>(
    method: M,
    input: Parameters<H[M]>[0],
    options?: RequestOptions,
  ): Promise<Awaited<ReturnType<H[M]>>>
  /** Process id while one runs. */
  pid(): number | undefined
  /** Rejects all requests and ends the process. */
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

/** Opens a separate process for heavy work: it starts with the first request and ends when idle. */
export const openWorker = <H extends Handlers>(options: WorkerOptions): Worker<H> => new QueuedWorker(options)

/** The queue of requests to one process. When the process ends, only the request that it was working on fails. */
class QueuedWorker<H extends Handlers> implements Worker<H> {
  readonly #options: WorkerOptions
  readonly #queue: Task[] = []
  #process: WorkerProcess | undefined
  #current: Task | undefined
  #isStopped = false
  #lastId = 0
  #idleTimer: NodeJS.Timeout | undefined

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  request<M extends keyof H & string>(
    method: M,
    input: Parameters<H[M]>[0],
    { signal, onProgress }: RequestOptions = {},
  ): Promise<Awaited<ReturnType<H[M]>>> {
    return new Promise((resolve, reject) => {
      const refused = this.#refusal(signal)
      if (refused) return reject(refused)
      const abort = () => this.#cancel(task, signal?.reason)
      const unlisten = () => signal?.removeEventListener('abort', abort)
      const task: Task = {
        id: ++this.#lastId,
        method,
        input,
        onProgress,
        resolve(value) {
          unlisten()
          resolve(value as Awaited<ReturnType<H[M]>>)
        },
        reject(error) {
          unlisten()
          reject(error)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#queue.push(task)
      if (!this.#current) this.#startNext()
    })
  }

  pid(): number | undefined {
    return this.#process?.pid
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#idleTimer)
    for (const task of this.#queue.splice(0)) task.reject(this.#stopped())
    this.#current?.reject(this.#stopped())
    this.#current = undefined
    await this.#endProcess()
  }

  #refusal(signal: AbortSignal | undefined): Error | undefined {
    if (this.#isStopped) return this.#stopped()
    if (this.#queue.length >= QUEUE_MAX) {
      return new Problem('not_ready', `${QUEUE_MAX} requests wait for the ${this.#options.name} process`)
    }
    return signal?.aborted ? signal.reason : undefined
  }

  #stopped(): Problem {
    return new Problem('not_ready', `the ${this.#options.name} process is stopped`)
  }

  #startNext(): void {
    clearTimeout(this.#idleTimer)
    this.#current = this.#queue.shift()
    if (!this.#current) {
      this.#process?.setBusy(false)
      this.#idleTimer = setTimeout(() => this.#endProcess(), this.#options.idleMs).unref()
      return
    }
    if (this.#process && this.#process.fullness() > FULL) void this.#endProcess()
    this.#process ??= startProcess(this.#options, {
      message: message => this.#settle(message),
      lost: reason => this.#fail(reason),
    })
    this.#process.setBusy(true)
    const { id, method, input } = this.#current
    this.#process.send({ kind: 'request', id, method, input })
  }

  #settle(message: FromWorker): void {
    if (message.id !== this.#current?.id) return
    const { resolve, reject, onProgress } = this.#current
    if (message.kind === 'progress') return onProgress?.(message.value)
    if (message.kind === 'result') resolve(message.value)
    else reject(fromWire(message.error))
    this.#startNext()
  }

  /** Fails the current request because the process ended. */
  #fail(reason: string): void {
    this.#process = undefined
    this.#current?.reject(new Problem('query_failed', `the ${this.#options.name} process ${reason}`))
    this.#startNext()
  }

  #cancel(task: Task, reason: Error): void {
    task.reject(reason)
    task.onProgress = undefined
    const waiting = this.#queue.indexOf(task)
    if (waiting >= 0) this.#queue.splice(waiting, 1)
    if (task !== this.#current) return
    this.#process?.send({ kind: 'cancel', id: task.id })
    setTimeout(() => {
      if (task !== this.#current) return
      void this.#endProcess()
      this.#startNext()
    }, CANCEL_MS).unref()
  }

  async #endProcess(): Promise<void> {
    const last = this.#process
    this.#process = undefined
    await last?.end()
  }
}

/** A worker for the tests of workers. */
import { setTimeout as wait } from 'node:timers/promises'
import { Problem } from '#shared/core/problem.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'

const MB = 1024 * 1024

export type TestHandlers = {
  /** Returns the input, the argument of `setUp`, and the id of the process that answers. */
  echo(input: unknown): { input: unknown; init: unknown; pid: number }
  refuse(detail: string): never
  stumble(): never
  /** Resolves with "aborted" when cancelled; never otherwise. */
  wait(input: null, signal: AbortSignal): Promise<string>
  /** Reports each number below `n`, and returns their count. */
  count(n: number, signal: AbortSignal, onProgress: (i: number) => void): number
  /** Reports progress once a millisecond until it is cancelled. */
  chatter(input: null, signal: AbortSignal, onProgress: (i: number) => void): Promise<void>
  /** Ignores cancellation. */
  hang(): Promise<never>
  leave(code: number): never
  /** Allocates memory beyond the JavaScript heap, a little at a time, until it is stopped. */
  grow(): Promise<never>
}

serveWorker((init: unknown): TestHandlers => {
  if (init === 'broken') throw new Error('the set-up failed')
  const hoard: Buffer[] = []
  return {
    echo: input => ({ input, init, pid: process.pid }),
    refuse: detail => {
      throw new Problem('unknown_point', detail, [{ row: 3, message: 'odd' }])
    },
    stumble: () => {
      throw new TypeError('not a function')
    },
    wait: (_, signal) => new Promise(resolve => signal.addEventListener('abort', () => resolve('aborted'))),
    count: (n, _signal, onProgress) => {
      for (let i = 0; i < n; i++) onProgress(i)
      return n
    },
    chatter: async (_, signal, onProgress) => {
      for (let i = 0; !signal.aborted; i++) {
        onProgress(i)
        await wait(1)
      }
    },
    hang: () => new Promise(() => undefined),
    leave: code => process.exit(code),
    grow: () =>
      new Promise(() => {
        setInterval(() => hoard.push(Buffer.alloc(8 * MB, 1)), 5)
      }),
  }
})

/** A worker that does what tests of workers need. */
import { setTimeout as wait } from 'node:timers/promises'
import { Problem } from '#shared/core/problem.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'

const MB = 1024 * 1024

export type TestHandlers = {
  /** What came, what `setUp` was given, and the process that answers. */
  echo(input: unknown): { input: unknown; init: unknown; pid: number }
  refuse(detail: string): never
  stumble(): never
  /** Resolves with "aborted" when cancelled; never otherwise. */
  wait(input: null, signal: AbortSignal): Promise<string>
  /** Tells each number below `n`, and answers with how many there were. */
  count(n: number, signal: AbortSignal, tell: (i: number) => void): number
  /** Tells once a millisecond until it is cancelled. */
  chatter(input: null, signal: AbortSignal, tell: (i: number) => void): Promise<void>
  /** Hears no cancellation. */
  hang(): Promise<never>
  leave(code: number): never
  /** Touches memory beyond the JavaScript heap, a little at a time, until it is stopped. */
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
    count: (n, _signal, tell) => {
      for (let i = 0; i < n; i++) tell(i)
      return n
    },
    chatter: async (_, signal, tell) => {
      for (let i = 0; !signal.aborted; i++) {
        tell(i)
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

import { flushCompileCache } from 'node:module'
import type { FromWorker, ToWorker } from './worker-protocol.ts'
import { toWire } from './worker-protocol.ts'

/**
 * Handlers by method. Each takes an input and returns a result. `signal` aborts when the result is no longer needed, and
 * `onProgress` reports progress to the caller.
 */
export type Handlers = Record<string, (input: any, signal: AbortSignal, onProgress: (progress: any) => void) => unknown>

/**
 * The whole body of a worker's module: creates the handlers from the parent's `init`, answers requests, and ends the
 * process when the parent ends.
 */
export function serveWorker<Init>(setUp: (init: Init) => Handlers | Promise<Handlers>): void {
  let handlers: Promise<Handlers> | undefined
  let hasAnswered = false
  const running = new Map<number, AbortController>()

  const answer = async (id: number, method: string, input: unknown) => {
    const controller = new AbortController()
    running.set(id, controller)
    try {
      const handler = (await handlers)?.[method]
      if (!handler) throw new Error(`the worker has no method ${method}`)
      const onProgress = (value: unknown) => send({ kind: 'progress', id, value })
      send({ kind: 'result', id, value: await handler(input, controller.signal, onProgress) })
    } catch (error) {
      send({ kind: 'error', id, error: toWire(error) })
    } finally {
      running.delete(id)
      // A worker is always cut off, and Node would write what it has compiled only when it ends in order.
      if (!hasAnswered) setImmediate(flushCompileCache)
      hasAnswered = true
    }
  }

  process.on('message', (message: ToWorker) => {
    if (message.kind === 'init') {
      handlers = Promise.resolve(message.init as Init).then(setUp)
      handlers.catch(() => undefined) // Each request is answered with this error.
    } else if (message.kind === 'cancel') running.get(message.id)?.abort()
    else void answer(message.id, message.method, message.input)
  })
  process.on('disconnect', () => process.exit())
}

/** Ignores a failure: when the parent has ended, the end of the channel ends this process as well. */
function send(message: FromWorker): void {
  process.send?.(message, () => undefined)
}

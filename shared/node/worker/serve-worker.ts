import type { FromWorker, ToWorker } from './worker-protocol.ts'
import { toWire } from './worker-protocol.ts'

/**
 * By method: takes an input, gives a result; `signal` aborts when nobody waits for the result any more, and `tell` says
 * meanwhile how far it is.
 */
export type Handlers = Record<string, (input: any, signal: AbortSignal, tell: (progress: any) => void) => unknown>

/**
 * The worker's side: makes the handlers from what the parent gave as `init`, answers requests one after the other, and
 * ends when the parent is gone. The whole body of a worker's module.
 */
export function serveWorker<Init>(setUp: (init: Init) => Handlers | Promise<Handlers>): void {
  let handlers: Promise<Handlers> | undefined
  const running = new Map<number, AbortController>()

  const answer = async (id: number, method: string, input: unknown) => {
    const controller = new AbortController()
    running.set(id, controller)
    try {
      const handler = (await handlers)?.[method]
      if (!handler) throw new Error(`the worker has no method ${method}`)
      const tell = (value: unknown) => send({ kind: 'progress', id, value })
      send({ kind: 'result', id, value: await handler(input, controller.signal, tell) })
    } catch (error) {
      send({ kind: 'error', id, error: toWire(error) })
    } finally {
      running.delete(id)
    }
  }

  process.on('message', (message: ToWorker) => {
    if (message.kind === 'init') {
      handlers = Promise.resolve(message.init as Init).then(setUp)
      handlers.catch(() => undefined) // told to each request
    } else if (message.kind === 'cancel') running.get(message.id)?.abort()
    else void answer(message.id, message.method, message.input)
  })
  process.on('disconnect', () => process.exit())
}

/** When the parent is gone nobody reads it, and the end of the channel ends this process. */
function send(message: FromWorker): void {
  process.send?.(message, () => undefined)
}

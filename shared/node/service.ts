import { flushCompileCache } from 'node:module'
import type { Logger } from 'pino'
import { exitWith } from './settings.ts'

/** A part of a process that runs until it is stopped. `stop` is safe to call twice. */
export type Service = { name: string; start(): Promise<void>; stop(): Promise<void> }

/** How long all services together may take to stop before the process ends anyway. */
const STOP_MS = 10_000

/**
 * Runs a process in three steps: `create` opens files and creates all services from values that exist already, then the
 * services start in order, then they run until a signal. The process exits with 78 when `create` rejects, before anything has started.
 *
 * @param create resolves with the services in the order in which they start; each is stopped before those it needs
 */
export async function runProcess(log: Logger, create: () => Promise<Service[]>): Promise<void> {
  const services = await create().catch((error: Error) => exitWith([error.message]))
  await runUntilSignal(services, log)
}

/**
 * Starts services in order and runs until SIGTERM or SIGINT, or until the parent process of this one has ended; then stops
 * them in reverse order and exits with 0. When a start fails, the services that run are stopped, the reason is logged, and
 * the process exits with 1.
 */
export async function runUntilSignal(services: Service[], log: Logger): Promise<void> {
  const started: Service[] = []
  let stopping = false
  const stop = async (code: number) => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(code || 1), STOP_MS).unref()
    for (const service of started.toReversed()) {
      await service.stop().catch(error => log.error({ err: error, service: service.name }, 'stop failed'))
    }
    process.exit(code)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(0))
  process.once('disconnect', () => void stop(0))
  process.channel?.unref()
  for (const service of services) {
    if (stopping) return
    try {
      started.push(service)
      await service.start()
    } catch (error) {
      const { message, cause } = error as Error
      // The stack is logged only for unexpected errors; an expected one names its cause.
      log.fatal({ ...(cause === undefined && { err: error }), service: service.name }, `${service.name} cannot start: ${message}`)
      await stop(1)
      return
    }
  }
  log.info({ services: started.map(({ name }) => name) }, 'running')
  // Node writes what it has compiled when a process ends in order; one that is cut off would compile all of it again.
  flushCompileCache()
}

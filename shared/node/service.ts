import type { Logger } from 'pino'

/** Something that runs until stopped. `stop` is safe to call twice. */
export type Service = { name: string; start(): Promise<void>; stop(): Promise<void> }

/** How long all services together may take to stop before the process ends anyway. */
const STOP_MS = 10_000

/**
 * Starts services in order, runs until SIGTERM or SIGINT, or until the process that holds this one's channel is gone; stops them in reverse and exits 0. A start that fails stops
 * what runs already and exits 1 with the reason in the log.
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
      // What has a cause was foreseen and put in words; of the rest one wants to know where it came from.
      log.fatal({ ...(cause === undefined && { err: error }), service: service.name }, `${service.name} cannot start: ${message}`)
      await stop(1)
      return
    }
  }
  log.info({ services: started.map(({ name }) => name) }, 'running')
}

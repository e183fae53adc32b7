import { once } from 'node:events'
import { createServer } from 'node:net'
import { PORTS } from './options.ts'
import { Refusal } from './refusal.ts'

/**
 * Looks at the ports of the child processes before these are started, so that the reason is one sentence.
 *
 * @throws Refusal naming the port that is taken
 */
export async function assertFree(portBase: number): Promise<void> {
  for (const name of ['hub', 'appliance', 'broker'] as const) {
    const port = portBase + PORTS[name]
    const probe = createServer()
    try {
      probe.listen(port, '127.0.0.1')
      await once(probe, 'listening')
    } catch (error) {
      throw new Refusal(portTaken(port, `the ${name}`, error))
    }
    probe.close()
    await once(probe, 'close')
  }
}

/** In words why a port cannot be had. */
export function portTaken(port: number | undefined, forWhom: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be opened (${message})`
  return `Port ${port ?? '?'} for ${forWhom} ${reason}; choose others with --port-base`
}

/** Whether the parts of a recipe can listen where they should. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { errorText } from '#shared/core/error-text.ts'
import { UpError } from './exit.ts'
import type { PlannedPart } from './plan.ts'

/**
 * Called before anything is started: a part whose port another program has ends after a while, and meanwhile that program answers
 * when its health is asked.
 *
 * @throws UpError that names each port that is taken, or each address that this machine does not have
 */
export async function refuseTakenPorts(parts: readonly PlannedPart[]): Promise<void> {
  const failures = (await Promise.all(parts.map(failureOf))).filter(failure => failure !== undefined)
  if (failures.length === 0) return
  const kind = failures.every(({ code }) => code === 'EADDRINUSE') ? 'refused' : 'configuration'
  throw new UpError(kind, failures.map(({ text }) => text).join('\n'))
}

async function failureOf({ component, bind, port }: PlannedPart): Promise<{ code: string; text: string } | undefined> {
  const server = createServer()
  try {
    server.listen(port, bind)
    await once(server, 'listening')
    return undefined
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens there' : errorText(error)
    return { code, text: `${component} cannot listen at ${bind}:${port}: ${why}` }
  } finally {
    server.close()
  }
}

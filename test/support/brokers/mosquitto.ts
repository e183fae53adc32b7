import { type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { startMosquitto as start } from '#scripts/lib/servers/mosquitto.ts'

/** mosquitto with our certificates and the ACLs that the topic rule prints, until the test is over. */
export async function startMosquitto(t: ExecutionContext, certs: string, acl: string, port: number): Promise<ChildProcess> {
  const child = await start(certs, acl, port)
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  return child
}

/** Central as a process of its own in a temporary workspace, open on loopback, and requests to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#scripts/lib/free-port.ts'
import { waitForHealth } from '../../lib-start/hub-client.ts'
import { startPart } from '../../lib-start/process.ts'

export type BenchCentral = {
  url: string
  pid: number
  workspace: string
  /** @throws Error with the answer when it is not 200 */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>
  close(): Promise<void>
}

/** How long a start may take, ms. */
const START_MS = 60_000

export async function startBenchCentral(): Promise<BenchCentral> {
  const [workspace, port] = [mkdtempSync(join(tmpdir(), 'plenum-bench-central-')), await freePort()]
  const env = {
    SERVICE_WORKSPACE: workspace,
    SERVICE_DEV_OPEN: '1',
    SERVICE_MQTT_ENABLED: '0',
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(port),
    SERVICE_LOG_LEVEL: 'error',
  }
  const part = startPart('central', 'hub/central/main.ts', env, join(workspace, 'log'))
  const url = `http://127.0.0.1:${port}`
  const close = async () => {
    await part.stop()
    rmSync(workspace, { recursive: true, force: true })
  }
  if (!(await waitForHealth(url, START_MS, part.hasEnded))) {
    await close()
    throw new Error(part.lastWords().join('\n'))
  }
  return {
    url,
    pid: part.pid,
    workspace,
    async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
      const isForm = body instanceof FormData
      const response = await fetch(url + path, {
        method,
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
        ...(body !== undefined && !isForm && { headers: { 'content-type': 'application/json' } }),
      })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
      return JSON.parse(text) as T
    },
    close,
  }
}

/** Hubs as processes of their own that share a PostgreSQL and the folders of their sites, as on machines of their own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'

const MAIN = new URL('../../../hub/central/main.ts', import.meta.url).pathname

export type ClusterHub = {
  start(): void
  /** Ends it as a machine does that loses its power. */
  kill(): Promise<void>
  /** Whether it answers, which only the active one does. */
  answers(): Promise<boolean>
  /** @returns how long it took, ms. @throws Error after two minutes */
  untilActive(): Promise<number>
  url: string
  /** Path of its database. */
  db: string
}

type ClusterHubOptions = {
  /** Where its own folder, its log and the workspace of its site are. */
  dir: string
  name: string
  workspace: string
  env: Record<string, string>
  /** Whether it is started again when it ends by itself, as systemd does. */
  isRestarted?: boolean
}

/** @returns a hub that is not started; it ends with the test */
export async function clusterHub(t: ExecutionContext, options: ClusterHubOptions): Promise<ClusterHub> {
  const { dir, name, workspace, env, isRestarted = false } = options
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const folder = join(dir, `hub-${name}`)
  const log = `${folder}.log`
  let child: ChildProcess | undefined
  t.teardown(() => {
    const killed = child
    child = undefined
    killed?.kill('SIGKILL')
  })
  const answers = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  const start = () => {
    const own = { SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(port), SERVICE_DEV_OPEN: '1' }
    const all = { ...own, SERVICE_WORKSPACE: workspace, SERVICE_CLUSTER_DIR: folder, ...env }
    const started = spawn(process.execPath, [MAIN], { env: all, stdio: ['ignore', 'ignore', openSync(log, 'a')] })
    child = started
    if (isRestarted) started.once('exit', () => child === started && start())
  }
  return {
    start,
    async kill() {
      const killed = child!
      child = undefined
      const ended = once(killed, 'exit')
      killed.kill('SIGKILL')
      await ended
    },
    answers,
    async untilActive() {
      const begun = performance.now()
      while (!(await answers())) {
        if (performance.now() - begun > 120_000)
          throw new Error(`hub ${name} does not become the active one: ${readFileSync(log, 'utf8').slice(-1000)}`)
        await sleep(100)
      }
      return performance.now() - begun
    },
    url,
    db: join(folder, 'plenum.db'),
  }
}

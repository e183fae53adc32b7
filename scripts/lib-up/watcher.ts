/**
 * Runs the parts of a recipe: starts each when the one before is healthy, and stops all in reverse order on SIGTERM or when one
 * of them ends. `control.ts` starts it and sends it the plan.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isHealthy } from '#image/containers/health-check.ts'
import { errorText } from '#shared/core/error-text.ts'
import { keepFilesPrivate } from '#shared/node/private-files.ts'
import { type SiteProcess, startPart } from '../lib-start/process.ts'
import type { WatcherAnswer } from './control.ts'
import { EXIT, UpError } from './exit.ts'
import type { Plan, PlannedPart } from './plan.ts'
import { lockData, RUNNING, type RunningRecipe, VERSION } from './state.ts'

/** A cold, loaded machine takes a while, and a migration too. */
const READY_MS = 120_000
const LOOK_MS = 100

keepFilesPrivate()
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort())
process.once('message', plan => void watch(plan as Plan))

async function watch(plan: Plan): Promise<void> {
  const running: { part: PlannedPart; site: SiteProcess }[] = []
  let code: number = EXIT.ok
  let release = () => undefined as void
  try {
    release = lockData(plan.data)
    await startAll(plan, running)
    const answer: RunningRecipe = {
      recipe: plan.recipe,
      version: plan.version,
      pid: process.pid,
      started_at: new Date().toISOString(),
      parts: running.map(({ part: { component, url, probe }, site }) => ({ component, pid: site.pid, url, probe })),
    }
    writeFileSync(join(plan.data, RUNNING), `${JSON.stringify(answer, null, 2)}\n`)
    await tell({ running: answer })
    const broken = await Promise.race([aborted(), ...running.map(async ({ site }) => failureOf(site, await site.ended))])
    if (broken !== undefined && !stopped.signal.aborted) throw broken
  } catch (error) {
    const known = error instanceof UpError ? error : new UpError('failed', errorText(error))
    code = EXIT[known.kind]
    process.stderr.write(`${new Date().toISOString()} ${known.message}\n`)
    await stopAll(running)
    await tell({ kind: known.kind, message: known.message })
  }
  await stopAll(running)
  rmSync(join(plan.data, RUNNING), { force: true })
  release()
  process.exit(code)
}

async function startAll({ data, version, parts }: Plan, running: { part: PlannedPart; site: SiteProcess }[]): Promise<void> {
  for (const name of ['logs', 'run']) mkdirSync(join(data, name), { recursive: true })
  for (const part of parts) {
    rmSync(join(data, 'run', `${part.component}.alive`), { force: true })
    const site = startPart(part.component, part.main, part.env, join(data, 'logs', `${part.component}.log`))
    running.push({ part, site })
    await ready(part, site)
    // Its database has been migrated by now: from here on an earlier version is refused.
    writeFileSync(join(data, VERSION), `${version}\n`)
  }
}

async function ready({ component, probe }: PlannedPart, site: SiteProcess): Promise<void> {
  for (const end = Date.now() + READY_MS; Date.now() < end; await wait(LOOK_MS)) {
    if (stopped.signal.aborted) throw new UpError('failed', 'Stopped before everything was healthy')
    const isWell = await isHealthy(probe)
    if (site.hasEnded()) throw failureOf(site, await site.ended)
    if (isWell) return
  }
  throw new UpError(
    'timeout',
    [`${component} did not become healthy within ${READY_MS / 1000} s`, ...site.lastWords()].join('\n  '),
  )
}

/** A part that refuses its configuration ends the start as that. */
function failureOf(site: SiteProcess, how: string): UpError {
  const kind = how === `exited with ${EXIT.configuration}` ? 'configuration' : 'failed'
  return new UpError(kind, [`${site.name} ${how}`, ...site.lastWords()].join('\n  '))
}

const aborted = (): Promise<undefined> =>
  new Promise(resolve => {
    if (stopped.signal.aborted) resolve(undefined)
    stopped.signal.addEventListener('abort', () => resolve(undefined))
  })

async function stopAll(running: { site: SiteProcess }[]): Promise<void> {
  for (const { site } of running.toReversed()) await site.stop()
}

/** Whoever asked for the start may have gone meanwhile. */
const tell = (answer: WatcherAnswer): Promise<void> =>
  new Promise(resolve => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(answer, undefined, undefined, () => resolve())
  })

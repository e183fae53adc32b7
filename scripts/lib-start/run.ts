import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { simulatedClock } from '#shared/node/clock.ts'
import { SITE_START } from '../simulator/building/building.ts'
import { openSite } from '../simulator/building/site.ts'
import { applianceEnv, hubEnv, type PartSettings } from './environment.ts'
import { type Folder, openFolder } from './folder.ts'
import { type HubClient, openHubClient, waitForHealth } from './hub-client.ts'
import { type Options, PORTS } from './options.ts'
import { assertFree, portTaken } from './ports.ts'
import { type SiteProcess, startPart } from './process.ts'
import { configure, layout, provision } from './provision.ts'
import { Refusal } from './refusal.ts'
import { returningPart } from './returning.ts'

export type RunningSite = {
  hubUrl: string
  applianceUrl: string
  folder: Folder
  /** The hub as a viewer sees it. */
  hub: HubClient
  /** Time in the simulated building, ms since 1970 UTC. */
  now(): number
  /** Settles when the hub has ended, or the appliance by itself, with which and how. */
  broken: Promise<string>
  /** Stops everything in order. Safe to call twice. */
  stop(): Promise<void>
}

/** A cold, loaded machine takes a while. */
const READY_MS = 90_000
/** How often the simulated time is noted. */
const CLOCK_MS = 5000

/**
 * Starts the simulated building in this process, the hub and the appliance as processes of their own.
 *
 * @param cancelled ends a start that is still under way
 * @param tell is told when the appliance was killed, and when it is back
 * @throws Refusal with the reason; nothing is left running then
 */
export async function startSite(
  options: Options,
  cancelled: AbortSignal,
  tell: (line: string) => void = () => undefined,
): Promise<RunningSite> {
  const undo: (() => Promise<void>)[] = []
  const stop = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step()
  }
  try {
    return await startParts(options, { cancelled, tell, undo, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

type Starting = {
  cancelled: AbortSignal
  tell: (line: string) => void
  undo: (() => Promise<void>)[]
  stop: () => Promise<void>
}

async function startParts({ data, portBase, speed }: Options, { cancelled, tell, undo, stop }: Starting): Promise<RunningSite> {
  await assertFree(portBase)
  const folder = await openFolder(data)
  undo.push(folder.close)
  const at = layout(folder.path)

  const started = { speed, epochMs: folder.clockMs ?? SITE_START, atMs: Date.now() }
  const clock = simulatedClock(started)
  undo.push(keepClock(folder, clock.now))
  const site = await openSite(clock, portBase + PORTS.devices).catch(error => {
    throw new Refusal(portTaken(error.port, 'a simulated device', error))
  })
  undo.push(site.close)

  if (folder.fresh) await provision(at, portBase)
  await configure(at, portBase)
  const settings: PartSettings = { at, portBase, kept: folder.kept, clock: started }
  const [hubUrl, applianceUrl] = [urlOf(portBase + PORTS.hub), urlOf(portBase + PORTS.appliance)]
  const hub = startPart('hub', 'hub/main.ts', hubEnv(settings), join(at.logs, 'hub.log'))
  undo.push(hub.stop)
  await ready(hub, hubUrl, cancelled)
  const startAppliance = () => startPart('appliance', 'appliance/main.ts', applianceEnv(settings), join(at.logs, 'appliance.log'))
  const appliance = returningPart(startAppliance, tell)
  undo.push(appliance.stop)
  await ready(appliance.now(), applianceUrl, cancelled)

  const brokenPart = Promise.race([hub.ended.then(() => hub), appliance.broken])
  const broken = brokenPart.then(async part => failure(part, await part.ended))
  const client = await openHubClient(hubUrl, folder.kept.passwords.viewer)
  return { hubUrl, applianceUrl, folder, hub: client, now: clock.now, broken, stop }
}

/** Notes the simulated time as it goes, so that a start after a crash does not go back. @returns its end */
function keepClock(folder: Folder, now: () => number): () => Promise<void> {
  /** On a full disk the time that was noted last stays. */
  const save = () => folder.saveClock(now()).catch(() => undefined)
  const inTurn = createSerialQueue()
  void inTurn(save)
  const timer = setInterval(() => void inTurn(save), CLOCK_MS)
  return async () => {
    clearInterval(timer)
    await inTurn(save)
  }
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`

async function ready(part: SiteProcess, url: string, cancelled: AbortSignal): Promise<void> {
  if (await waitForHealth(url, READY_MS, () => part.hasEnded() || cancelled.aborted)) return
  if (cancelled.aborted) throw new Refusal('Stopped before it was ready')
  const how = part.hasEnded() ? await part.ended : `did not become healthy within ${READY_MS / 1000} s`
  throw new Refusal(failure(part, how))
}

const failure = (part: SiteProcess, how: string): string => [`The ${part.name} ${how}.`, ...part.lastWords()].join('\n  ')

/** Calls `look` every two seconds until it is content or `ended` says so. */
export async function watch(ended: () => boolean, look: () => Promise<boolean>): Promise<void> {
  while (!ended() && !(await look())) await wait(2000)
}

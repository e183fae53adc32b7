/** One box with one device, and the programs around it as processes that can be killed; for tests of what survives. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { type HubClient, openHubClient, waitForHealth } from '../../scripts/lib-start/hub-client.ts'
import { type SiteProcess, startPart } from '../../scripts/lib-start/process.ts'
import { type BacnetDevice, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { eventually } from './run-start.ts'

export const PASSWORDS = { viewer: 'viewer-of-the-test', agent: 'agent-of-the-test' }
export const AUTH = {
  SERVICE_JWT_SECRET: 'j'.repeat(40),
  SERVICE_VIEWER_PASSWORD: PASSWORDS.viewer,
  SERVICE_AGENT_PASSWORD: PASSWORDS.agent,
}

/** A device whose value is how often it was asked: no two readings are alike, and each is larger than the one before. */
export async function countingDevice(t: ExecutionContext): Promise<BacnetDevice> {
  let asked = 100
  const device = await openBacnetDevice({
    device_instance: 1001,
    name: 'ahu-1',
    objects: [{ type: OBJECT_TYPES.AI, instance: 1, name: 'sat', value: () => ++asked }],
  })
  t.teardown(device.close)
  return device
}

/** Writes the configuration of a site: one point, read every `poll_secs`. */
export async function configure(workspace: string, port: number, poll_secs = 1): Promise<void> {
  const dir = join(workspace, 'config')
  await mkdir(dir, { recursive: true })
  const building = { building_id: 'school', name: 'School', timezone: 'America/Chicago', unit_system: 'us' }
  const equipment = [{ equipment_id: 'AHU-1', name: 'Air handler', equipment_type: 'ahu' }]
  await writeFile(join(dir, 'site.json'), JSON.stringify({ site_id: 'demo', edge_id: 'edge-1', building, equipment }))
  const point = { point_id: 'AHU-1.sa_t', address: 'analog-input,1', name: 'Supply air', unit: 'degF', kind: 'number' }
  const device = {
    ...{ device_id: 'ahu-1', name: 'AHU', enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 1 },
    bacnet: { device_instance: 1001, host: '127.0.0.1', port, max_apdu: 1476 },
    points: [{ ...point, poll_secs, equipment_id: 'AHU-1', role: 'sa_t' }],
  }
  await writeFile(join(dir, 'field-devices.json'), JSON.stringify({ devices: [device] }))
}

type Told = { main: string; env: Record<string, string>; url: string; logs: string }

/** A main with its settings, to be started, killed and started again. */
export function program(t: ExecutionContext, name: string, { main, env, url, logs }: Told) {
  let part: SiteProcess | undefined
  t.teardown(async () => part?.stop())
  return {
    url,
    async start() {
      part = startPart(name, main, env, join(logs, `${name}.log`))
      const { hasEnded, lastWords } = part
      if (!(await waitForHealth(url, 90_000, hasEnded))) throw new Error(`${name}: ${lastWords().join('\n')}`)
    },
    async kill() {
      process.kill(part!.pid, 'SIGKILL')
      await part!.ended
    },
    /** It stays, and does nothing until `resume`. */
    pause: () => process.kill(part!.pid, 'SIGSTOP'),
    resume: () => process.kill(part!.pid, 'SIGCONT'),
    /** Asks it to stop, as Ctrl-C does. @returns how it ended */
    async stop() {
      await part!.stop()
      return part!.ended
    },
  }
}

type Series = { series: { points: { t: string; last: number | null }[] }[] }
/** What a central holds, as `instant value`; where it shows a gap there is nothing. */
async function samples(central: HubClient): Promise<string[]> {
  const query = new URLSearchParams({ building_id: 'school', equipment_id: 'AHU-1', point_id: 'AHU-1.sa_t' })
  const { series } = await central.get<Series>(`/api/fdd/series?${query}`)
  return series.flatMap(({ points }) => points.flatMap(({ t: at, last }) => (last === null ? [] : [`${at} ${last}`])))
}

/** Logs in again each time: the process may be another one. */
export const held = async (url: string): Promise<string[]> => samples(await openHubClient(url, PASSWORDS.viewer))
export const atLeast = (url: string, count: number) =>
  eventually(`${count} readings at ${url}`, 90_000, async () => {
    const all = await held(url).catch((): string[] => [])
    return all.length >= count ? all : undefined
  })

export const loopback = (port: number) => `http://127.0.0.1:${port}`

/** The values of `instant value`, which must rise as the device counted. */
export function assertInOrder(t: ExecutionContext, all: string[]): void {
  const values = all.map(sample => Number(sample.split(' ')[1]))
  t.deepEqual(
    values,
    [...new Set(values)].toSorted((a, b) => a - b),
  )
}

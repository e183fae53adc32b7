import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { EDGE_ID, SITE_ID, siteCatalogue } from '../simulator/building/catalogue.ts'
import { PORTS } from './options.ts'

/** Paths in a site's folder. */
export const layout = (dir: string) => ({
  hub: join(dir, 'hub'),
  appliance: join(dir, 'appliance'),
  edgeStore: join(dir, 'appliance', 'edge-state'),
  /** The authority with its key; only provisioning reads it. */
  authority: join(dir, 'authority'),
  kit: join(dir, 'kit'),
  /** Files that the broker and central read, and the intermediate authority with which the hub enrols edges. */
  certs: join(dir, 'certs'),
  logs: join(dir, 'logs'),
})
export type Layout = ReturnType<typeof layout>

/** Lays out a fresh folder: an authority, that of the hub, certificates of broker and central, the edge's kit. */
export async function provision(at: Layout, portBase: number): Promise<void> {
  for (const dir of Object.values(at)) await mkdir(dir, { recursive: true, mode: 0o700 })
  await makePki(at.authority, { name: 'Plenum demonstration', now: Date.now() })
  await makePki(at.certs, { name: 'Plenum demonstration hub', now: Date.now(), above: at.authority })
  const pki = await openPki(at.certs, Date.now)
  await pki.broker({ hosts: ['127.0.0.1', 'localhost'] })
  await pki.central({ site_id: SITE_ID })
  const broker = { broker_host: '127.0.0.1', broker_port: portBase + PORTS.broker }
  await writeKit(await pki.kit({ site_id: SITE_ID, edge_id: EDGE_ID, ...broker }), at.kit)
}

/** Rules run four times an hour, so that a fault shows soon after it is confirmed. */
const APPLIANCE_PLATFORM = { rule_interval_hours: 0.25 }
/** The hub leaves the rules to the appliance: what it shows, it was sent. */
const HUB_PLATFORM = { rule_interval_hours: 168 }

/** Ports may differ from start to start, so the appliance's lists are written each time. */
export async function configure(at: Layout, portBase: number): Promise<void> {
  const { fieldDevices, site } = siteCatalogue(portBase + PORTS.devices)
  await writeConfig(at.appliance, { 'field-devices': fieldDevices, site, platform: APPLIANCE_PLATFORM })
  await writeConfig(at.hub, { platform: HUB_PLATFORM })
}

async function writeConfig(workspace: string, files: Record<string, object>): Promise<void> {
  const dir = join(workspace, 'config')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (const [name, value] of Object.entries(files))
    await writeFile(join(dir, `${name}.json`), `${JSON.stringify(value, null, 2)}\n`)
}

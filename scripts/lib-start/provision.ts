import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeKit, writeKit } from '#shared/node/kit-files.ts'
import { issueClient, issueServer, makeCa, type Pair } from '#shared/node/pki.ts'
import { EDGE_ID, SITE_ID, siteCatalogue } from '../../test/sim/catalogue.ts'
import { PORTS } from './options.ts'

/** Where in a site's folder everything lies. */
export const layout = (dir: string) => ({
  hub: join(dir, 'hub'),
  appliance: join(dir, 'appliance'),
  edgeStore: join(dir, 'appliance', 'edge-state'),
  kit: join(dir, 'kit'),
  certs: join(dir, 'certs'),
  logs: join(dir, 'logs'),
})
export type Layout = ReturnType<typeof layout>

/** Lays out a fresh folder: an authority, certificates of broker and central, the edge's kit. */
export async function provision(at: Layout, portBase: number): Promise<void> {
  const now = Date.now()
  const ca = await makeCa({ name: 'Plenum demonstration', now })
  const broker = await issueServer(ca, { hosts: ['127.0.0.1', 'localhost'], now })
  const central = await issueClient(ca, { cn: `central:${SITE_ID}`, now })
  for (const dir of Object.values(at)) await mkdir(dir, { recursive: true, mode: 0o700 })
  await writePair(at.certs, 'ca', ca)
  await writePair(at.certs, 'broker', broker)
  await writePair(at.certs, 'central', central)
  const place = { broker_host: '127.0.0.1', broker_port: portBase + PORTS.broker }
  await writeKit(await makeKit(ca, { site_id: SITE_ID, edge_id: EDGE_ID, ...place, now }), at.kit)
}

/** Ports may differ from start to start, so the appliance's lists are written each time. */
export async function configure(at: Layout, portBase: number): Promise<void> {
  const { fieldDevices, site } = siteCatalogue(portBase + PORTS.devices)
  const dir = join(at.appliance, 'config')
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await writeFile(join(dir, 'field-devices.json'), `${JSON.stringify(fieldDevices, null, 2)}\n`)
  await writeFile(join(dir, 'site.json'), `${JSON.stringify(site, null, 2)}\n`)
}

async function writePair(dir: string, name: string, { cert_pem, key_pem }: Pair): Promise<void> {
  await writeFile(join(dir, `${name}.cert.pem`), cert_pem)
  await writeFile(join(dir, `${name}.key.pem`), key_pem, { mode: 0o600 })
}

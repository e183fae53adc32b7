/** Makes this box the edge of a kit, from its next start. A USB stick and the page Hub both do this. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { changeSettings } from '../store/settings-lines.ts'
import { FIRST_SITE } from '../core/system/first-site.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { replaceFile } from '#shared/node/files.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { type Kit, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import { lifeOf } from '#shared/node/pki/certificate.ts'

const PRIVATE = 0o600

export type KitPlaces = {
  /** Folder of the kit. */
  kit: string
  workspace: string
  /** File of NAME=value lines in which the connection to the hub is switched on; undefined where that is done otherwise. */
  settings: string | undefined
}

/**
 * The kit makes a new box that edge, and gives an edge a new certificate; it does not make one edge another.
 *
 * @throws Error when this box is another edge already, or has a newer kit
 */
export async function adoptKit(kit: Kit, places: KitPlaces): Promise<void> {
  const { site_id, edge_id } = kit.edge
  const file = join(places.workspace, 'config/site.json')
  const site = JSON.parse(await readFile(file, 'utf8')) as { site_id: string; edge_id: string }
  if (site.site_id !== FIRST_SITE && edgeName(site) !== edgeName(kit.edge)) {
    throw new Error(`it is of ${edgeName(kit.edge)}, and this box is ${edgeName(site)}; reset the box first`)
  }
  const held = await readKitOfAnyTime(places.kit).catch(() => undefined)
  if (held && lifeOf(held.cert_pem).from > lifeOf(kit.cert_pem).from) throw new Error('the kit of this box is newer')
  await writeKit(kit, places.kit)
  await replaceFile(file, `${JSON.stringify({ ...site, site_id, edge_id }, undefined, 2)}\n`, PRIVATE)
  if (places.settings !== undefined) await changeSettings(places.settings, { SERVICE_MQTT_ENABLED: '1' })
}

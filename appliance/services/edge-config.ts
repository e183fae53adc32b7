/** The configuration files of an edge: site, field devices and edge kit. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Effective, Settings } from '#shared/core/env.ts'
import { type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { KitAbsent } from '#shared/node/pki/kit-read.ts'
import { keepPrivate } from '#shared/node/private-files.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { UPLINK_VARIABLES } from '../env.ts'
import { type EdgeKits, openEdgeKits, renewedKitsFolder } from '../kit/edge-kits.ts'
import { openCatalogue } from '../store/catalogue.ts'
import type { SettingsFile } from '../store/settings-file.ts'
import { openSiteSettings, type SiteSettings } from '../store/site.ts'
import { type FieldCatalogue, fieldCatalogue } from './field-catalogue.ts'

type EdgeConfig = {
  /** As this process runs with it. */
  site: SiteSettings
  siteFile: SettingsFile<SiteSettings>
  /** Of the priority arrays, as the file has them now. */
  levels: () => LevelMeaning[]
  catalogue: FieldCatalogue
}

/**
 * Opens `config/site.json` and `config/field-devices.json` in the workspace.
 *
 * @param options effective: a site or edge id in the environment must be the one of the file
 * @throws Error with every complaint
 */
export async function openEdgeConfig(options: {
  workspace: string
  protocols: readonly FieldProtocol[]
  effective: Effective[]
  log: Logger
}): Promise<EdgeConfig> {
  const { workspace, protocols, effective, log } = options
  const dir = join(workspace, 'config')
  keepPrivate(workspace, ['config'], log)
  const siteFile = await openSiteSettings(dir)
  const site = siteFile.current()
  const catalogue = fieldCatalogue(await openCatalogue(dir, site, protocols), log)
  for (const [name, id] of [
    ['SERVICE_SITE_ID', site.site_id],
    ['SERVICE_EDGE_ID', site.edge_id],
  ]) {
    const given = effective.find(variable => variable.name === name)
    if (given && given.source !== 'default' && given.value !== id) {
      throw new Error(`${name} is "${given.value}", but ${join(dir, 'site.json')} says "${id}"`)
    }
  }
  return { site, siteFile, levels: () => levelMeanings(siteFile.current().priority_levels), catalogue }
}

/**
 * @returns the kits of this edge; undefined where it does not connect to a broker
 * @throws Error when none can be used, or the kit belongs to another edge
 */
export async function readEdgeKits(
  settings: Settings<typeof UPLINK_VARIABLES>,
  { site_id, edge_id }: Pick<SiteSettings, 'site_id' | 'edge_id'>,
  log: Logger,
): Promise<EdgeKits | undefined> {
  if (!settings.SERVICE_MQTT_ENABLED) return undefined
  const { SERVICE_EDGE_KIT_DIR: path, SERVICE_MQTT_HOST: broker_host, SERVICE_MQTT_PORT: broker_port } = settings
  return openEdgeKits({
    path,
    folder: renewedKitsFolder(settings.SERVICE_EDGE_STORE_DIR),
    edge: { site_id, edge_id },
    broker: broker_host === undefined ? undefined : { broker_host, broker_port },
    log,
    now: Date.now(),
  })
}

/** For a process that can be enrolled by its page: it starts without a kit where there is none yet. */
export function noneYet(error: unknown): undefined {
  if (!(error instanceof KitAbsent)) throw error
  return undefined
}

/** The appliance's own files as the mains open them: which building this is, and what may be read in it. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Effective } from '#shared/core/env.ts'
import { keepPrivate } from '#shared/node/private-files.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import { openCatalogue } from '../store/catalogue.ts'
import { openSite, type Site } from '../store/site.ts'
import { type FieldCatalogue, fieldCatalogue } from './field-catalogue.ts'

export type Field = { site: Site; catalogue: FieldCatalogue }

/**
 * Opens `config/site.json` and `config/field-devices.json` in the workspace.
 *
 * @param options effective: where the environment names site or edge, it must name the same as the file
 * @throws Error that says every complaint
 */
export async function openField(options: {
  workspace: string
  protocols: readonly FieldProtocol[]
  effective: Effective[]
  log: Logger
}): Promise<Field> {
  const { workspace, protocols, effective, log } = options
  const dir = join(workspace, 'config')
  keepPrivate(workspace, ['config'], log)
  const site = (await openSite(dir)).current()
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
  return { site, catalogue }
}

/** Which backups a box takes in the place of its workspace. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RestoreOptions } from '#shared/central/backup/restores.ts'
import { Problem } from '#shared/core/problem.ts'
import { FIRST_SITE } from '../core/system/first-site.ts'
import type { SiteSettings } from './site.ts'

/** A backup of this box; a box that nobody has set up takes that of any box, whose place it then has. */
export function boxRestore({ site_id, edge_id }: SiteSettings): RestoreOptions {
  const isNew = site_id === FIRST_SITE
  return {
    site_id,
    isNew,
    refuse(_about, folder) {
      const path = join(folder, 'config', 'site.json')
      if (!existsSync(path)) throw new Problem('invalid', 'The backup is of a hub, and this is a box')
      const { edge_id: other } = JSON.parse(readFileSync(path, 'utf8')) as SiteSettings
      if (!isNew && other !== edge_id) throw new Problem('invalid', `The backup is of box ${other}, this is box ${edge_id}`)
    },
  }
}

/** The command that changes the building which this box serves; the form and the API both call it. */
import type { AuditNote } from '#shared/node/http/route.ts'
import { Problem } from '#shared/core/problem.ts'
import { ConfigError } from './json-file.ts'
import type { SettingsFile } from './settings-file.ts'
import type { SiteSettings } from './site.ts'

type BuildingChange = Pick<SiteSettings['building'], 'building_id' | 'name' | 'timezone' | 'unit_system'>

type ChangeParts = {
  file: SettingsFile<SiteSettings>
  /** Whether devices are read for a building, or points of it are stored. */
  isUsed: (building_id: string) => boolean
  audit: (note: AuditNote) => void
}

/**
 * Stores what the building is, which counts from the next start.
 *
 * @throws Problem conflict for another id of a building that has devices or points, whose history would stay behind; invalid
 */
export async function changeBuilding({ file, isUsed, audit }: ChangeParts, change: BuildingChange): Promise<void> {
  // A kit that was adopted has written the file, too.
  const site = await file.reread()
  const { building: before } = site
  if (change.building_id !== before.building_id && isUsed(before.building_id)) {
    throw new Problem('conflict', `Building ${before.building_id} has devices or points; its id stays, its name can change`)
  }
  const after = { ...before, ...change }
  try {
    await file.replace({ ...site, building: after })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const [first] = error.complaints
    throw new Problem('invalid', first?.message ?? error.message, error.complaints)
  }
  audit({ subject: after.building_id, building_id: after.building_id, before, after })
}

/** @returns whether the process still runs with another building than the file says */
export const waitsForStart = (stored: SiteSettings, running: SiteSettings): boolean =>
  JSON.stringify(stored.building) !== JSON.stringify(running.building)

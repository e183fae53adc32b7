/** A box as it is after its first boot, with its pages of first steps, building and Home. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstStepsLeft } from '#appliance/core/first-steps.ts'
import { FIRST_BUILDING, FIRST_SITE } from '#appliance/core/system/first-site.ts'
import type { BoxEnrolmentState } from '#appliance/kit/enrolment.ts'
import { firstFacts, firstStepsPage } from '#appliance/pages/first-steps.route.ts'
import { levelsRoutes } from '#appliance/pages/levels.route.ts'
import { siteRoutes } from '#appliance/pages/site.route.ts'
import { firstSite } from '#appliance/prepare/identity.ts'
import { PUBLISHER_OFF } from '#appliance/services/publisher.ts'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import { openSiteSettings } from '#appliance/store/site.ts'
import { openSite } from './page-site.ts'

export async function openNewBox() {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-new-box-'))
  await firstSite({ workspace }, 'plenum-ab12')
  const file = await openSiteSettings(join(workspace, 'config'))
  /** What a test changes. */
  const now = {
    devices: [] as object[],
    enrolment: { state: 'idle' } as BoxEnrolmentState,
    restarts: true,
  }
  let left = () => 0
  const site = await openSite({
    product: 'appliance',
    building: { ...FIRST_BUILDING, site_id: FIRST_SITE },
    ...{ equipment: [], points: [], findings: [], empty: true, api: true },
    sources: { stepsLeft: () => left() },
    more: (layout, context) => {
      const catalogue = () => ({ devices: now.devices }) as unknown as DeviceCatalogue
      const own = {
        context,
        site: { file, running: file.current(), model: context.model, catalogue },
        enrolment: { state: () => now.enrolment },
        hubState: () => PUBLISHER_OFF,
      }
      left = () => firstStepsLeft(firstFacts(own))
      const pollStatus = () => ({ devices: now.devices.map(() => ({ state: 'ok' })) }) as never
      return [
        firstStepsPage({ ...own, pollStatus, restarts: now.restarts, setsNetwork: true }, layout),
        ...siteRoutes(own.site, layout),
        ...levelsRoutes({ file, building_id: FIRST_BUILDING.building_id }, layout),
      ]
    },
  })
  return {
    ...site,
    now,
    file,
    stored: () => JSON.parse(readFileSync(join(workspace, 'config/site.json'), 'utf8')),
    async close() {
      await site.close()
      rmSync(workspace, { recursive: true, force: true })
    },
  }
}

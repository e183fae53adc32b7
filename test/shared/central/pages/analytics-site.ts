/** A site with as much history as the pages of analytics need: eight weeks of an air handler, rooms and a meter. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building } from '#shared/core/model/model.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { BUILDING, EQUIPMENT, POINTS, samplesOf, TO, ZONE } from '../../../support/sites/analytics-site.ts'
import { finding } from '../../../support/page-fixture.ts'
import { openSite, type SiteOptions, type TestSite } from '../../../support/sites/page-site.ts'

/** Enough for five past weeks of every hour. */
const KEPT = TO - 50 * DAY
const NAMES: Record<string, string> = { ahu: 'Air handler 1', room: 'Room 101', hall: 'Gymnasium', meter: 'Main meter' }
const SCHOOL: Building = { building_id: BUILDING, name: 'Riverside School', site_id: 's', timezone: ZONE, unit_system: 'us' }

const episode = (finding_id: string, equipment_id: string, from: number, to?: number): Finding => ({
  ...finding({
    finding_id,
    rule_id: 'AHU-FC13',
    equipment_id,
    title: 'Supply air too warm',
    from,
    ...(to !== undefined && { to }),
  }),
  building_id: BUILDING,
})
const EPISODES: Finding[] = [
  episode('warm-1', 'ahu', TO - 9 * DAY, TO - 9 * DAY + 31 * HOUR),
  episode('warm-2', 'ahu', TO - 3 * DAY, TO - 3 * DAY + 5 * HOUR),
  episode('warm-3', 'room', TO - 2 * DAY, TO - DAY),
]

export async function openAnalyticsSite(options: Pick<SiteOptions, 'product' | 'screening'>): Promise<TestSite> {
  const equipment = EQUIPMENT.map(one => ({ ...one, name: NAMES[one.equipment_id]! }))
  const site = await openSite({ ...options, building: SCHOOL, equipment, points: [], findings: EPISODES })
  const { model, historian } = site.context
  model.put({ points: POINTS })
  for (const [i, point] of POINTS.entries()) {
    await historian.append(
      BUILDING,
      samplesOf(point, i + 1).filter(sample => sample.t >= KEPT),
    )
  }
  return site
}

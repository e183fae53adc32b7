/** The building of `fixture.ts`, with two faults that waste something: air cooled in vain, and a room too warm. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Waste } from '#shared/core/impact/impact.ts'
import { FINDINGS } from '../../../support/page-fixture.ts'
import { openSite, type SiteOptions, type TestSite } from '../../../support/sites/page-site.ts'

/** 10 h at 2 K and 60 % of the fan's speed. */
const COLD: Waste = {
  kind: 'cooling',
  measure: 'kelvin',
  gauge: 'air_speed',
  hours: 10,
  up: 12,
  up_sure: 9,
  up_gauge: 6,
  down: 0,
  down_sure: 0,
  down_gauge: 0,
}
const ROOM: Waste = { ...COLD, kind: 'comfort', gauge: 'plain', up: 20, up_sure: 15, up_gauge: 10 }
const WASTES: Record<string, Waste> = { 'f-cooling': COLD, 'f-flow': ROOM }

export async function openCostSite(more: Partial<SiteOptions> = {}): Promise<TestSite> {
  const findings = FINDINGS.map((finding): Finding => {
    const waste = WASTES[finding.finding_id]
    return waste ? { ...finding, duration_secs: 10 * 3600, waste } : finding
  })
  const site = await openSite({ product: 'appliance', api: true, findings, ...more })
  await site.context.pricing.reprice()
  return site
}

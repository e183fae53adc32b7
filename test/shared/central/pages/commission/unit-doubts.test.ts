import test from 'ava'
import type { Point } from '#shared/core/model/model.ts'
import { openUnitDoubts } from '#shared/central/pages/commission/unit-doubts.ts'
import { MINUTE } from '#shared/core/time.ts'
import { openSite } from '../../../../support/sites/page-site.ts'

const zone: Point = {
  point_id: 'vav.zone_t',
  building_id: 'school',
  equipment_id: 'vav',
  role: 'zone_t',
  name: 'Zone Temp',
  unit: 'degC',
  kind: 'number',
  source: { protocol: 'csv', address: '' },
}

test('the day is read once for each state of the model, and anew after five minutes', async t => {
  const equipment = [{ building_id: 'school', equipment_id: 'vav', name: 'VAV', equipment_type: 'vav' as const }]
  const site = await openSite({ product: 'appliance', equipment, points: [zone], findings: [], empty: true })
  t.teardown(site.close)
  const { context } = site
  const { historian, model } = context
  const start = context.clock.now()
  async function* rows() {
    const ts = Float64Array.from([start - 3 * MINUTE, start - 2 * MINUTE])
    yield { point_id: zone.point_id, series: { ts, values: Float64Array.from([71.2, 72.6]) } }
  }
  await context.loader.load('school', [zone.point_id], 'replace', rows())
  let now = start
  let reads = 0
  const doubts = openUnitDoubts({
    ...context,
    clock: { ...context.clock, now: () => now },
    historian: {
      ...historian,
      buckets: query => {
        reads += 1
        return historian.buckets(query)
      },
    },
  })
  const values = async () => (await doubts('school')).map(({ point, values: span }) => [point.point_id, ...span])

  t.deepEqual(await values(), [['vav.zone_t', 71.2, 72.6]])
  await Promise.all([values(), values()])
  t.is(reads, 1)
  model.put({ points: [{ ...zone, unit: 'degF' }] })
  t.deepEqual(await values(), [])
  t.is(reads, 2)
  now += 5 * MINUTE
  await values()
  t.is(reads, 3)
})

/** Gaps of a series: how long a sample counts before data is missing. */
import test from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { readSeries } from '#shared/flow/read-series.ts'
import { startCentral } from '../../support/sites/central-site.ts'

const START = Date.UTC(2026, 2, 1)

for (const [gapMs, wanted] of [
  [15 * MINUTE, []],
  [15 * MINUTE + 1000, [{ from: 65 * MINUTE, to: 65 * MINUTE + 1000 }]],
] as const) {
  test(`of samples every 5 minutes, ${gapMs / MINUTE} minutes without one ${wanted.length > 0 ? 'are a gap' : 'are none'}`, async t => {
    const site = await startCentral()
    t.teardown(site.close)
    const { context, historian } = site.central
    const of = { building_id: 'b1', equipment_id: 'ahu' }
    context.model.put({
      building: { building_id: 'b1', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' },
      equipment: [{ ...of, name: 'AHU', equipment_type: 'ahu' }],
      points: [{ ...of, point_id: 'p', name: 'P', unit: 'degC', kind: 'number', source: { protocol: 'csv', address: 'p' } }],
    })
    const before = Array.from({ length: 11 }, (_, i) => i * 5 * MINUTE)
    const after = before.map(at => at + 50 * MINUTE + gapMs)
    await historian.append(
      'b1',
      [...before, ...after].map(at => ({ id: 'p', t: START + at, v: 1 })),
    )
    const { series } = await readSeries(
      { building_id: 'b1', select: { equipment_id: of.equipment_id, point_id: 'p' }, maxPoints: 1000 },
      context,
    )
    t.deepEqual(
      series[0]!.no_data.map(({ from, to }) => ({ from: from - START, to: to - START })),
      [...wanted],
    )
  })
}

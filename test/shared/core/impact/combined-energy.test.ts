/** What faults cost together. Figures in kWh, instants in hours. */
import test from 'ava'
import fc from 'fast-check'
import type { Impact } from '#shared/core/impact/impact.ts'
import type { Carrier } from '#shared/core/impact/kinds.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import { HOUR } from '#shared/core/time.ts'

const impact = (kWh: number, carrier: Carrier = 'electricity'): Impact => {
  const range = { low: kWh / 2, mid: kWh, high: kWh * 2 }
  return { kind: 'cooling', ...range, unit: 'kWh', basis: [], energy: [{ carrier, ...range }] }
}
const fault = (from: number, to: number | null, kWh: number, equipment_id = 'AHU-1', carrier?: Carrier) => ({
  building_id: 'b',
  equipment_id,
  from: from * HOUR,
  to: to === null ? null : to * HOUR,
  impact: impact(kWh, carrier),
})
const DAY = { from: 0, to: 24 * HOUR }
const sums = (findings: Parameters<typeof combinedEnergy>[0], span = DAY) =>
  (combinedEnergy(findings, span).get('b') ?? []).map(({ carrier, mid }) => `${carrier} ${Math.round(mid * 1000) / 1000}`)

test('faults of different equipment, carriers and hours add up', t => {
  t.deepEqual(sums([fault(0, 2, 10), fault(0, 2, 5, 'AHU-2'), fault(0, 2, 7, 'AHU-1', 'fuel'), fault(4, 6, 3)]), [
    'electricity 18',
    'fuel 7',
  ])
})

test('of the same equipment, carrier and time the dearest counts alone', t => {
  // 0 to 4 h at 10 kW; 2 to 6 h at 15 kW: 2 h × 10 + 4 h × 15 = 80
  t.deepEqual(sums([fault(0, 4, 40), fault(2, 6, 60)]), ['electricity 80'])
  t.deepEqual(sums([fault(0, 4, 40), fault(0, 4, 40), fault(1, 2, 1)]), ['electricity 40'])
})

test('only what lies within the span counts, and what lasts lasts until its end', t => {
  t.deepEqual(sums([fault(-8, 4, 60)]), ['electricity 20'])
  t.deepEqual(sums([fault(20, null, 8)]), ['electricity 8'])
  t.deepEqual(sums([fault(30, 31, 8)]), [])
})

test('comfort and faults without a price have no part in it', t => {
  const comfort: Impact = { kind: 'comfort', low: 1, mid: 2, high: 3, unit: 'K·h', basis: [], energy: [] }
  const bare = { building_id: 'b', equipment_id: 'AHU-1', from: 0, to: HOUR }
  t.deepEqual(sums([{ ...bare, impact: comfort }, bare]), [])
})

test('together they cost at most their sum and at least the dearest, whatever their order', t => {
  const one = fc.tuple(
    fc.integer({ min: 0, max: 20 }),
    fc.integer({ min: 1, max: 4 }),
    fc.double({ min: 0, max: 1e3, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 8 }), list => {
      const faults = list.map(([from, hours, kWh]) => fault(from, from + hours, kWh))
      const total = (each: typeof faults) => combinedEnergy(each, DAY).get('b')?.[0]?.mid ?? 0
      const sum = list.reduce((all, [, , kWh]) => all + kWh, 0)
      const most = Math.max(...list.map(([, , kWh]) => kWh))
      const it = total(faults)
      return it <= sum + 1e-6 && it >= most - 1e-6 && Math.abs(it - total(faults.toReversed())) < 1e-6
    }),
  )
  t.pass()
})

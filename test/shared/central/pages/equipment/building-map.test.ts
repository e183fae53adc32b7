/** Faults by day where a day has 23 or 25 hours. */
import test from 'ava'
import { buildingHistory } from '#shared/central/pages/equipment/building-model.ts'
import { faultMap } from '#shared/central/pages/equipment/building-sections.ts'
import { HOUR } from '#shared/core/time.ts'
import { BUILDING, EQUIPMENT, finding } from '../../../../support/page-fixture.ts'

/** In Chicago clocks go forward on 8 March 2026 at 2 o'clock, and back on 1 November. */
for (const [hours, midnight, name] of [
  [23, Date.UTC(2026, 2, 8, 6), '8 Mar'],
  [25, Date.UTC(2026, 10, 1, 5), '1 Nov'],
] as const) {
  const end = midnight + hours * HOUR
  const until = end + 4 * 24 * HOUR
  const history = (from: number, to: number) => {
    const one = {
      ...finding({ finding_id: 'f', rule_id: 'R', title: 'T', equipment_id: EQUIPMENT[0]!.equipment_id, from }),
      to,
      state: 'cleared' as const,
    }
    const findings = { list: () => [{ ...one, duration_secs: (to - from) / 1000, kind: 'fault' as const }] }
    const stores = { findings, notes: { of: () => ({ ack: 'unacked' }) }, prices: { get: () => undefined } }
    return buildingHistory(stores as unknown as Parameters<typeof buildingHistory>[0], BUILDING, EQUIPMENT, until, until)
  }

  test(`a fault over a whole day of ${hours} hours fills the cell of that day and no other`, t => {
    const { days, rows } = history(midnight, end)
    const at = days.findIndex(({ from }) => from === midnight)
    t.is(days[at]!.to, end)
    t.deepEqual(
      days.slice(1).map(({ from }, i) => from - days[i]!.to),
      days.slice(1).map(() => 0),
      'no hour is between two days, and none in both',
    )
    t.deepEqual(
      rows[0]!.shares,
      days.map((_, i) => (i === at ? 1 : 0)),
    )
    t.like(rows[0], { inFaultMs: hours * HOUR, daysInFault: 1 })
    const map = String(faultMap(history(midnight, end), BUILDING.building_id, BUILDING.timezone))
    t.is([...map.matchAll(/class="day d\d"/g)].length, 1)
    t.true(map.includes(`<rect class="day d4" x="${Math.round((at * 1000) / days.length) / 10}%"`), map)
    t.regex(map, new RegExp(`in fault ${hours === 23 ? '23 h' : '25 h'} on 1 day`))
  })

  test(`a fault over the last hour of ${name} and the first of the next day is in both`, t => {
    const { days, rows } = history(end - HOUR, end + HOUR)
    const at = days.findIndex(({ from }) => from === midnight)
    t.is(rows[0]!.shares[at], 1 / hours)
    t.is(rows[0]!.shares[at + 1], 1 / 24)
  })
}

import test from 'ava'
import { overridesText } from '#shared/central/mcp/tools/series.ts'
import { BUILDING } from '../../../support/page-fixture.ts'

const [from, to] = ['2026-11-20T14:00:00Z', '2026-11-20T16:30:00Z']
const column = (point_id: string, role: string | null, unit: string) => ({ point_id, name: point_id, role, unit, points: [] })
const series = [column('sp', 'sa_t_sp', 'degC'), column('valve', 'clg_valve', 'fraction'), column('count', null, 'count')]
const held = (point_id: string, value: number | null) => [{ point_id, from, to, slot: 8, value }]

for (const [point_id, value, wanted] of [
  ['sp', 15, 'sa_t_sp held at 59.0 °F by priority 8'],
  ['valve', 0.4, 'clg_valve held at 40 % by priority 8'],
  ['count', 3, 'count held at 3.0 by priority 8'],
  ['unknown', 3, 'unknown held at 3.0 by priority 8'],
  ['sp', null, 'sa_t_sp held at no value by priority 8'],
] as const) {
  test(`an override of ${point_id} at ${value} is told in the unit of the building and in its time`, t =>
    t.is(
      overridesText({ overrides: held(point_id, value), series }, BUILDING),
      `Overrides seen in this time:\n- ${wanted}, seen from 2026-11-20T08:00:00-06:00 to 2026-11-20T10:30:00-06:00`,
    ))
}

test('without an override nothing is told', t => t.is(overridesText({ overrides: [], series }, BUILDING), ''))

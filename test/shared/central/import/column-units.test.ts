/** In which unit a column is: as the map says, else its header, else the point that is there, else the role. */
import test from 'ava'
import { CHECKS, createCheckReport } from '#shared/core/csv/checks.ts'
import { planColumns } from '#shared/core/csv/columns.ts'
import type { ColumnMap } from '#shared/core/csv/package-json.ts'
import type { Point } from '#shared/core/model/model.ts'

type Given = { units?: Record<string, string>; point?: string; role?: string; system?: 'us' | 'si' }

function planned(header: string, { units = {}, point, role = 'sa_t', system }: Given) {
  const checks = createCheckReport()
  const map = { equipType: 'ahu', equip: 'AHU-1', points: { [role]: header }, units } as unknown as ColumnMap
  const points = [
    ...(point === undefined
      ? []
      : [{ point_id: 'p', role, unit: point, kind: 'number', source: { protocol: 'csv', address: header } }]),
  ] as unknown as Point[]
  const context = { place: 'a.csv', equipmentType: 'ahu' as const, map, unitSystem: system, points, checks }
  const [column] = planColumns(['timestamp_utc', header], undefined, context)
  return { column: column!, checks: checks.list() }
}

for (const [what, header, given, unit, historyUnit, isStated, codes] of [
  ['as the map says', 'T', { units: { T: 'degF' } }, 'degF', 'degF', true, []],
  ['as the map says, whatever the header says', 'T [°C]', { units: { 'T [°C]': 'degF' } }, 'degF', 'degF', true, []],
  ['as the map says of the bare header', 'T [°C]', { units: { T: 'degF' } }, 'degF', 'degF', true, []],
  ['as its header says', 'T [°F]', {}, 'degF', 'degF', true, ['unit_from_header']],
  ['as its point has it', 'T', { point: 'degF' }, 'degF', 'degF', true, []],
  ['converted to what its point has', 'T', { units: { T: 'degF' }, point: 'degC' }, 'degF', 'degC', true, []],
  ['as its role has it', 'T', {}, 'degC', 'degC', false, ['unit_missing']],
  ['as the trade has it', 'T', { system: 'us' }, 'degF', 'degF', false, ['unit_missing']],
  [
    'as its role has it where nobody knows what is said',
    'T',
    { units: { T: 'furlong' } },
    'degC',
    'degC',
    false,
    ['unit_unknown'],
  ],
  ['no unit of what the role measures', 'T', { units: { T: 'Pa' } }, 'Pa', 'Pa', true, ['unit_mismatch']],
  ['none that fits the history', 'T', { units: { T: 'degC' }, point: 'Pa' }, 'degC', 'Pa', true, ['unit_conflict']],
] as [string, string, Given, string, string, boolean, string[]][]) {
  test(`the unit of a column is ${what}: ${header} ${JSON.stringify(given)}`, t => {
    const { column, checks } = planned(header, given)
    t.like(column, { unit, historyUnit, unitStated: isStated })
    t.deepEqual(
      checks.map(({ code }) => code),
      codes as never,
    )
    const boiling = 212 * column.scale + column.offset
    t.is(Math.round(boiling), unit === 'degF' && historyUnit === 'degC' ? 100 : 212)
  })
}

test('a unit that does not fit the history is an error that names both', t => {
  const [check] = planned('T', { units: { T: 'degC' }, point: 'Pa' }).checks
  t.like(check, { code: 'unit_conflict', severity: CHECKS.unit_conflict.severity, examples: ['T: degC beside Pa'] })
})

import test from 'ava'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import { readMappingForm } from '#shared/central/pages/import/mapping-form.ts'

const suggested = (header: string, suggestion: string, confidence: number) => ({ header, suggestion, confidence })
const COLUMNS = [
  suggested('A', 'sa_t', 0.95),
  suggested('B', 'sa_t', 0.95),
  suggested('C', 'ra_t', 0.89),
  suggested('D', 'oa_t', 0.95),
]
const SESSION = { report: { equipment: [{ columns: COLUMNS }] } } as unknown as ImportSession
const MAPPING = { building_id: 'b', grid_minutes: 5, time_columns: ['T'], equipment: [], columns: [] }
const STAGED = { session: SESSION, mapping: MAPPING }

test('likely roles are taken where there is none, each once for an equipment, and no others', t => {
  const ids = { 'equipment.1': 'x', 'equipment.2': 'x', 'equipment.3': 'x', 'equipment.4': 'y', 'role.4': 'SAT' }
  const fields = { time_1: 'T', 'id.0': 'x', 'type.0': 'ahu', ...ids }
  const rolesOf = (more: object) =>
    readMappingForm({ ...fields, ...more }, ['T', 'A', 'B', 'C', 'D'], STAGED).columns.map(({ role }) => role)
  t.deepEqual(rolesOf({}), [undefined, undefined, undefined, 'sa_t'])
  t.deepEqual(rolesOf({ likely: 'yes' }), ['sa_t', undefined, undefined, 'sa_t'])
  t.deepEqual(rolesOf({ likely: 'yes', 'role.2': 'sa_t' }), [undefined, 'sa_t', undefined, 'sa_t'])
})

test('blank columns are left out, and equipment that only a column names is asked for its type', t => {
  const fields = {
    time_1: 'T',
    'equipment.1': 'x',
    'equipment.2': ' ',
    'equipment.0': 'x',
    building_id: ' b ',
    grid_minutes: '5',
  }
  t.deepEqual(readMappingForm(fields, ['T', 'A', 'B'], STAGED), {
    ...{ building_id: 'b', grid_minutes: 5, time_columns: ['T'] },
    equipment: [{ equipment_id: 'x', equipment_type: '' as 'ahu' }],
    columns: [{ header: 'A', equipment_id: 'x' }],
  })
})

test('columns that a form has no room for keep what they are', t => {
  const headers = ['T', ...Array.from({ length: 600 }, (_, i) => `c${i}`)]
  const columns = [
    { header: 'c0', equipment_id: 'x' },
    { header: 'c550', equipment_id: 'x', role: 'sa_t' },
  ]
  const read = readMappingForm({ time_1: 'T', 'equipment.3': 'x' }, headers, {
    session: SESSION,
    mapping: { ...MAPPING, columns },
  })
  t.deepEqual(read.columns, [{ header: 'c2', equipment_id: 'x' }, columns[1]])
})

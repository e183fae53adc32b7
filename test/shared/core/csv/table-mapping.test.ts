import test from 'ava'
import { readColumnMap, readManifest } from '#shared/core/csv/package-json.ts'
import { mappingFiles, type TableMapping } from '#shared/core/csv/table-mapping.ts'

const HEADERS = ['Date', 'Time', 'SAT', 'OAT', 'Flow']
const GOOD: TableMapping = {
  building_id: 'b1',
  timezone: 'America/Chicago',
  grid_minutes: 5,
  date_order: 'mdy',
  time_columns: ['Date', 'Time'],
  equipment: [
    { equipment_id: 'AHU-1', equipment_type: 'ahu' },
    { equipment_id: 'VAV-3', equipment_type: 'vav' },
    { equipment_id: 'VAV-4', equipment_type: 'vav' },
  ],
  columns: [
    { header: 'SAT', equipment_id: 'AHU-1', role: 'sa_t', unit: '°F' },
    { header: 'Flow', equipment_id: 'VAV-3' },
  ],
}

test('a mapping becomes a manifest and the maps of the equipment that has columns, which a package reads', t => {
  const made = mappingFiles(GOOD, HEADERS, new Map([['VAV-3', { parent: 'AHU-1' }]]))
  if (!made.ok) return t.fail(JSON.stringify(made.errors))
  const { manifest, maps } = made.value
  t.deepEqual(readManifest(manifest), {
    ok: true,
    value: { building_id: 'b1', grid_minutes: 5, timezone: 'America/Chicago' },
  })
  const time = { time_columns: ['Date', 'Time'], date_order: 'mdy' }
  t.deepEqual(
    maps.map(({ map }) => readColumnMap(map)),
    [
      { equip: 'AHU-1', equipType: 'ahu', ...time, columns: ['SAT'], points: { sa_t: 'SAT' }, units: { SAT: '°F' } },
      { parent: 'AHU-1', equip: 'VAV-3', equipType: 'vav', ...time, columns: ['Flow'], points: {}, units: {} },
    ].map(value => ({ ok: true as const, value })),
  )
})

const [SAT, FLOW] = GOOD.columns as [TableMapping['columns'][0], TableMapping['columns'][0]]
const WRONG: [string, Partial<TableMapping>, string, RegExp][] = [
  ['no column', { columns: [] }, '/columns', /at least one column/],
  ['an unknown column', { columns: [{ ...SAT, header: 'RAT' }] }, '/columns/0/header', /no column RAT/],
  ['a column twice', { columns: [FLOW, FLOW] }, '/columns/1/header', /Flow: is there twice/],
  ['the time as a column', { columns: [{ ...FLOW, header: 'Time' }] }, '/columns/0/header', /is the time/],
  ['equipment that is not listed', { columns: [{ ...FLOW, equipment_id: 'x' }] }, '/columns/0/equipment_id', /x is not among/],
  ['an unknown role', { columns: [{ ...SAT, role: 'sat' }] }, '/columns/0/role', /perhaps sa_t/],
  ['an inherited name as role', { columns: [{ ...SAT, role: 'constructor' }] }, '/columns/0/role', /no role/],
  ['an unknown unit', { columns: [{ ...SAT, unit: 'furlong' }] }, '/columns/0/unit', /"furlong" is unknown/],
  ['a role twice', { columns: [SAT, { ...SAT, header: 'OAT' }] }, '/columns/1/role', /sa_t of AHU-1 is SAT already/],
  ['no time', { time_columns: [] }, '/time_columns', /one column of the time/],
  ['the same time twice', { time_columns: ['Date', 'Date'] }, '/time_columns', /two different/],
  ['a time that is not there', { time_columns: ['When'] }, '/time_columns', /no column When/],
  ['a bad id', { equipment: [{ equipment_id: 'a b', equipment_type: 'ahu' }] }, '/equipment/0/equipment_id', /letters/],
  [
    'no type',
    { equipment: [{ equipment_id: 'AHU-1', equipment_type: '' as 'ahu' }] },
    '/equipment/0/equipment_type',
    /the type of AHU-1/,
  ],
  [
    'too many equipment',
    { equipment: Array.from({ length: 51 }, (_, i) => ({ equipment_id: `v${i}`, equipment_type: 'vav' as const })) },
    '/equipment',
    /at most 50 equipment/,
  ],
  ['a bad zone', { timezone: 'Berlin' }, '', /no IANA zone/],
  ['a bad building', { building_id: 'b 1' }, '', /building_id/],
  ['a bad grid', { grid_minutes: Number.NaN }, '', /grid_minutes/],
]
for (const [name, change, pointer, message] of WRONG) {
  test(`a mapping with ${name} is refused there`, t => {
    const made = mappingFiles({ ...GOOD, ...change }, HEADERS, new Map())
    const found = made.ok ? [] : made.errors.filter(error => error.pointer === pointer)
    t.true(
      found.some(error => message.test(error.message)),
      JSON.stringify(made),
    )
  })
}

test('one role may be given to each of two equipments', t => {
  const columns = [FLOW, { ...FLOW, header: 'OAT', equipment_id: 'VAV-4' }].map(column => ({ ...column, role: 'flow' }))
  const made = mappingFiles({ ...GOOD, columns }, HEADERS, new Map())
  t.true(made.ok || made.errors.every(({ message }) => !/already/.test(message)))
})

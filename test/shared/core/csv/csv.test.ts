import { atLine, placesOf } from '#shared/core/csv/checks.ts'
import test from 'ava'
import { readCell, stateNumber, statesOf } from '#shared/core/csv/cell.ts'
import { createEntryCheck, PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { groupPackageFiles } from '#shared/core/csv/package-files.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { nameColumns, pointId } from '#shared/core/csv/columns.ts'
import { equipmentTypeOf, roleOfName, roleOfHeader, withoutUnit } from '#shared/core/csv/header-names.ts'
import { sortSeries } from '#shared/core/csv/row-reader.ts'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import { openTimeline } from '#shared/core/csv/timeline.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { instantsOf } from '#shared/core/time-zone.ts'

for (const [cell, decimalComma, wanted] of [
  ['21.5', false, 21.5],
  [' -250.0', false, -250],
  ['1e3', false, 1000],
  ['21,5', true, 21.5],
  ['21,5', false, '21,5'],
  ['1.5', true, 1.5],
  ['1.250,5', true, 1250.5],
  ['1.234.567,25', true, 1234567.25],
  ["1'250,5", true, 1250.5],
  ['1,250.5', false, 1250.5],
  ['-1,234,567.25', false, -1234567.25],
  ['1\u202f250', false, 1250],
  ['1\u00a0250,5', true, 1250.5],
  ['1,250', false, '1,250'],
  ['12,50.5', false, '12,50.5'],
  ['1.25,5', true, '1.25,5'],
  ['', false, undefined],
  ['   ', false, undefined],
  ['NaN', false, Number.NaN],
  ['null', false, Number.NaN],
  ['#N/A', false, Number.NaN],
  ['--', false, Number.NaN],
  ['Infinity', false, 'Infinity'],
  ['1e400', false, '1e400'],
  ['-1e400', false, '-1e400'],
  ['0x10', false, '0x10'],
  ['On', false, 'On'],
  ['12 °C', false, '12 °C'],
] as const) {
  test(`the cell "${cell}"${decimalComma ? ' with decimal commas' : ''} reads ${JSON.stringify(wanted)}`, t =>
    t.is(readCell(cell, decimalComma), wanted))
}

for (const [texts, kept, wanted, known] of [
  [['On', 'Off'], [], ['Off', 'On'], true],
  [['On'], [], ['off', 'On'], true],
  [['UnOccupied', 'Occupied'], [], ['UnOccupied', 'Occupied'], true],
  [['Occ', 'Unocc'], [], ['Unocc', 'Occ'], true],
  [['ON', 'On', 'Off'], [], ['Off', 'On'], true],
  [['Heat', 'Cool', 'Auto'], [], ['Auto', 'Cool', 'Heat'], false],
  [['Alarm', 'On'], ['On', 'Off'], ['On', 'Off', 'Alarm'], false],
  [['on'], ['On', 'Off'], ['On', 'Off'], true],
] as const) {
  test(`the states ${texts.join(', ')} after [${kept.join(', ')}] are ${wanted.join(', ')}`, t =>
    t.deepEqual(statesOf(texts, kept), { states: [...wanted], known }))
}

test('a state is found whatever its case', t => {
  t.is(stateNumber(['Off', 'On'], 'ON'), 1)
  t.is(stateNumber(['Off', 'On'], 'Auto'), Number.NaN)
})

const utc = (...parts: [number, number, number, number?, number?, number?, number?]) => {
  const [year, month, ...rest] = parts
  return Date.UTC(year, month - 1, ...rest)
}
for (const [cell, mdy, dmy, offset] of [
  ['2026-03-01T05:00:00Z', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), 0],
  ['2026-03-01 05:00', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), undefined],
  ['2026-03-01T05:00:00.250-06:00', utc(2026, 3, 1, 5, 0, 0, 250), utc(2026, 3, 1, 5, 0, 0, 250), -6 * HOUR],
  ['2026-03-01', utc(2026, 3, 1), utc(2026, 3, 1), undefined],
  ['2026/3/1 5:00', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), undefined],
  ['5/7/2022 12:05', utc(2022, 5, 7, 12, 5), utc(2022, 7, 5, 12, 5), undefined],
  ['5/27/2022 12:05', utc(2022, 5, 27, 12, 5), Number.NaN, undefined],
  ['27/5/2022 12:05', Number.NaN, utc(2022, 5, 27, 12, 5), undefined],
  ['5-7-22', utc(2022, 5, 7), utc(2022, 7, 5), undefined],
  ['07.05.2022 12:05', utc(2022, 5, 7, 12, 5), utc(2022, 5, 7, 12, 5), undefined],
  ['07-May-22 12:40:00 PM CDT', utc(2022, 5, 7, 12, 40), utc(2022, 5, 7, 12, 40), -5 * HOUR],
  ['02-Mar-22 12:00:43 AM CST', utc(2022, 3, 2, 0, 0, 43), utc(2022, 3, 2, 0, 0, 43), -6 * HOUR],
  ['7 May 2022 6:40 p.m.', utc(2022, 5, 7, 18, 40), utc(2022, 5, 7, 18, 40), undefined],
  ['2026-03-01 24:00', utc(2026, 3, 2), utc(2026, 3, 2), undefined],
  ['31.12.2025 24:00:00', utc(2026, 1, 1), utc(2026, 1, 1), undefined],
  ['Mar 2, 2022 6:40:05 PM', utc(2022, 3, 2, 18, 40, 5), utc(2022, 3, 2, 18, 40, 5), undefined],
  ['Wednesday, March 2, 2022 18:40', utc(2022, 3, 2, 18, 40), utc(2022, 3, 2, 18, 40), undefined],
  ['2. März 2022 18:40', utc(2022, 3, 2, 18, 40), utc(2022, 3, 2, 18, 40), undefined],
  ['02-Okt-22 06:05', utc(2022, 10, 2, 6, 5), utc(2022, 10, 2, 6, 5), undefined],
  ['20220302T184005Z', utc(2022, 3, 2, 18, 40, 5), utc(2022, 3, 2, 18, 40, 5), 0],
  ['20220302184005', utc(2022, 3, 2, 18, 40, 5), utc(2022, 3, 2, 18, 40, 5), undefined],
  ['20220302 18:40', utc(2022, 3, 2, 18, 40), utc(2022, 3, 2, 18, 40), undefined],
  ['2026-03-01T05:00:00-06:00 Chicago', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), -6 * HOUR],
  ['2026-03-01T05:00:00Z UTC', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), 0],
  ['2026-03-01T05:00:00+01:00 Port-au-Prince', utc(2026, 3, 1, 5), utc(2026, 3, 1, 5), HOUR],
  ['07.05.2022 12.05', utc(2022, 5, 7, 12, 5), utc(2022, 5, 7, 12, 5), undefined],
  ['46082.25', utc(2026, 3, 1, 6), utc(2026, 3, 1, 6), undefined],
  ['46082,0104166667', utc(2026, 3, 1, 0, 15), utc(2026, 3, 1, 0, 15), undefined],
  ['46082', utc(2026, 3, 1), utc(2026, 3, 1), undefined],
  ['1767225600', utc(2026, 1, 1), utc(2026, 1, 1), 0],
  ['1767225600500', utc(2026, 1, 1, 0, 0, 0, 500), utc(2026, 1, 1, 0, 0, 0, 500), 0],
] as const) {
  test(`the time ${cell} is read`, t => t.deepEqual(parseTimestamp(cell), { mdy, dmy, offset }))
}
for (const cell of [
  '',
  'Times',
  '12:05',
  '2026-02-30 00:00x',
  '07-Foo-22 12:00',
  '5/7/2022 25:00',
  '2026-03-01 24:01',
  '5/7/2022 24:00 PM',
  'Foo 2, 2022',
  '202203021',
  '36525.5',
  '73051',
  '46082.25.5',
  '5/7/2022 12:60',
  '5/7/2022 13:00 PM',
  '5/7/2022 12:05 XYZ',
  '5/7-2022',
  '2026-03-01T05:00:00 Chicago',
  '2026-03-01T05:00:00 CST Chicago',
  '2026-01-01T00:00:00+99:99',
  '2026-01-01T00:00:00+05:60',
  '2026-01-01T00:00:00-14:01',
  `2026-01-01 00:00:00${' '.repeat(60_000)}!`,
]) {
  test(`the time ${JSON.stringify(cell.replace(/ {9,}/, ' … '))} is not read`, t => t.is(parseTimestamp(cell), undefined))
}
test('a date that the calendar does not have is none', t => {
  t.true(Number.isNaN(parseTimestamp('2026-02-30 00:00')!.mdy))
  t.true(Number.isNaN(parseTimestamp('31/4/2026')!.dmy))
})
for (const date of ['0001-01-01', '0099-12-31', '1969-12-31', '1/1/0022', '2200-01-01', '9999-12-31']) {
  test(`the date ${date} is not taken for one of another century`, t =>
    t.true(Number.isNaN(parseTimestamp(`${date} 00:00`)!.mdy)))
}

test('the local clock says what zone.ts says, minute by minute through both changes of the clock', t => {
  for (const [zone, day] of [
    ['America/Chicago', utc(2026, 3, 8)],
    ['America/Chicago', utc(2026, 11, 1)],
    ['Australia/Lord_Howe', utc(2026, 4, 5)],
    ['Europe/Berlin', utc(2026, 10, 25)],
    ['Etc/GMT+6', utc(2026, 3, 8)],
  ] as const) {
    const clock = localClock(zone)
    for (let wall = day; wall < day + DAY; wall += MINUTE) {
      const instants = instantsOf(wall, zone)
      const wanted = instants.length === 1 ? instants[0]! : instants.length ? 'twice' : 'skipped'
      if (clock(wall) !== wanted) t.is(clock(wall), wanted, `${zone} ${new Date(wall).toISOString()}`)
    }
  }
  t.pass()
})

const timelineOf = (cells: string[], told?: 'mdy' | 'dmy', zone?: string) => {
  const reader = openTimeline(zone === undefined ? undefined : localClock(zone), told, Date.UTC(2027, 0, 1))
  for (const [i, cell] of cells.entries()) reader.add(cell, i + 2)
  return reader.end()
}
for (const [cells, told, wanted] of [
  [['5/7/2022 0:00', '5/7/2022 0:05'], undefined, 'ambiguous'],
  [['5/7/2022 0:00', '5/7/2022 0:05'], 'mdy', 'mdy'],
  [['5/7/2022 0:00', '5/7/2022 0:05'], 'dmy', 'dmy'],
  [['5/12/2022', '5/13/2022'], undefined, 'mdy'],
  [['12/5/2022', '13/5/2022'], undefined, 'dmy'],
  [['5/5/2022 0:00', '5/5/2022 1:00'], undefined, undefined],
  [['13/5/2022', '5/13/2022'], undefined, 'ambiguous'],
  [['2022-05-07', '2022-05-08'], undefined, undefined],
] as const) {
  test(`the dates ${cells.join(', ')}${told ? `, told ${told},` : ''} read ${wanted ?? 'one way only'}`, t => {
    const read = timelineOf([...cells], told)
    t.is('ambiguous' in read ? 'ambiguous' : read.order, wanted)
  })
}

test('a timeline counts what is doubled, out of order, missing, twice and skipped', t => {
  const minutes = ['00:00', '00:05', '00:10', '00:10', '00:05', '00:15', '01:15', '01:20'].map(time => `2026-03-01 ${time}`)
  const read = timelineOf([...minutes, 'rubbish'])
  if ('ambiguous' in read) return t.fail()
  const { rows, first, last, step, duplicate, outOfOrder, gaps, unreadable } = read.timeline
  t.deepEqual([rows, first, last, step], [8, utc(2026, 3, 1), utc(2026, 3, 1, 1, 20), 5 * MINUTE])
  t.deepEqual([duplicate.count, outOfOrder.count, gaps.count, unreadable.count], [2, 1, 1, 1])
  t.deepEqual(outOfOrder.examples, ['line 6: 2026-03-01 00:05'])
  const autumn = timelineOf(
    ['2026-11-01 00:30', '2026-11-01 01:30', '2026-11-01 01:30', '2026-11-01 02:30'],
    undefined,
    'America/Chicago',
  )
  if ('ambiguous' in autumn) return t.fail()
  t.deepEqual([autumn.timeline.rows, autumn.timeline.twice.count], [2, 2])
  const spring = timelineOf(['2026-03-08 02:30'], undefined, 'America/Chicago')
  if ('ambiguous' in spring) return t.fail()
  t.deepEqual([spring.timeline.rows, spring.timeline.skipped.count], [0, 1])
})

test('samples are put in order, and of equal instants the last counts', t => {
  const { ts, values } = sortSeries(Float64Array.of(3, 1, 2, 1), Float64Array.of(30, 10, 20, 11))
  t.deepEqual(
    [[...ts], [...values]],
    [
      [1, 2, 3],
      [11, 20, 30],
    ],
  )
})

for (const [name, type, wanted] of [
  ['sa_t', 'ahu', 'sa_t'],
  ['SAT', 'ahu', 'sa_t'],
  ['discharge-air-temp-sensor', 'ahu', 'sa_t'],
  ['discharge air temp sensor', 'vav', 'discharge_t'],
  ['dischargeAirTempSensor', 'vav', 'discharge_t'],
  ['outside-air-damper-cmd', 'ahu', 'oa_damper'],
  ['Supply_Air_Temperature_Sensor', 'ahu', 'sa_t'],
  ['Outside_Air_Temperature_Sensor', 'weather', 'wx_oa_t'],
  ['nothing of ours', 'ahu', undefined],
] as const) {
  test(`${name} of a ${type} is ${wanted ?? 'no role'}`, t => t.is(roleOfName(name, type), wanted))
}

test('every role is found by its own name on any equipment', t => {
  for (const name of Object.keys(ROLES)) t.is(roleOfName(name, 'ahu'), name)
})

test('an alias that several parts share is the part that the equipment has', t => {
  for (const [name, type, role] of [
    ['da-t', 'ahu', 'sa_t'],
    ['DA-T', 'vav', 'discharge_t'],
    ['discharge_t', 'ahu', 'discharge_t'],
    ['dat-sp', 'rtu', 'sa_t_sp'],
  ] as const)
    t.is(roleOfName(name, type), role, `${name} of ${type}`)
})

test('a header suggests a role, with its prefix and its unit left aside', t => {
  t.is(roleOfHeader('AHU: Supply Air Temperature', 'ahu'), 'sa_t')
  t.is(roleOfHeader('oat (°F)', 'ahu'), 'oa_t')
  t.is(roleOfHeader('Fault Detection Ground Truth', 'ahu'), undefined)
  t.deepEqual(withoutUnit('Value (°F)'), { name: 'Value', unit: '°F' })
  t.deepEqual(withoutUnit(' SAT [degF] '), { name: 'SAT', unit: 'degF' })
  t.deepEqual(withoutUnit('SAT (left) (°F)'), { name: 'SAT (left)', unit: '°F' })
  for (const plain of ['SAT', 'SAT (a]b)', 'SAT ()', 'SAT)', '(SAT) x', '']) t.deepEqual(withoutUnit(plain), { name: plain })
})

for (const [text, wanted] of [
  ['AHU', 'ahu'],
  ['air-handling-unit', 'ahu'],
  ['Heat Pump', 'heat_pump'],
  ['VAV', 'vav'],
  ['Lüftungsanlage', 'ahu'],
  ['KÄLTEMASCHINE', 'chiller'],
  ['elevator', undefined],
] as const) {
  test(`the equipment type ${text} is ${wanted ?? 'none'}`, t => t.is(equipmentTypeOf(text), wanted))
}

test('a lone nameless column is called after its file', t => {
  t.deepEqual(nameColumns(['Times', 'Value (°F)'], 'ahu/S-7_DA-T.csv'), ['Times', 'S-7_DA-T (°F)'])
  t.deepEqual(nameColumns(['Times', 'Value'], 'S-7_SF-S.CSV'), ['Times', 'S-7_SF-S'])
  t.deepEqual(nameColumns(['t', ' SAT  ', ''], 'x.csv'), ['t', 'SAT', 'column 3'])
})

test('ids of points are made of letters that ids may have, and differ', t => {
  t.is(pointId('AHU-1', 'AHU: Supply  Air (°F)', new Set(), new Map()), 'AHU-1.AHU_Supply_Air')
  t.is(pointId('AHU-1', 'Zuluft', new Set(['AHU-1.Zuluft']), new Map()), 'AHU-1.Zuluft-2')
  t.is(pointId('AHU-1', '温度', new Set(), new Map()), 'AHU-1.point')
  const [taken, numbers] = [new Set(['AHU-1.point-2']), new Map<string, number>()]
  for (const id of ['AHU-1.point', 'AHU-1.point-3', 'AHU-1.point-4']) {
    t.is(pointId('AHU-1', '温度', taken, numbers), id)
    taken.add(id)
  }
})

test('the map of a folder may have any of the names of the format, and column_map.json counts first', t => {
  const mapOf = (...names: string[]) =>
    groupPackageFiles(['manifest.json', ...names.map(name => `a/${name}`)]).folders[0]!.columnMap
  t.is(mapOf('history_wide.csv', 'history_wide.json'), 'a/history_wide.json')
  t.is(mapOf('history_wide.csv', 'history_wide.column_map.json'), 'a/history_wide.column_map.json')
  t.is(mapOf('history_wide.json', 'column_map.json', 'history_wide.csv'), 'a/column_map.json')
})

for (const [what, paths, manifest, folders, ignored] of [
  ['at the root', ['manifest.json', 'a/history_wide.csv', 'a/column_map.json'], 'manifest.json', ['a'], []],
  ['in one top folder', ['p/manifest.json', 'p/a/history_wide.csv', 'p/b/x.csv'], 'p/manifest.json', ['a', 'b'], []],
  ['as one table', ['x.csv', 'column_map.json', 'manifest.json'], 'manifest.json', [''], []],
  ['without a manifest', ['a/history_wide.csv'], undefined, ['a'], []],
  [
    'with debris',
    ['manifest.json', '__MACOSX/a/._x.csv', 'a/.DS_Store', 'a/x.csv', 'notes.txt'],
    'manifest.json',
    ['a'],
    ['notes.txt'],
  ],
  ['with folders in folders', ['manifest.json', 'floor/a/x.csv', 'floor/b/x.csv'], 'manifest.json', ['floor/a', 'floor/b'], []],
] as const) {
  test(`a package ${what} is laid out`, t => {
    const layout = groupPackageFiles([...paths])
    t.deepEqual(
      [layout.manifest, layout.folders.map(({ folder }) => folder), layout.ignored],
      [manifest, [...folders], [...ignored]],
    )
  })
}

const entry = { path: 'a/x.csv', bytes: 10, packed: 5, isLink: false, isEncrypted: false }
for (const [what, entries, fault] of [
  ['two plain files', [entry, { ...entry, path: 'a/y.csv' }], undefined],
  ['a folder', [{ ...entry, path: 'a/' }, entry], undefined],
  ['a way out', [{ ...entry, path: 'a/../../etc/passwd' }], /leaves the package/],
  ['an absolute path', [{ ...entry, path: '/etc/passwd' }], /absolute/],
  ['a drive letter', [{ ...entry, path: 'C:/x.csv' }], /absolute/],
  ['a backslash', [{ ...entry, path: 'a\\..\\x.csv' }], /backslash/],
  ['a NUL', [{ ...entry, path: 'a\u0000.csv' }], /control character/],
  ['an empty part', [{ ...entry, path: 'a//x.csv' }], /not a plain path/],
  ['a link', [{ ...entry, isLink: true }], /link/],
  ['an encrypted file', [{ ...entry, isEncrypted: true }], /encrypted/],
  ['names that differ in case', [entry, { ...entry, path: 'A/X.csv' }], /differ only in case/],
  ['one name twice', [entry, entry], /twice/],
  ['nine folders', [{ ...entry, path: `${'a/'.repeat(9)}x.csv` }], /folders deep/],
  ['eight folders', [{ ...entry, path: `${'a/'.repeat(8)}x.csv` }], undefined],
  ['a bomb', [{ ...entry, bytes: 200_000_000, packed: 200_000 }], /unpacks to more than 100 times its size/],
  ['a table that packs well', [{ ...entry, bytes: 900_000, packed: 900 }], undefined],
  [
    'too much',
    [
      { ...entry, bytes: 400_000_000, packed: 50_000_000 },
      { ...entry, path: 'b.csv', bytes: 200_000_000, packed: 50_000_000 },
    ],
    /unpacked/,
  ],
  ['as many entries as are taken', Array.from({ length: 2000 }, (_, i) => ({ ...entry, path: `${i}.csv` })), undefined],
  [
    'as much as is unpacked',
    [
      { ...entry, bytes: 400_000_000, packed: 50_000_000 },
      { ...entry, path: 'b.csv', bytes: PACKAGE_LIMITS.expandedMax - 400_000_000, packed: 50_000_000 },
    ],
    undefined,
  ],
  [
    'a table that packs as well as is believed',
    [{ ...entry, bytes: PACKAGE_LIMITS.ratioMax * 20_000, packed: 20_000 }],
    undefined,
  ],
  [
    'a table that packs better than is believed',
    [{ ...entry, bytes: PACKAGE_LIMITS.ratioMax * 20_000 + 1, packed: 20_000 }],
    /unpacks to more than 100 times its size/,
  ],
  ['a MiB of one value', [{ ...entry, bytes: 1024 * 1024, packed: 1 }], undefined],
  ['more than a MiB of one value', [{ ...entry, bytes: 1024 * 1024 + 1, packed: 1 }], /unpacks to more than 100 times its size/],
  ['too many', Array.from({ length: 2001 }, (_, i) => ({ ...entry, path: `${i}.csv` })), /more than 2000/],
] as const) {
  test(`a package with ${what} is ${fault ? 'refused' : 'taken'}`, t => {
    const { fault: judge } = createEntryCheck(PACKAGE_LIMITS)
    const found = entries.map(one => judge(one)).find(Boolean)
    if (fault) t.regex(found ?? '', fault)
    else t.is(found, undefined)
  })
}

test('the places that a check names are errors each, with column and line where it told them', t => {
  const check = { code: 'value_unreadable', severity: 'warning', message: 'a.csv: is no number', count: 3 } as const
  const [inColumn, inLine, other] = placesOf({ ...check, examples: [atLine(7, 'x: y', 'Supply, Temp'), atLine(8, 'z'), 'SAT'] })
  const { hint } = inColumn!
  t.truthy(hint)
  t.deepEqual(inColumn, { column: 'Supply, Temp', row: 7, message: 'a.csv: is no number: x: y', hint })
  t.deepEqual(inLine, { row: 8, message: 'a.csv: is no number: z', hint })
  t.deepEqual(other, { message: 'a.csv: is no number: SAT', hint })
  t.deepEqual(placesOf({ ...check, examples: [] }), [{ message: 'a.csv: is no number', hint }])
})

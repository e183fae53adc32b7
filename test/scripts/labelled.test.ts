import test, { type ExecutionContext } from 'ava'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { degrade } from '#scripts/lib/degrade.ts'
import { readLabelled, readLabels } from '#scripts/lib/labelled.ts'

function folder(t: ExecutionContext, files: Record<string, string | Buffer>): string {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-labelled-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
  return dir
}

const HEADER =
  'Datetime,AHU: Supply Air Temperature,AHU: Outdoor Air Damper Control Signal  ,AHU: Mixed Air Temperature,Ground Truth'

test('headers name roles, with blanks behind them and a prefix before them; what names none is left out', t => {
  const dir = folder(t, { 'unit.csv': `${HEADER}\n8/28/2007 0:00,55,0.4,70,1\n8/28/2007 0:01,56,,x,1\n` })
  const { ts, columns } = readLabelled(dir, 'unit', 'ahu')
  t.deepEqual([...ts], [Date.UTC(2007, 7, 28), Date.UTC(2007, 7, 28, 0, 1)])
  t.deepEqual(
    columns.map(({ role, unit, values }) => ({ role, unit, values: [...values] })),
    [
      { role: 'sa_t', unit: 'degF', values: [55, 56] },
      { role: 'oa_damper', unit: 'fraction', values: [0.4, Number.NaN] },
      { role: 'ma_t', unit: 'degF', values: [70, Number.NaN] },
    ],
  )
})

test('a gzipped file reads like a plain one, and a stated unit counts', t => {
  const text = 'time,Supply Air Temperature (°C),clg_valve\n2026-03-02 00:00,13,0\n2026-03-02 00:01,13,80\n'
  const dir = folder(t, { 'unit.csv.gz': gzipSync(text) })
  const { columns } = readLabelled(dir, 'unit', 'ahu')
  t.deepEqual(
    columns.map(({ role, unit }) => [role, unit]),
    [
      ['sa_t', 'degC'],
      ['clg_valve', 'percent'],
    ],
  )
})

test('dates that may mean two days are refused', t => {
  const dir = folder(t, { 'unit.csv': `${HEADER}\n3/4/2007 0:00,55,0.4,70,1\n` })
  t.throws(() => readLabelled(dir, 'unit', 'ahu'), { message: /3\/4\/2007 0:00 may be/ })
})

test('a file that the labels name and nobody brought is named', t => {
  t.throws(() => readLabelled(folder(t, {}), 'unit', 'ahu'), { message: /unit\.csv is named in labels\.csv and is not there/ })
})

test('a baseline day is history of the days after it and has no label', t => {
  const dir = folder(t, { 'labels.csv': 'file,date,component\nunit,2014-10-03,baseline\nunit,2014-10-17,normal\n' })
  t.deepEqual(readLabels(dir), [{ file: 'unit', date: '2014-10-17', component: 'normal' }])
})

test('labels are read by their header; a blank component is a normal day', t => {
  const dir = folder(t, { 'labels.csv': 'file,date,truth,component\nunit,2007-08-28,1,hcv\nunit,2007-08-29,0,\n' })
  t.deepEqual(readLabels(dir), [
    { file: 'unit', date: '2007-08-28', component: 'hcv' },
    { file: 'unit', date: '2007-08-29', component: 'normal' },
  ])
})

test('labels without a date, or with a date in words, are refused', t => {
  t.throws(() => readLabels(folder(t, { 'labels.csv': 'file,component\nunit,hcv\n' })), { message: /needs the columns/ })
  t.throws(() => readLabels(folder(t, { 'labels.csv': 'file,date,component\nunit,8/28/2007,hcv\n' })), { message: /8\/28\/2007/ })
})

const MINUTES = Float64Array.from({ length: 60 }, (_, i) => i * 60_000)
const set = {
  name: 'unit',
  ts: MINUTES,
  columns: [
    { role: 'ma_t', unit: 'degF', values: new Float64Array(60).fill(70) },
    { role: 'clg_valve', unit: 'fraction', values: new Float64Array(60).fill(0.5) },
  ],
}

test('sampling keeps the first sample of each stretch', t => {
  const { ts, columns } = degrade(set, { sampling: 15 * 60_000 })
  t.deepEqual(
    [...ts],
    [0, 15, 30, 45].map(minute => minute * 60_000),
  )
  t.is(columns[1]!.values.length, 4)
})

test('bias shifts the mixed-air sensor alone, in its own unit', t => {
  const { columns } = degrade(set, { bias: -2 })
  t.true(Math.abs(columns[0]!.values[7]! - 68) < 1e-9)
  t.is(columns[1]!.values[7], 0.5)
  t.is(set.columns[0]!.values[7], 70)
})

test('noise is the same for the same seed, half a degree wide, and spares signals', t => {
  const one = degrade(set, { noise: 1 }).columns[0]!.values
  t.deepEqual(one, degrade(set, { noise: 1 }).columns[0]!.values)
  t.notDeepEqual(one, degrade(set, { noise: 2 }).columns[0]!.values)
  const deviation = Math.sqrt(one.reduce((sum, value) => sum + (value - 70) ** 2, 0) / one.length)
  t.true(deviation > 0.3 && deviation < 0.7, String(deviation))
  t.true(degrade(set, { noise: 1 }).columns[1]!.values.every(value => value === 0.5))
})

test('several cases of a day are told apart by their minutes, and one that nobody can judge is left out', t => {
  const rows = [
    'u,2021-01-01,0,,00:00-00:04',
    'u,2021-01-01,1,wheel,00:05-01:09',
    'u,2021-01-01,,wheel,01:10-01:10',
    'u,2021-01-02,1,hcv,06:00-18:00',
  ]
  const labels = (...lines: string[]) =>
    folder(t, { 'labels.csv': ['file,date,truth_inventory,component,occupied_window', ...lines].join('\n') })
  t.deepEqual(readLabels(labels(...rows)), [
    { file: 'u', date: '2021-01-01', component: 'normal', minutes: [0, 4] },
    { file: 'u', date: '2021-01-01', component: 'wheel', minutes: [5, 69] },
    { file: 'u', date: '2021-01-02', component: 'hcv' },
  ])
  t.throws(() => readLabels(labels(rows[0]!, 'u,2021-01-01,1,wheel,')), {
    message: /line 3: several cases of a day need occupied_window/,
  })
})

test('where no header is the name of a role, the roles are those that an import suggests', t => {
  const header = 'timestamp,OutdoorAirTemperature,SupplyFanStatus,HrWheelLeavingAirTemperature,Note'
  const dir = folder(t, { 'unit.csv': `${header}\n1/13/2021 0:00,95,1,80,No problems\n` })
  t.deepEqual(
    readLabelled(dir, 'unit', 'ahu').columns.map(({ role, unit, values }) => [role, unit, values[0]]),
    [
      ['oa_t', 'degF', 95],
      ['fan_status', 'bool', 1],
      ['hr_leave_t', 'degF', 80],
    ],
  )
})

import test from 'ava'
import { longForm } from '#shared/core/csv/form/long-table.ts'

const ROWS = [
  ['2026-03-01 00:00', 'AHU-1 SAT', '15.5', 'ok'],
  ['2026-03-01 00:00', 'AHU-1 RAT', '21.5', 'ok'],
]
for (const [header, wanted] of [
  [['Timestamp', 'Name', 'Value', 'Status'], { time: [0], name: 1, value: 2, leftOut: ['Status'] }],
  [['Zeit', 'Datenpunkt', 'Wert', 'Status'], { time: [0], name: 1, value: 2, leftOut: ['Status'] }],
  [['Time', 'Object Name', 'Present Value (°C)', 'State'], { time: [0], name: 1, value: 2, leftOut: ['State'] }],
  [['Time', 'tag', 'value', 'unit'], { time: [0], name: 1, value: 2, unit: 3, leftOut: [] }],
] as const) {
  test(`a table of ${header.join(', ')} has one value a row`, t =>
    t.deepEqual(longForm(header, ROWS), { ...wanted, time: [...wanted.time], leftOut: [...wanted.leftOut] }))
}

test('of several names the one that tells most points apart counts, else the longest', t => {
  const header = ['Date / Time', 'Name Path Reference', 'Object Name', 'Object Value']
  const row = (path: string, name: string) => ['2026-03-01 00:00', path, name, '15.5']
  const two = [row('NAE-1/AHU-1.DA-T', 'DA-T'), row('NAE-1/AHU-2.DA-T', 'DA-T')]
  t.like(longForm(header, two), { name: 1, value: 3, leftOut: ['Object Name'] })
  t.like(longForm(header, two.slice(0, 1)), { name: 1 })
  t.like(longForm(['Time', 'Trend', 'Point Name', 'Value'], [row('T1', 'SAT'), row('T1', 'RAT')]), { name: 2 })
})

test('a date and a time of day are the time together', t => {
  const header = ['Date', 'Time', 'Name', 'Value']
  const rows = [['01.03.2026', '00:15', 'AHU-1 SAT', '15.5']]
  t.like(longForm(header, rows, [0, 1]), { time: [0, 1], name: 2, value: 3, leftOut: [] })
})

for (const [what, header, rows] of [
  ['no name', ['Time', 'SAT', 'Value', 'Status'], ROWS],
  ['no value', ['Time', 'Name', 'SAT', 'Status'], ROWS],
  ['two values', ['Time', 'Name', 'Value', 'Wert'], ROWS],
  ['no rows', ['Time', 'Name', 'Value'], []],
  ['numbers for names', ['Time', 'ID', 'Value'], [['2026-03-01 00:00', '7', '15.5']]],
  ['a row without a time', ['Time', 'Name', 'Value'], [...ROWS, ['Summe', 'SAT', '3']]],
  ['a row without a name', ['Time', 'Name', 'Value'], [...ROWS, ['2026-03-01 00:15', '', '3']]],
] as const)
  test(`a table with ${what} is left as it is`, t => t.is(longForm(header, rows), undefined))

import test from 'ava'
import { findCellUnits, headerWithUnits, splitUnit, UnitRecord } from '#shared/core/csv/form/cell-units.ts'
import { sniffDialect } from '#shared/core/csv/form/dialect.ts'
import { LineRecord } from '#shared/core/csv/record.ts'

for (const [cell, number, unit] of [
  ['21.5 °C', '21.5', 'degC'],
  ['21,5°C', '21,5', 'degC'],
  ['-3 degF', '-3', 'degF'],
  ['55%', '55', 'percent'],
  ['1 250.5 Pa', '1 250.5', 'Pa'],
  ['12kW', '12', 'kW'],
  ['0 A', '0', 'A'],
  [' 700 m³/h ', '700', 'm3/h'],
] as const) {
  test(`${JSON.stringify(cell)} is a number of ${unit}`, t => t.deepEqual(splitUnit(cell), { number, unit }))
}

for (const cell of ['21.5', '12A', 'On', '21.5 furlongs', '5 none', '2026-11-20 00:00', '1 250', '°C', '', '7 May', '5 °C high'])
  test(`${JSON.stringify(cell)} is no number with a unit`, t => t.is(splitUnit(cell), undefined))

test('a column has a unit when all its numbers have the same one', t => {
  const rows = [
    ['00:00', '21 °C', '5 %', '20 °C', 'On', '7'],
    ['00:15', 'nan', '', '68 °F', 'Off', '8 %'],
  ]
  t.deepEqual(findCellUnits(rows), [null, 'degC', 'percent', null, null, null])
  t.is(findCellUnits([['00:00', '21', 'On']]), undefined)
})

test('a header gets the unit of its cells unless it has one', t =>
  t.deepEqual(headerWithUnits(['Time', 'SAT ', 'RAT (°C)'], [null, 'degC', 'degC']), ['Time', 'SAT (degC)', 'RAT (°C)']))

test('a cell with another unit than its column stays a text, one without unit is a number', t => {
  const of = (line: string) => new UnitRecord(new LineRecord(line, ';', 2), [null, 'degC'])
  t.is(of('x;21,5 °C').value(1, true), 21.5)
  t.is(of('x;21,5').value(1, true), 21.5)
  t.is(of('x;70 °F').value(1, true), '70 °F')
  t.is(of('x;').value(1, true), undefined)
  t.is(of('5 °C;1').value(0, true), '5 °C')
})

test('decimal commas are seen before units', t => {
  const { decimalComma, cellUnits } = sniffDialect('Zeit;SAT\n20.11.2026 00:00;21,5 °C\n20.11.2026 00:15;21,7 °C\n')
  t.true(decimalComma)
  t.deepEqual(cellUnits, [null, 'degC'])
})

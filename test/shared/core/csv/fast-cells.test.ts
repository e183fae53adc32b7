import test from 'ava'
import fc from 'fast-check'
import { CellRecord, LineRecord } from '#shared/core/csv/record.ts'
import { openTimeline } from '#shared/core/csv/timeline.ts'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import { formatInstant, MINUTE } from '#shared/core/time.ts'

const RUNS = { numRuns: 20_000 }

/** Cells of all kinds, without a delimiter. */
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 })
const number = fc
  .tuple(fc.constantFrom('', '-', '+', ' '), digits, fc.constantFrom('', '.', '..'), digits)
  .map(parts => parts.join(''))
const cell = fc.oneof(number, fc.constantFrom('', ' ', '-', '-.', '1-2', '١', '1e3', '0x1f', 'NaN', 'On', '21,5', '1e400'))

test('a cell of a line reads as the same cell cut out, in whatever order cells are asked for', t => {
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(7)),
      fc.boolean(),
      (cells, order, decimalComma) => {
        const cut = new CellRecord(cells, 7)
        const line = new LineRecord(cells.join(';'), ';', 7)
        t.is(line.width(), cells.length)
        t.deepEqual(line.cells(), cells)
        for (const index of [...cells.keys(), ...order.filter(one => one < cells.length)]) {
          t.is(line.text(index), cells[index]!)
          t.true(Object.is(line.value(index, decimalComma), cut.value(index, decimalComma)), JSON.stringify(cells[index]))
        }
      },
    ),
    RUNS,
  )
})

test('an instant as programs write it is the same with a blank between date and time', t => {
  const padded = (least: number, most: number, width: number) =>
    fc.integer({ min: least, max: most }).map(value => String(value).padStart(width, '0'))
  const fields = fc.tuple(
    fc.oneof(padded(1965, 2205, 4), fc.constantFrom('2000', '2024', '1900', '2100')),
    padded(0, 13, 2),
    padded(0, 32, 2),
    padded(0, 25, 2),
    padded(0, 61, 2),
    padded(0, 61, 2),
    fc.constantFrom('', '.000', '.007', '.999'),
  )
  fc.assert(
    fc.property(fields, ([year, month, date, hour, minute, second, fraction]) => {
      const of = (between: string) => parseTimestamp(`${year}-${month}-${date}${between}${hour}:${minute}:${second}${fraction}Z`)
      t.deepEqual(of('T'), of(' '))
    }),
    RUNS,
  )
  t.is(parseTimestamp('2026-03-01T05:00:0xZ'), undefined)
  t.is(parseTimestamp('2026-03-01T05:00:00.00xZ'), undefined)
})

test('times that occur again are found, in whatever order they come', t => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 40 }), minutes => {
      const timeline = openTimeline(undefined, undefined, Date.UTC(2027, 0, 1))
      for (const [i, minute] of minutes.entries()) timeline.add(formatInstant(Date.UTC(2026, 0, 1) + minute * MINUTE), i + 2)
      const read = timeline.end()
      if ('ambiguous' in read) return t.fail()
      t.is(read.timeline.duplicate.count, minutes.length - new Set(minutes).size)
      const first = minutes.findIndex((minute, i) => minutes.indexOf(minute) < i)
      t.is(read.timeline.duplicate.examples[0]?.split(':')[0], first < 0 ? undefined : `line ${first + 2}`)
    }),
    { numRuns: 3000 },
  )
})

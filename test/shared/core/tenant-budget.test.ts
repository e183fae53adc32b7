import test from 'ava'
import { budgetExcess, RequestMeter } from '#shared/core/tenant-budget.ts'
import { MINUTE } from '#shared/core/time.ts'

for (const [title, limits, use, added, wanted] of [
  ['no limit', { max_bytes: null, max_series: null }, { bytes: 1e12, series: 1e6 }, 5, undefined],
  ['one byte below the limit', { max_bytes: 10, max_series: null }, { bytes: 9, series: 0 }, 5, undefined],
  ['at the limit of bytes', { max_bytes: 10, max_series: null }, { bytes: 10, series: 0 }, 0, /10 of 10 bytes/],
  ['a limit of 0 bytes', { max_bytes: 0, max_series: null }, { bytes: 0, series: 0 }, 0, /0 of 0 bytes/],
  ['the last series that fit', { max_bytes: null, max_series: 7 }, { bytes: 0, series: 5 }, 2, undefined],
  [
    'one series too many',
    { max_bytes: null, max_series: 7 },
    { bytes: 0, series: 5 },
    3,
    /5 of 7 series, and this begins 3 more/,
  ],
  ['known series above a lowered limit', { max_bytes: null, max_series: 3 }, { bytes: 0, series: 5 }, 0, undefined],
] as const) {
  test(`a budget is checked: ${title}`, t => {
    const excess = budgetExcess(limits, use, added)
    t.is(excess?.added, wanted && added)
    t.regex(excess?.reason ?? '', wanted ?? /^$/)
  })
}

test('requests of a tenant are counted by the minute, refused ones not, and each tenant apart', t => {
  const meter = new RequestMeter()
  const at = 7 * MINUTE + 15_500
  t.deepEqual(
    [1, 2, 3, 4].map(() => meter.take('a', 2, at)),
    [0, 0, 45, 45],
  )
  t.is(meter.used('a', at), 2)
  t.is(meter.take('b', 1, at), 0)
  t.is(meter.take('a', null, at), 0, 'the limit was taken away')
  t.is(meter.take('a', 2, 8 * MINUTE), 0, 'the next minute')
  t.is(meter.used('b', 8 * MINUTE), 0)
})

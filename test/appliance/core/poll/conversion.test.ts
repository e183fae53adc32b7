import test from 'ava'
import { convertNumber } from '#appliance/core/poll/conversion.ts'
import { pointValue } from '#appliance/drivers/bacnet/core/point.ts'
import type { BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'

const number = { kind: 'number', scale: 1, offset: 0 } as const
for (const [name, raw, scale, wanted] of [
  ['a number', 21.5, 2, 43],
  ['NaN', Number.NaN, 1, undefined],
  ['infinity', Number.POSITIVE_INFINITY, 1, undefined],
  ['minus infinity', Number.NEGATIVE_INFINITY, 1, undefined],
  ['a number that its scale makes infinite', 1e308, 10, undefined],
] as const) {
  test(`${name} is ${wanted ?? 'no value'}`, t => t.is(convertNumber(raw, { ...number, scale }), wanted))
}
for (const [raw, wanted] of [
  [0, false],
  [1, true],
  [2, undefined],
] as const) {
  test(`${raw} of a flag is ${wanted ?? 'no value'}`, t => t.is(convertNumber(raw, { ...number, kind: 'bool' }), wanted))
}

for (const [name, value, reason] of [
  ['NaN', { type: 'real', value: Number.NaN }, 'a value of type real cannot be a number'],
  ['NULL', { type: 'null' }, 'a value of type null cannot be a number'],
  ['a text', { type: 'text', value: '21.5' }, 'a value of type text cannot be a number'],
] as [string, BacnetValue, string][]) {
  test(`${name} from a device is bad, and the reason says what came`, t => {
    t.deepEqual(pointValue({ values: [value] }, number), { reason })
  })
}
test('an array where one value is due is bad', t => {
  const value: BacnetValue = { type: 'real', value: 1 }
  t.deepEqual(pointValue({ values: [value, value] }, number), { reason: '2 values instead of one' })
})

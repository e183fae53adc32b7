import test from 'ava'
import { formatDate, formatTime } from '#appliance/drivers/bacnet/core/date-time.ts'

for (const [octets, wanted] of [
  [[126, 11, 28, 6], '2026-11-28'],
  [[0, 1, 1, 255], '1900-01-01'],
  [[255, 12, 32, 255], '*-12-last'],
  [[255, 13, 33, 255], '*-odd-odd'],
  [[255, 14, 34, 255], '*-even-even'],
  [[255, 255, 255, 1], '*-*-* weekday 1'],
  [[255, 255, 255, 255], '*-*-*'],
] as const) {
  test(`the date ${octets} is written as ${wanted}`, t => t.is(formatDate(Uint8Array.from(octets)), wanted))
}

for (const [octets, wanted] of [
  [[7, 30, 0, 5], '07:30:00.05'],
  [[7, 255, 255, 255], '07:*:*.*'],
] as const) {
  test(`the time ${octets} is written as ${wanted}`, t => t.is(formatTime(Uint8Array.from(octets)), wanted))
}

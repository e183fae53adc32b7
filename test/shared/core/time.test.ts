import test from 'ava'
import fc from 'fast-check'
import {
  DAY,
  formatDuration,
  formatInstant,
  HOUR,
  INSTANT_END,
  INSTANT_MIN,
  MINUTE,
  parseDuration,
  parseInstant,
} from '#shared/core/time.ts'
import { dateOf, dayStart, instantsOf, isZone, nextDay, wallOf } from '#shared/core/time-zone.ts'

const CHICAGO = 'America/Chicago'
const utc = (text: string) => Date.parse(text)

test('an instant is written with Z and read back', t => {
  fc.assert(fc.property(fc.integer({ min: 0, max: utc('2100-01-01T00:00:00Z') }), ms => parseInstant(formatInstant(ms)) === ms))
  t.is(formatInstant(utc('2026-03-01T05:00:00Z')), '2026-03-01T05:00:00Z')
  t.is(parseInstant('2028-02-29T23:30:00-05:00'), utc('2028-03-01T04:30:00Z'))
})

for (const text of [
  '2026-03-01',
  '2026-03-01T05:00:00',
  '05:00Z',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00+02:00',
  '2026-03-00T00:00:00Z',
  '2026-03-01T24:00:00Z',
  'yesterday',
  '',
]) {
  test(`"${text}" is no instant`, t => t.is(parseInstant(text), undefined))
}

/** The usual form is read digit by digit, an offset of zero by `Date.parse`: both say the same of a date and time. */
const isReadAlike = (dateTime: string) => Object.is(parseInstant(`${dateTime}Z`), parseInstant(`${dateTime}+00:00`))

test('a text in the usual form of an instant is read as with an offset of zero, whatever its digits and characters are', t => {
  const number = (length: number) => fc.integer({ min: 0, max: 10 ** length - 1 }).map(n => String(n).padStart(length, '0'))
  const near = (max: number) => fc.integer({ min: 0, max: max + 1 }).map(n => String(n).padStart(2, '0'))
  const date = fc.tuple(number(4), near(12), near(31)).map(parts => parts.join('-'))
  const time = fc.tuple(near(23), near(59), near(59)).map(parts => parts.join(':'))
  const fraction = fc.oneof(
    fc.constant(''),
    number(3).map(ms => `.${ms}`),
    fc.stringMatching(/^\.\d{1,4}$/),
  )
  const dateTime = fc.tuple(date, time, fraction).map(([day, clock, ms]) => `${day}T${clock}${ms}`)
  fc.assert(fc.property(dateTime, isReadAlike), { numRuns: 2000 })
  const other = fc.oneof(fc.constantFrom(...'0123456789-:.TtZz+ /;'), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }))
  const spoilt = fc
    .tuple(dateTime, fc.nat({ max: 22 }), other)
    .map(([text, i, char]) => text.slice(0, i) + char + text.slice(i + 1))
  fc.assert(fc.property(spoilt, isReadAlike), { numRuns: 2000 })
  t.is(parseInstant('2026-03-01T05:00:00.250Z'), utc('2026-03-01T05:00:00.25Z'))
})

test('each day of leap years, of other years, and of the first and the last one that can be written is read as with an offset', t => {
  for (const year of [
    '0000',
    '0001',
    '0004',
    '0099',
    '0100',
    '0400',
    '1899',
    '1900',
    '1970',
    '2000',
    '2026',
    '2028',
    '2100',
    '9999',
  ])
    for (let month = 0; month <= 13; month++)
      for (let day = 0; day <= 32; day++) {
        const date = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
        if (!isReadAlike(`${date}T23:59:59.999`)) return t.fail(date)
      }
  t.is(parseInstant('0000-01-01T00:00:00Z'), INSTANT_MIN)
  t.is(parseInstant('9999-12-31T23:59:59.999Z'), INSTANT_END - 1)
})

const DURATIONS: [string, number | undefined][] = [
  ['90s', 90_000],
  ['5m', 5 * MINUTE],
  ['15 min', 15 * MINUTE],
  ['1.5h', 1.5 * HOUR],
  ['30d', 30 * DAY],
  ['250ms', 250],
  ['5', undefined],
  ['-5m', undefined],
  ['five minutes', undefined],
]
for (const [text, expected] of DURATIONS)
  test(`the duration "${text}" is ${expected} ms`, t => t.is(parseDuration(text), expected))

test('durations are told in the two largest units', t => {
  const told = [45_000, 12 * MINUTE, 6 * HOUR + 20 * MINUTE, 2 * HOUR, 76 * HOUR, 5 * DAY].map(formatDuration)
  t.deepEqual(told, ['45 s', '12 min', '6 h 20 min', '2 h', '3 d 4 h', '5 d'])
})

test('the wall clock follows daylight saving', t => {
  t.is(wallOf(utc('2026-01-15T18:00:00Z'), CHICAGO).hour, 12)
  t.is(wallOf(utc('2026-07-15T18:00:00Z'), CHICAGO).hour, 13)
})

test('a wall clock means one instant, none in the skipped hour, two in the repeated one', t => {
  t.deepEqual(instantsOf(Date.UTC(2026, 6, 1, 12), CHICAGO), [utc('2026-07-01T17:00:00Z')])
  t.deepEqual(instantsOf(Date.UTC(2026, 2, 8, 2, 30), CHICAGO), [])
  t.deepEqual(instantsOf(Date.UTC(2026, 10, 1, 1, 30), CHICAGO), [utc('2026-11-01T06:30:00Z'), utc('2026-11-01T07:30:00Z')])
})

const LENGTHS: [string, number][] = [
  ['2026-03-08T18:00:00Z', 23],
  ['2026-11-01T18:00:00Z', 25],
  ['2026-07-01T18:00:00Z', 24],
]
for (const [instant, hours] of LENGTHS) {
  test(`the building's day around ${instant} has ${hours} hours`, t => {
    t.is(nextDay(utc(instant), CHICAGO) - dayStart(utc(instant), CHICAGO), hours * HOUR)
  })
}

test('a day that begins at one o’clock, because spring skips midnight, still begins', t => {
  const noon = utc('2018-11-04T15:00:00Z')
  t.is(wallOf(dayStart(noon, 'America/Sao_Paulo'), 'America/Sao_Paulo').hour, 1)
  t.is(dateOf(noon, 'America/Sao_Paulo'), '2018-11-04')
})

test('every instant lies in its own day', t => {
  const instant = fc.integer({ min: utc('2000-01-01T00:00:00Z'), max: utc('2040-01-01T00:00:00Z') })
  fc.assert(
    fc.property(instant, fc.constantFrom(CHICAGO, 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Apia', 'UTC'), (ms, zone) => {
      const from = dayStart(ms, zone)
      const to = nextDay(ms, zone)
      return from <= ms && ms < to && dayStart(to - 1, zone) === from && nextDay(from, zone) === to
    }),
    { numRuns: 60 },
  )
  for (const zone of [CHICAGO, 'UTC', 'Etc/GMT+5']) t.true(isZone(zone), zone)
  for (const none of ['America/Springfield', '+05:00', '-0500', '']) t.false(isZone(none), none)
})

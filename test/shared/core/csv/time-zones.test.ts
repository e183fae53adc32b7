import test from 'ava'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import { instantsOf } from '#shared/core/time-zone.ts'

/** Where an abbreviation is used, and the month in which. @source IANA tz database, as Node has it */
const PLACES = {
  Z: ['UTC', 1],
  UTC: ['UTC', 1],
  GMT: ['Europe/London', 1],
  BST: ['Europe/London', 7],
  WET: ['Europe/Lisbon', 1],
  WEST: ['Europe/Lisbon', 7],
  CET: ['Europe/Paris', 1],
  CEST: ['Europe/Paris', 7],
  EET: ['Europe/Athens', 1],
  EEST: ['Europe/Athens', 7],
  AST: ['America/Halifax', 1],
  ADT: ['America/Halifax', 7],
  EST: ['America/New_York', 1],
  EDT: ['America/New_York', 7],
  CST: ['America/Chicago', 1],
  CDT: ['America/Chicago', 7],
  MST: ['America/Denver', 1],
  MDT: ['America/Denver', 7],
  PST: ['America/Los_Angeles', 1],
  PDT: ['America/Los_Angeles', 7],
  AKST: ['America/Anchorage', 1],
  AKDT: ['America/Anchorage', 7],
  HST: ['Pacific/Honolulu', 1],
} as const

for (const [abbreviation, [zone, month]] of Object.entries(PLACES)) {
  test(`${abbreviation} is the time of ${zone} in month ${month}`, t => {
    const wall = Date.UTC(2026, month - 1, 15, 12)
    const { mdy, offset } = parseTimestamp(`2026-0${month}-15 12:00 ${abbreviation}`)!
    t.is(mdy, wall)
    t.deepEqual([mdy - offset!], instantsOf(wall, zone))
    t.is(parseTimestamp(`2026-0${month}-15 12:00 ${abbreviation.toLowerCase()}`)!.offset, offset)
  })
}

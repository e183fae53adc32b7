/** Building time: days, hours and wall clocks in an IANA zone, with daylight-saving changes. */
import { DAY, HOUR, MINUTE } from './time.ts'

type Wall = { year: number; month: number; day: number; hour: number; minute: number; second: number }

/** Formatters by zone. Creating one takes as long as formatting a thousand instants; a zone always has the same one. */
const FORMATS = new Map<string, Intl.DateTimeFormat>()

function format(timezone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timezone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  FORMATS.set(timezone, made)
  return made
}

/** @returns whether `timezone` is the name of a known IANA zone; an offset such as `+05:00` is none */
export function isZone(timezone: string): boolean {
  if (!/^[A-Za-z]/.test(timezone)) return false
  try {
    format(timezone)
    return true
  } catch {
    return false
  }
}

/** Wall clock of an instant. @throws RangeError when the zone is unknown */
export function wallOf(ms: number, timezone: string): Wall {
  const wall: Record<string, number> = {}
  for (const { type, value } of format(timezone).formatToParts(ms)) wall[type] = Number(value)
  return wall as Wall
}

/** Offset of a zone from UTC at an instant, ms. */
export function offsetAt(ms: number, timezone: string): number {
  const { year, month, day, hour, minute, second } = wallOf(ms, timezone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

/**
 * The instants of a wall clock: usually one, none in the hour that spring skips, two in the hour that autumn repeats.
 *
 * @param wallMs the wall clock written as if it were UTC (`Date.UTC(year, month - 1, day, …)`)
 * @returns instants in ascending order
 */
export function instantsOf(wallMs: number, timezone: string): number[] {
  const offsets = new Set([offsetAt(wallMs - DAY, timezone), offsetAt(wallMs + DAY, timezone)])
  return [...offsets]
    .map(offset => wallMs - offset)
    .filter(ms => ms + offsetAt(ms, timezone) === wallMs)
    .toSorted((a, b) => a - b)
}

/** The instant at which the building's day that contains `ms` began. */
export function dayStart(ms: number, timezone: string): number {
  const { year, month, day } = wallOf(ms, timezone)
  return midnight(Date.UTC(year, month - 1, day), timezone)
}

/** The instant at which the day after the one that contains `ms` begins: 23, 24 or 25 hours after `dayStart`. */
export function nextDay(ms: number, timezone: string): number {
  const { year, month, day } = wallOf(ms, timezone)
  return midnight(Date.UTC(year, month - 1, day + 1), timezone)
}

/**
 * First instants of days by zone and date. They never change, and looking one up in the zone takes as long as evaluating an
 * hour of an equipment.
 */
const MIDNIGHTS = new Map<string, number>()
const MIDNIGHTS_MAX = 5000

/** First instant of a day, also where spring skips midnight itself. */
function midnight(wallMs: number, timezone: string): number {
  const key = `${timezone} ${wallMs}`
  const ms = MIDNIGHTS.get(key) ?? firstInstant(wallMs, timezone)
  if (MIDNIGHTS.size >= MIDNIGHTS_MAX) MIDNIGHTS.clear()
  MIDNIGHTS.set(key, ms)
  return ms
}

function firstInstant(wallMs: number, timezone: string): number {
  for (let later = 0; later <= 2 * HOUR; later += 15 * MINUTE) {
    const [first] = instantsOf(wallMs + later, timezone)
    if (first !== undefined) return first
  }
  throw new RangeError(`no start of day in ${timezone} at ${wallMs}`)
}

/** @returns for example `2026-03-01`, the building's date at an instant */
export function dateOf(ms: number, timezone: string): string {
  const { year, month, day } = wallOf(ms, timezone)
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}

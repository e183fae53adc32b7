/** Alert routes: which alerts are delivered to whom, and at which hours. */
import type { Priority } from '../findings/finding.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import { dayStart, instantsOf, nextDay, wallOf } from '../time-zone.ts'
import type { AlertCondition, AlertKind } from './alert.ts'

type AlertHours = {
  /** 1 is Monday, 7 Sunday. */
  days: number[]
  /** Wall clock of the building, `07:00`; `to` may be `24:00`. */
  from: string
  to: string
}
export type AlertRoute = {
  route_id: string
  name: string
  enabled: boolean
  /** A route has either a web address, to which JSON is posted, or mail addresses. */
  webhook_url?: string
  mail_to?: string[]
  /** Absent: all. */
  building_ids?: string[]
  kinds?: AlertKind[]
  /** The least urgent priority that is delivered; 1 is the most urgent. */
  priority_max: Priority
  /** Alerts are delivered within these hours only, and wait outside them; absent: at any time. */
  hours?: AlertHours
  /** Priority 1 does not wait for the hours. */
  urgent_at_once: boolean
  /** Weekday of the weekly digest, 1 to 7; absent: none. */
  digest_day?: number
}

export function routeTakes(route: AlertRoute, { building_id, kind, priority }: AlertCondition): boolean {
  const { enabled, building_ids, kinds, priority_max } = route
  if (!enabled || priority > priority_max) return false
  return (building_id === '' || (building_ids?.includes(building_id) ?? true)) && (kinds?.includes(kind) ?? true)
}

/** @returns when an alert may be delivered: now, or when the hours of the route begin, ms */
export function deliverableAt({ hours, urgent_at_once }: AlertRoute, condition: AlertCondition, now: number): number {
  if (!hours || (urgent_at_once && condition.priority === 1)) return now
  return nextOpening(hours, condition.timezone, now)
}

/** A week and the day that daylight saving may add. */
const DAYS_AHEAD = 9

/** @returns `now` within the hours, else when they next begin, ms */
export function nextOpening({ days, from, to }: AlertHours, timezone: string, now: number): number {
  let day = dayStart(now, timezone)
  for (let n = 0; n < DAYS_AHEAD; n++, day = nextDay(day, timezone)) {
    if (!days.includes(weekdayOf(day, timezone))) continue
    const [begin, end] = [instantAt(day, from, timezone), instantAt(day, to, timezone)]
    if (now < end) return Math.max(now, begin)
  }
  return now
}

/** The instant of a wall clock on a day: the first of two in autumn, an hour later where spring skips it. */
function instantAt(day: number, clock: string, timezone: string): number {
  const [hour = 0, minute = 0] = clock.split(':').map(Number)
  if (hour === 24) return nextDay(day, timezone)
  const { year, month, day: date } = wallOf(day, timezone)
  const wall = Date.UTC(year, month - 1, date) + hour * HOUR + minute * MINUTE
  return instantsOf(wall, timezone)[0] ?? instantsOf(wall + HOUR, timezone)[0] ?? wall
}

function weekdayOf(day: number, timezone: string): number {
  const { year, month, day: date } = wallOf(day, timezone)
  return new Date(Date.UTC(year, month - 1, date)).getUTCDay() || 7
}

/** Local hour at which digests are sent. */
const DIGEST_HOUR = '07:00'

/** @returns the last time at which a digest was due, ms; undefined when the route has none */
export function digestDueAt({ digest_day }: AlertRoute, timezone: string, now: number): number | undefined {
  if (digest_day === undefined) return undefined
  for (let day = dayStart(now, timezone), n = 0; n < DAYS_AHEAD; n++, day = dayStart(day - DAY / 2, timezone)) {
    const due = instantAt(day, DIGEST_HOUR, timezone)
    if (weekdayOf(day, timezone) === digest_day && due <= now) return due
  }
  return undefined
}

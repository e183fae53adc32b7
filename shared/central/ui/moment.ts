/** Instants and ages in words, in the building's zone. Every state on a page carries one of these. */
import { type Html, html } from '#shared/node/http/html.ts'
import { DAY, formatDuration, formatInstant, HOUR, SECOND } from '#shared/core/time.ts'
import { dateOf, wallOf } from '#shared/core/time-zone.ts'
import { say, words } from '#shared/node/http/language.ts'

/**
 * The moment a page is made for: what "now" and "today" mean on it.
 *
 * `isNamed`: the page says another zone at its foot, so each instant names its own.
 */
export type Here = { now: number; timezone: string; isNamed?: true }

/** @returns the same for what is in `timezone`, which names its zone where it is not the page's */
export const hereIn = (page: Here, timezone: string): Here =>
  timezone === page.timezone ? page : { ...page, timezone, isNamed: true }

const MONTHS = words(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'])
const WEEKDAYS = words(['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'])

const two = (n: number) => String(n).padStart(2, '0')

/** @returns `14:02`, the building's wall clock */
export function formatClock(ms: number, timezone: string): string {
  const { hour, minute } = wallOf(ms, timezone)
  return `${two(hour)}:${two(minute)}`
}

/** @returns `Thu 19 Nov`, and the year where it is not that of `now` */
export function formatDay(ms: number, { now, timezone }: Here): string {
  const { year, month, day } = wallOf(ms, timezone)
  const weekday = WEEKDAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()]
  const shown = say`${weekday} ${day} ${MONTHS[month - 1]}`
  return wallOf(now, timezone).year === year ? shown : `${shown} ${year}`
}

/** @returns `14:02` on the building's day of `now`, else `Thu 19 Nov 14:02`; `14:02 CST` where each instant names its zone */
export function formatMoment(ms: number, here: Here): string {
  const { timezone, isNamed } = here
  const clock = isNamed ? `${formatClock(ms, timezone)} ${shortName(ms, timezone)}` : formatClock(ms, timezone)
  return dateOf(ms, timezone) === dateOf(here.now, timezone) ? clock : `${formatDay(ms, here)} ${clock}`
}

/** A duration that a line does not break: `2 h 8 min` with spaces that hold. */
const unbroken = (ms: number): string => formatDuration(ms).replaceAll(' ', '\u00a0')

/** @returns `38 s ago`, `in 2 h`; `now` within a second */
export function formatAge(ms: number, now: number): string {
  const age = now - ms
  if (Math.abs(age) < 1000) return say`now`
  return age > 0 ? say`${unbroken(age)} ago` : say`in ${unbroken(-age)}`
}

/** @returns `531 days left` of what lasts for months, `20 h left` on its last two days */
export const formatLeft = (ms: number): string =>
  ms >= 2 * DAY ? say`${Math.floor(ms / DAY)} days left` : say`${unbroken(ms)} left`

/** @returns `19 Nov`, as an axis names a day, or `19 Nov 2025`; without it the year stands with the zone */
export function formatAxisDay(ms: number, timezone: string, withYear = false): string {
  const { year, month, day } = wallOf(ms, timezone)
  const shown = say`${day} ${MONTHS[month - 1]}`
  return withYear ? `${shown} ${year}` : shown
}

/** @returns what an axis from one instant to another says below it: the zone, and the year where its days do not say it and it is not that of `now` */
export function formatAxisZone(from: number, to: number, { now, timezone }: Here): string {
  const [first, last, current] = [from, to - 1, now].map(ms => wallOf(ms, timezone).year)
  return first !== last || first === current ? formatZone(from, timezone) : `${first}, ${formatZone(from, timezone)}`
}

/** @returns `America/Chicago (CST, UTC−6)`: the zone as an axis names it */
export function formatZone(ms: number, timezone: string): string {
  const { year, month, day, hour, minute, second } = wallOf(ms, timezone)
  const ahead = (Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000) / HOUR
  const minutes = Math.round(Math.abs(ahead) * 60)
  const offset = say`UTC${ahead < 0 ? '−' : '+'}${Math.floor(minutes / 60)}${minutes % 60 > 0 ? `:${two(minutes % 60)}` : ''}`
  const name = shortName(ms, timezone)
  if (timezone === 'UTC') return 'UTC'
  return /^(GMT|UTC)/.test(name) ? `${timezone} (${offset})` : `${timezone} (${name}, ${offset})`
}

function shortName(ms: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'short' })
  return format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** An instant with its age: `14:02, 38 s ago`. */
export const momentAge = (ms: number, here: Here): Html => html`${moment(ms, here)}, ${formatAge(ms, here.now)}`

/** An instant in the building's time, readable by machines too. */
export const moment = (ms: number, here: Here): Html =>
  html`<time datetime="${formatInstant(ms)}">${formatMoment(ms, here)}</time>`

/** The moment a page was made, to the second: `14:02:10`. */
export const momentNow = (here: Here): Html => momentSecond(here.now, here)

/** An instant in the zone of the page, to the second: `Thu 19 Nov 14:02:10`. */
export function momentSecond(ms: number, { now, timezone }: Here): Html {
  const { second } = wallOf(ms, timezone)
  return html`<time datetime="${formatInstant(ms)}">${formatMoment(ms, { now, timezone })}:${two(second)}</time>`
}

/** When something is planned for: `14:30, in 28 min`; once that has passed, `due since 13:26, 36 min`. */
export function nextMoment(ms: number | null | undefined, here: Here, otherwise = ''): Html {
  if (ms === null || ms === undefined) return html`${otherwise}`
  const late = here.now - ms
  return late < SECOND ? momentAge(ms, here) : html`due since ${moment(ms, here)}, ${unbroken(late)}`
}

/** The same for an instant that may not have come yet. */
export const momentOr = (ms: number | null | undefined, here: Here, otherwise: string): Html =>
  ms === null || ms === undefined ? html`${otherwise}` : momentAge(ms, here)

/** Instants are ms since 1970 UTC in memory and RFC 3339 with Z on the wire. */
import { nameTable } from '#shared/core/name-table.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** @returns for example `2026-03-01T05:00:00Z`; milliseconds only when there are any */
export const formatInstant = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

const INSTANT = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** The years 0000 to 9999 in UTC: those that RFC 3339 can write. @source RFC 3339, 5.6 (date-fullyear = 4DIGIT) */
export const INSTANT_MIN = Date.parse('0000-01-01T00:00:00Z')
export const INSTANT_END = Date.UTC(10_000, 0, 1)

/**
 * @returns ms, or undefined when `text` is not RFC 3339 with an offset, names a day that its month does not have, or is outside of
 * the years 0000 to 9999 once its offset is taken away: nothing could write such an instant again
 */
export function parseInstant(text: string): number | undefined {
  const ms = INSTANT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN
  return ms >= INSTANT_MIN && ms < INSTANT_END ? ms : undefined
}

/** `Date` takes 30 February for 2 March. Every month has its first 28 days. */
function isDay(date: string): boolean {
  const day = Number(date.slice(8))
  return day <= 28 || new Date(date).getUTCDate() === day
}

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)$/
const DURATION_MS = nameTable<number>({ ms: 1, s: SECOND, m: MINUTE, min: MINUTE, h: HOUR, d: DAY })

/** Reads `90s`, `5m`, `1.5h`, `30d`. @returns ms, or undefined when it is no duration */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim())
  return match ? Number(match[1]) * DURATION_MS[match[2]!]! : undefined
}

/** In words for people: `45 s`, `12 min`, `6 h 20 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const minutes = Math.round(ms / MINUTE)
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${hours / 24} d`
}

/** Writes dates and times of a device, whose parts may be unspecified or patterns (135-2020 20.2.12 and 20.2.13). */

const ANY = 0xff
const FIRST_YEAR = 1900
const MONTHS: Record<number, string> = { 13: 'odd', 14: 'even' }
const DAYS: Record<number, string> = { 32: 'last', 33: 'odd', 34: 'even' }

/**
 * @param octets [4] year, month, day, weekday from 1, Monday
 * @returns for example `2026-11-28`, `*-12-last`; the weekday where the rest does not determine it, as in `*-*-* weekday 1`
 */
export function formatDate(octets: Uint8Array): string {
  const [year = ANY, month = ANY, day = ANY, weekday = ANY] = octets
  const date = [year === ANY ? '*' : String(FIRST_YEAR + year), part(month, MONTHS), part(day, DAYS)].join('-')
  return /^\d+-\d+-\d+$/.test(date) || weekday === ANY ? date : `${date} weekday ${weekday}`
}

/**
 * @param octets [4] hour, minute, second, hundredths
 * @returns for example `07:30:00.00`, `07:*:*.*`
 */
export function formatTime(octets: Uint8Array): string {
  const [hour = '*', minute = '*', second = '*', hundredths = '*'] = Array.from(octets, octet => part(octet))
  return `${hour}:${minute}:${second}.${hundredths}`
}

const part = (octet: number, names: Record<number, string> = {}): string =>
  octet === ANY ? '*' : (names[octet] ?? String(octet).padStart(2, '0'))

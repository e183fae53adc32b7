/** Answers of tools as text: bounded, in plain words, instants in the building's time with their offset. */
import { formatInstant, HOUR, MINUTE, parseInstant } from '#shared/core/time.ts'
import { offsetAt } from '#shared/core/time-zone.ts'

/** Most bytes of one answer: about 6,000 tokens, so that a dozen answers fit into a small context beside each other. */
export const ANSWER_BYTES_MAX = 24 * 1024
/** Longest text of one cell: names are at most 256 characters, and longer texts are given in full by the tool for one record. */
const CELL_MAX = 200

/** @returns `2026-11-20T08:02:10-06:00` for an instant of the API, in the zone of the building; an en dash for none */
export function localInstant(instant: string | number | null | undefined, timezone: string): string {
  const ms = typeof instant === 'string' ? parseInstant(instant) : instant
  if (ms === undefined || ms === null) return '–'
  const ahead = offsetAt(ms, timezone)
  const wall = formatInstant(Math.floor(ms / 1000) * 1000 + ahead).slice(0, 19)
  const minutes = Math.abs(ahead) / MINUTE
  return `${wall}${ahead < 0 ? '-' : '+'}${two(Math.floor(Math.abs(ahead) / HOUR))}:${two(Math.round(minutes % 60))}`
}
const two = (n: number): string => String(n).padStart(2, '0')

/** Text from devices and people becomes one line of bounded length, so that it cannot pass for text of the server. */
export function cell(value: string | number | boolean | null | undefined, max = CELL_MAX): string {
  if (value === null || value === undefined || value === '') return '–'
  const line = String(value)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replaceAll('|', '¦')
    .trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

/** @returns a table of one line for each row, columns parted by ` | ` */
export const table = (columns: string[], rows: string[][]): string => [columns, ...rows].map(row => row.join(' | ')).join('\n')

export const bytesOf = (text: string): number => Buffer.byteLength(text)

/** @returns as much of a text as one answer holds, cut after a whole line, and said so */
export function clip(text: string, how = 'ask for less'): string {
  if (bytesOf(text) <= ANSWER_BYTES_MAX) return text
  const note = `\n(cut at ${ANSWER_BYTES_MAX / 1024} KiB: ${how})`
  let bytes = bytesOf(note)
  const lines: string[] = []
  for (const line of text.split('\n')) {
    bytes += bytesOf(line) + 1
    if (bytes > ANSWER_BYTES_MAX) break
    lines.push(line)
  }
  return lines.join('\n') + note
}

type Page<T> = { items: T[]; next_cursor?: string | undefined }

/**
 * One page of a list as text with the cursor of the next page. A page that would exceed the bound is asked for again with as many
 * items as fit, so that the cursor stays one of central's own.
 *
 * @param fetch reads at most `limit` items
 * @param render writes items; more items never make it shorter
 * @param limit at least 1
 */
export async function pageText<T>(
  fetch: (limit: number) => Promise<Page<T>>,
  render: (items: T[]) => string,
  limit: number,
): Promise<string> {
  const room = ANSWER_BYTES_MAX - CURSOR_ROOM
  let page = await fetch(limit)
  while (bytesOf(render(page.items)) > room && page.items.length > 1) {
    page = await fetch(Math.max(1, Math.floor((page.items.length * room) / bytesOf(render(page.items)) - 1)))
  }
  const text = clip(render(page.items))
  return page.next_cursor === undefined ? text : `${text}\n\nMore follows: call again with cursor "${page.next_cursor}".`
}

/** For the line that names the cursor: cursors have at most 512 characters. */
const CURSOR_ROOM = 1024

/** @returns items of a whole list from `cursor` on, for what central answers whole: the cursor is a number of items passed */
export function sliceOf<T>(all: T[], cursor: string | undefined): (limit: number) => Promise<Page<T>> {
  const from = Number(cursor ?? 0)
  return async limit => {
    const items = all.slice(from, from + limit)
    return from + items.length < all.length ? { items, next_cursor: String(from + items.length) } : { items }
  }
}

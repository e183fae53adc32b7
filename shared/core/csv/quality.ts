/** Reads `quality.json` of a package: windows within which its data can be trusted. */
import { untrustedOutside, withoutSpan, type UntrustedSpan, mergeUntrusted } from '#shared/core/series/untrusted-spans.ts'
import type { Meaning } from './local-clock.ts'
import type { JsonResult } from './package-json.ts'
import { parseTimestamp } from './timestamp.ts'
import { meaningOf } from './timeline.ts'

/** Maximum number of windows in one file. */
export const WINDOWS_MAX = 1000

const LISTS = ['trusted_windows', 'trusted', 'windows']
const STARTS = ['from', 'start', 'start_utc', 'start_at', 'begin']
const ENDS = ['to', 'end', 'end_utc', 'end_at', 'stop']

/**
 * @param local converts a wall clock; undefined where times without an offset are UTC
 * @returns the windows; undefined where the file has none, so that all data is trusted
 */
export function readQuality(
  json: unknown,
  local: ((wallMs: number) => Meaning) | undefined,
): JsonResult<UntrustedSpan[] | undefined> {
  if (!isRecord(json)) return { ok: false, complaints: ['is not a JSON object'] }
  const named = LISTS.find(name => json[name] !== undefined)
  if (named === undefined) return { ok: true, value: undefined }
  const list = json[named]
  if (!Array.isArray(list)) return { ok: false, complaints: [`${named} is not a list`] }
  if (list.length > WINDOWS_MAX)
    return { ok: false, complaints: [`has ${list.length} windows; at most ${WINDOWS_MAX} are accepted`] }
  const read = list.map((entry: unknown, i) => readWindow(entry, `${named}, entry ${i + 1}`, local))
  const complaints = read.flatMap(one => (typeof one === 'string' ? [one] : []))
  if (complaints.length > 0) return { ok: false, complaints }
  return { ok: true, value: mergeUntrusted(read.filter(one => typeof one !== 'string')) }
}

function readWindow(entry: unknown, place: string, local: ((wallMs: number) => Meaning) | undefined): UntrustedSpan | string {
  const ends = Array.isArray(entry) ? entry : isRecord(entry) ? [pick(entry, STARTS), pick(entry, ENDS)] : []
  const [from, to] = ends.map(text => instantOf(text, local))
  if (from === undefined || to === undefined) return `${place}: has no readable from and to`
  return from < to ? [from, to] : `${place}: ends before it begins`
}

const pick = (record: Record<string, unknown>, names: string[]): unknown =>
  record[names.find(name => record[name] !== undefined) ?? '']

function instantOf(text: unknown, local: ((wallMs: number) => Meaning) | undefined): number | undefined {
  const meaning = typeof text === 'string' ? meaningOf(parseTimestamp(text), 'mdy', local, Infinity) : undefined
  return typeof meaning === 'number' ? meaning : undefined
}

const isRecord = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/**
 * The untrusted spans of a point after an import. The package concerns only its own span.
 *
 * @param before untrusted spans so far
 * @param span span of the data of the package
 * @param windows trusted windows of its `quality.json`; undefined without one, so that its whole span is trusted
 */
export function untrustedAfter(
  before: readonly UntrustedSpan[] = [],
  span: UntrustedSpan,
  windows: readonly UntrustedSpan[] | undefined,
): UntrustedSpan[] {
  return mergeUntrusted([...withoutSpan(before, span), ...(windows ? untrustedOutside(windows, span) : [])])
}

/** Notices of a hub to an edge about the edge itself, under its acks topic and in answers over HTTP. */
import type { Decoded } from './body.ts'
import { decodeWith, fields, list, type MemberPath, text } from './read.ts'

export type Notice = {
  /**
   * `metadata_refused`: nothing of this edge can be stored. `building_taken_over`: two edges speak for one building.
   * `tenant_over_budget`: the budget of the tenant is used up, or the edge has brought all that one may, so it retains its messages and tries seldom.
   * `readings_misdated`: readings came whose times cannot be right; they are kept apart from history.
   */
  code: 'metadata_refused' | 'building_taken_over' | 'tenant_over_budget' | 'readings_misdated'
  text: string
}

/** Most notices of one message; a building has few edges. */
const NOTICES_MAX = 20
const TEXT_MAX = 500
/** A notice that is not repeated for so long is over, ms: the hub repeats it with each status, once a minute. */
export const NOTICE_MS = 150_000

/** @returns the body, ready for `packBody` */
export const writeNotices = (notices: readonly Notice[]): object => ({
  notices: notices.slice(0, NOTICES_MAX).map(({ code, text }) => ({ code, text: text.slice(0, TEXT_MAX) })),
})

/** A notice as an edge reads it: one with a code that this version does not know is shown too. */
export type HeardNotice = { code: string; text: string }

export const readNotices = (body: Record<string, unknown>): Decoded<HeardNotice[]> =>
  decodeWith(() => list(fields(body, ''), 'notices', NOTICES_MAX, readNotice))

function readNotice(value: unknown, path: MemberPath): HeardNotice {
  const from = fields(value, path)
  return { code: text(from, 'code', 64), text: text(from, 'text', TEXT_MAX) }
}

/** Status of an edge, and what the hub acknowledges (contract §8). */
import type { DiskSpace } from '../disk-use.ts'
import { formatInstant, INSTANT_END, INSTANT_MIN, parseInstant } from '../time.ts'
import type { SystemReport } from '../update/update-wire.ts'
import type { Decoded } from './body.ts'
import type { PollReport } from './poll-report.ts'
import { decodeWith, fields, flag, instant, integer, list, optional, type MemberPath, text, uuid } from './read.ts'

type EdgeStatus = {
  online: boolean
  /** By the edge's clock, ms since 1970 UTC: the answer names it. */
  sent_at: number
  version: string
  /** Differs after every start of the edge's process. */
  boot_id: string
  /** Messages that wait to be acknowledged, when the oldest was written (ms since 1970 UTC), and by how many they become fewer in a minute. */
  backlog: { rows: number; oldest_at: number | null; drain_per_min: number | null }
  /** ms by which the edge's clock is ahead of the hub's; null before the hub has answered. */
  clock_offset_ms: number | null
  /** Messages dropped since start, for want of room. */
  dropped: number
  /** Messages thinned since start, for want of room, to one value for each point and quarter of an hour. */
  thinned: number
  /** Of the outbox. */
  disk: DiskSpace
  /** When the certificate of its session ends; null where it has none. */
  cert_not_after: number | null
  /** Two thirds of its life are over: the hub should renew it. */
  cert_renewal_due?: true
  /** The same of the certificate of its HTTPS port. */
  port_cert_renewal_due?: true
  /** Whether it runs the rules itself and sends what they find. */
  runs_rules: boolean
  /** When its newest run of the rules ended, by its clock; null before the first. Absent where it runs none. */
  last_check_at?: number | null
  /** How its polling goes. */
  poll: PollReport
  /** The system of the box, where it is ours. */
  system?: SystemReport
  /** Note for an engineer: the reason for a new stream of the outbox. */
  note?: string
}

const orNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))

/** @returns the body, ready for `packBody` */
export function writeStatus({ sent_at, backlog, cert_not_after, last_check_at, ...status }: EdgeStatus): object {
  return {
    ...status,
    sent_at: formatInstant(sent_at),
    backlog: { ...backlog, oldest_at: orNull(backlog.oldest_at) },
    cert_not_after: orNull(cert_not_after),
    ...(last_check_at !== undefined && { last_check_at: orNull(last_check_at) }),
  }
}

/** @returns when an edge whose status this is has ended its newest run of the rules, by the clock of the hub; null where it does not say */
export function checkedAt({ last_check_at, clock_offset_ms }: Record<string, unknown>): number | null {
  const at = typeof last_check_at === 'string' ? parseInstant(last_check_at) : undefined
  if (at === undefined) return null
  const shifted = typeof clock_offset_ms === 'number' ? at - clock_offset_ms : at
  return shifted >= INSTANT_MIN && shifted < INSTANT_END ? shifted : null
}

/** The last will of an edge: the broker publishes it when the connection ends without DISCONNECT. */
export const writeLastWill = (boot_id: string): object => ({ online: false, boot_id })

/**
 * Reads a status or last will.
 *
 * @returns whether the edge is online, when it was sent where it says so, and the message: whole of one that is online, else only what
 *   a last will says, because it is stored beside what the last status said
 */
export function readStatus(
  body: Record<string, unknown>,
): Decoded<{ online: boolean; sent_at?: number; body: Record<string, unknown> }> {
  return decodeWith(() => {
    const from = fields(body, '')
    const online = flag(from, 'online')
    const { boot_id } = body
    const will = { online, ...(typeof boot_id === 'string' && { boot_id }) }
    return { online, ...optional(from, 'sent_at', instant), body: online ? body : will }
  })
}

/** The hub's answer to a status: when the edge sent it, by the edge's clock, and the time of the hub's clock, ms since 1970 UTC. */
export type StatusAnswer = { sent_at: number; at: number }

/** @returns the body, ready for `packBody` */
export const writeStatusAnswer = ({ sent_at, at }: StatusAnswer): object => ({
  status: { sent_at: formatInstant(sent_at), at: formatInstant(at) },
})

export const isStatusAnswer = (body: Record<string, unknown>): boolean => 'status' in body

export function readStatusAnswer(body: Record<string, unknown>): Decoded<StatusAnswer> {
  return decodeWith(() => {
    const from = fields(body.status, 'status')
    return { sent_at: instant(from, 'sent_at'), at: instant(from, 'at') }
  })
}

export type Ack = {
  stream: string
  /** Everything up to this place is stored. */
  through_seq: number
  /** Id of the message with that number: an edge with another message there uses an older copy of its outbox. Absent where it is not known. */
  through_id?: string
  /** Time by the hub's clock, ms since 1970 UTC. */
  at?: number
  /** Messages that the hub could number but not use. */
  rejected?: { seq: number; reason: string }[]
}
/** Most rejections in one acknowledgement. */
export const REJECTED_MAX = 50

/** @returns the body, ready for `packBody` */
export const writeAck = ({ at, ...ack }: Ack): object => ({ ...ack, ...(at !== undefined && { at: formatInstant(at) }) })

export function readAck(body: Record<string, unknown>): Decoded<Ack> {
  return decodeWith(() => {
    const from = fields(body, '')
    return {
      stream: uuid(from, 'stream'),
      through_seq: integer(from, 'through_seq', 0),
      ...optional(from, 'through_id', uuid),
      ...optional(from, 'at', instant),
      rejected: from.body.rejected === undefined ? [] : list(from, 'rejected', REJECTED_MAX, readRejection),
    }
  })
}

function readRejection(value: unknown, path: MemberPath): { seq: number; reason: string } {
  const from = fields(value, path)
  return { seq: integer(from, 'seq', 1), reason: text(from, 'reason') }
}

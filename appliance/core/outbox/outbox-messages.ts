/** The messages of an outbox: how readings and findings are split into them, and how old ones are downsampled. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Protocol } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { FINDINGS_MAX } from '#shared/core/telemetry/findings.ts'
import { MESSAGE_POINTS_MAX } from '#shared/core/telemetry/telemetry.ts'
import { MINUTE } from '#shared/core/time.ts'
import { TELEMETRY_PROTOCOLS, type TelemetryProtocol } from '#shared/core/topic/topics.ts'

/**
 * `thinned`: downsampled from older messages; it is not downsampled again. `not_before`: when the version that read them was made, ms
 * since 1970 UTC, where some of them are dated before: the clock was wrong.
 */
export type TelemetryBody = { protocol: TelemetryProtocol; readings: Reading[]; not_before?: number; thinned?: true }
type FindingsBody = { findings: Finding[]; withdrawn?: string[] }
export type MessageBody = TelemetryBody | FindingsBody
/** One message as the log stores it. `at`: when it was written, ms since 1970 UTC. */
export type OutboxMessage = { at: number; message_id: string } & MessageBody

/** Most JSON characters of the readings or findings of one message: with its envelope it stays below the 256 KiB of the wire. */
const CHARACTERS_MAX = 200 * 1024
/** JSON characters of the rest of a message and of its line in the log, rounded up. */
const ENVELOPE_CHARACTERS = 300
/** Downsampling leaves one reading for each point and interval (contract §8). */
const INTERVAL_MS = 15 * MINUTE

/**
 * @param notBefore when the version that has read them was made, ms since 1970 UTC
 * @throws RangeError for a point of a protocol that is not polled
 */
export function telemetryBodies(
  readings: Reading[],
  protocolOf: (point_id: string) => Protocol,
  notBefore = -Infinity,
): TelemetryBody[] {
  const byProtocol = Map.groupBy(readings, ({ id }) => protocolOf(id))
  return [...byProtocol].flatMap(([protocol, some]) => {
    if (!TELEMETRY_PROTOCOLS.includes(protocol as TelemetryProtocol)) throw new RangeError(`${protocol} is not polled`)
    return split(some, MESSAGE_POINTS_MAX).map(part => ({
      protocol: protocol as TelemetryProtocol,
      readings: part,
      ...(part.some(({ t }) => t < notBefore) && { not_before: notBefore }),
    }))
  })
}

export const findingsBodies = (findings: Finding[], withdrawn: string[]): FindingsBody[] => [
  ...split(withdrawn, FINDINGS_MAX).map(part => ({ findings: [], withdrawn: part })),
  ...split(findings, FINDINGS_MAX).map(part => ({ findings: part })),
]

/** @returns the current state of the findings with these ids; `withdrawn` lists the ids that are no findings any more */
export type LookUpFindings = (finding_ids: string[]) => { findings: Finding[]; withdrawn: string[] }

export type ThinnedMessages = {
  /** Telemetry to write again, oldest first. */
  keep: ({ at: number } & TelemetryBody)[]
  /** Findings that the messages were about. */
  finding_ids: string[]
  /** Sequences of the messages of which nothing is left. */
  dropped: Set<number>
  /** Sequences of the messages that are downsampled now. */
  thinned: Set<number>
}

/**
 * Decides what remains of the oldest messages when they are evicted. Readings are downsampled; earlier downsampled messages
 * remain while they fit, newest first. Readings that do not fit even when they are downsampled are dropped.
 *
 * @param oldest in the order of the log
 * @param charactersMax of what remains
 * @param canLookUpFindings whether the current state of findings is written again; without it they are dropped
 */
export function thinOldest(
  oldest: readonly { seq: number; record: OutboxMessage }[],
  charactersMax: number,
  canLookUpFindings: boolean,
): ThinnedMessages {
  const dropped = new Set(oldest.flatMap(({ seq, record }) => ('findings' in record && !canLookUpFindings ? [seq] : [])))
  const telemetry = oldest.flatMap(({ seq, record }) => ('readings' in record ? [{ seq, record }] : []))
  const whole = telemetry.filter(({ record }) => !record.thinned)
  const alike = Map.groupBy(whole, ({ record: { protocol, not_before } }) => `${protocol} ${not_before}`)
  const thinned = [...alike.values()].flatMap(some => {
    const readings = downsample(some.flatMap(({ record }) => record.readings))
    const { at, protocol, not_before } = some[0]!.record
    const head = { at, protocol, ...(not_before !== undefined && { not_before }) }
    return split(readings, MESSAGE_POINTS_MAX).map(part => ({ ...head, readings: part, thinned: true as const }))
  })
  const fits = thinned.reduce((sum, body) => sum + sizeOf(body), 0) <= charactersMax
  if (!fits) for (const { seq } of whole) dropped.add(seq)
  const added = fits ? thinned : []
  let room = charactersMax - added.reduce((sum, body) => sum + sizeOf(body), 0)
  const earlier = telemetry.filter(({ record }) => record.thinned).toReversed()
  const remaining = earlier.filter(({ seq, record }) => {
    room -= sizeOf(record)
    if (room < 0) dropped.add(seq)
    return room >= 0
  })
  const keep = [...remaining.toReversed().map(({ record: { message_id: _message_id, ...body } }) => body), ...added]
  return {
    keep,
    finding_ids: [...new Set(oldest.flatMap(({ record }) => findingIdsOf(record)))],
    dropped,
    thinned: new Set(fits ? whole.map(({ seq }) => seq) : []),
  }
}

/**
 * Downsamples readings. Values are never averaged: each reading that is left is one that the device gave, at its own time.
 *
 * @returns of each point the first good reading in each interval (UTC), or the first reading where none is good; in the
 * order of `readings`
 */
export function downsample(readings: readonly Reading[]): Reading[] {
  const chosen = new Map<string, number>()
  for (const [i, { id, t, q }] of readings.entries()) {
    const key = `${id} ${Math.floor(t / INTERVAL_MS)}`
    const before = chosen.get(key)
    const isBetter = before === undefined || (readings[before]!.q !== 'good' && q === 'good')
    if (isBetter) chosen.set(key, i)
  }
  return [...chosen.values()].toSorted((a, b) => a - b).map(i => readings[i]!)
}

const sizeOf = ({ readings }: TelemetryBody): number => ENVELOPE_CHARACTERS + JSON.stringify(readings).length
const findingIdsOf = (record: OutboxMessage): string[] =>
  'findings' in record ? [...record.findings.map(({ finding_id }) => finding_id), ...(record.withdrawn ?? [])] : []

/** Splits a list into parts that each fit into a message. */
function split<T>(list: T[], countMax: number): T[][] {
  const parts: T[][] = []
  let room = 0
  for (const element of list) {
    const size = JSON.stringify(element).length
    if (parts.length === 0 || parts.at(-1)!.length === countMax || size > room) {
      parts.push([])
      room = CHARACTERS_MAX
    }
    parts.at(-1)!.push(element)
    room -= size
  }
  return parts
}

/** `svc_telemetry_v1`: readings of one protocol (contract §8). */
import { QUALITIES, type Reading, type Value } from './reading.ts'
import { formatInstant } from '../time.ts'
import { TELEMETRY_PROTOCOLS, type TelemetryProtocol } from '../topic/topics.ts'
import type { Decoded } from './body.ts'
import { type Envelope, readEnvelope, writeEnvelope } from './envelope.ts'
import {
  choice,
  decodeWith,
  type Fields,
  fields,
  flag,
  id,
  instant,
  type MemberPath,
  optional,
  type Refused,
  text,
  unfit,
  usableOf,
} from './read.ts'

const TELEMETRY_SCHEMA = 'svc_telemetry_v1'
/** Most points in a message. */
export const MESSAGE_POINTS_MAX = 500
/** Longest text value, characters. */
const TEXT_MAX = 1024

/** `u`: the unit that the sender says it is in; values are in the unit that the point was declared with. */
export type StatedReading = Reading & { u?: string }
type Telemetry = Envelope & {
  protocol: TelemetryProtocol
  /** Whether the edge's clock followed a time server; null where the machine does not say. */
  time_synced: boolean | null
  /** When the version that read them was made, ms since 1970 UTC; only where some of the readings are dated before. */
  not_before?: number
  readings: StatedReading[]
}

/** @returns the body, ready for `packBody` */
export function writeTelemetry({ protocol, time_synced, not_before, readings, ...envelope }: Telemetry): object {
  const points = readings.map(({ id, t, v, q }) => ({ id, t: formatInstant(t), v, q }))
  const made = not_before !== undefined && { not_before: formatInstant(not_before) }
  return { ...writeEnvelope(TELEMETRY_SCHEMA, envelope), protocol, time_synced, ...made, points }
}

/**
 * Reads a message reading by reading: invalid ones are reported, the rest is accepted.
 *
 * @param usual its readings where they have been read
 * @returns not ok when the head does not fit
 */
export function readTelemetry(
  body: Record<string, unknown>,
  usual?: StatedReading[],
): Decoded<Telemetry & { refused: Refused[] }> {
  return decodeWith(() => {
    const from = fields(body, '')
    const { usable: readings, refused } = usual
      ? { usable: usual, refused: [] }
      : usableOf(from, 'points', MESSAGE_POINTS_MAX, readPoint)
    if (readings.length + refused.length === 0) unfit('points', 'a list of at least 1', [])
    const head = {
      ...readEnvelope(from, TELEMETRY_SCHEMA),
      protocol: choice(from, 'protocol', TELEMETRY_PROTOCOLS),
      time_synced: body.time_synced === null ? null : flag(from, 'time_synced'),
      ...optional(from, 'not_before', instant),
    }
    return { ...head, readings, refused }
  })
}

export function readPoint(value: unknown, path: MemberPath): StatedReading {
  const from = fields(value, path)
  const reading = { id: id(from, 'id'), t: instant(from, 't'), v: readValue(from), q: choice(from, 'q', QUALITIES) }
  return from.body['u'] === undefined ? reading : { ...reading, u: text(from, 'u') }
}

function readValue(from: Fields): Value {
  const { v } = from.body
  if (v === null || typeof v === 'boolean' || Number.isFinite(v)) return v as Value
  if (typeof v === 'string') return text(from, 'v', TEXT_MAX)
  return unfit(`${from.path}.v`, 'a number, true, false, text or null', v)
}

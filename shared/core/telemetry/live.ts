/**
 * `svc_live_v1`: the newest readings of an edge whose older ones are still on their way. A hub shows them at once and never stores
 * them: they have no number in the stream, and arrive again in it.
 */
import { formatInstant } from '../time.ts'
import type { TelemetryProtocol } from '../topic/topics.ts'
import type { Decoded } from './body.ts'
import { decodeWith, fields, id, list } from './read.ts'
import type { Reading } from './reading.ts'
import { MESSAGE_POINTS_MAX, readPoint } from './telemetry.ts'

const LIVE_SCHEMA = 'svc_live_v1'

export type Live = { building_id: string; readings: Reading[] }
/** The newest reading of a point; undefined where none is known beside history. */
export type LiveReader = (building_id: string, point_id: string) => Reading | undefined

export const isLive = (body: Record<string, unknown>): boolean => body['schema'] === LIVE_SCHEMA

/** @returns the body, ready for `packBody` */
export const writeLive = ({ building_id, protocol, readings }: Live & { protocol: TelemetryProtocol }): object => ({
  schema: LIVE_SCHEMA,
  building_id,
  protocol,
  points: readings.map(({ id: point_id, t, v, q }) => ({ id: point_id, t: formatInstant(t), v, q })),
})

/** @param body whose `schema` is that of `isLive` */
export const readLive = (body: Record<string, unknown>): Decoded<Live> =>
  decodeWith(() => {
    const from = fields(body, '')
    return { building_id: id(from, 'building_id'), readings: list(from, 'points', MESSAGE_POINTS_MAX, readPoint) }
  })

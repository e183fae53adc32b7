/** What `scripts/bench ingest` sends: the same points to every receiver. */
import { randomUUID } from 'node:crypto'
import type { Point } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { type EdgeModel, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { MESSAGE_POINTS_MAX, writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { MINUTE } from '#shared/core/time.ts'

export const EDGES = 20
export const SITE_ID = 'bench'
/** Points of each edge, each with a value a minute. */
export const POINTS = 100
/** Messages of each edge, each as large as a message may be. */
export const MESSAGES = 100
export const SAMPLES = EDGES * MESSAGES * MESSAGE_POINTS_MAX
const MINUTES_EACH = MESSAGE_POINTS_MAX / POINTS
export const edgeId = (edge: number): string => `edge-${edge}`

/** The readings of one message: values move as those of a plant do. */
export function benchReadings(edge: number, message: number, until: number): Reading[] {
  const first = until - (MESSAGES - message) * MINUTES_EACH * MINUTE
  return Array.from({ length: MESSAGE_POINTS_MAX }, (_, i) => {
    const [point, minute] = [i % POINTS, Math.floor(i / POINTS)]
    const t = first + minute * MINUTE
    const v = Math.round(2000 + 500 * Math.sin((t / MINUTE + 7 * point + edge) / 120)) / 100
    return { id: `edge-${edge}.p${point}`, t, v, q: 'good' }
  })
}

/** Metadata and all messages of an edge, packed before the clock starts. */
export function messagesOf(edge: number, until: number): { metadata: Buffer; stream: string; telemetry: Buffer[] } {
  const [edge_id, stream] = [edgeId(edge), randomUUID()]
  const telemetry = Array.from({ length: MESSAGES }, (_, message) =>
    packBody(
      writeTelemetry({
        ...{ message_id: randomUUID(), stream, seq: message + 1, sent_at: until, site_id: SITE_ID, edge_id },
        ...{ protocol: 'bacnet', time_synced: true, readings: benchReadings(edge, message, until) },
      }),
    ),
  )
  return { metadata: packBody(writeMetadata(SITE_ID, edge_id, modelOf(edge))), stream, telemetry }
}

export function modelOf(edge: number): EdgeModel {
  const [building_id, equipment_id] = [`building-${edge}`, `ahu-${edge}`]
  return {
    name: edgeId(edge),
    version: '0.0.0',
    building: { building_id, name: building_id, site_id: SITE_ID, timezone: 'UTC', unit_system: 'si' },
    equipment: [{ building_id, equipment_id, name: equipment_id, equipment_type: 'ahu' }],
    points: Array.from({ length: POINTS }, (_, i): Point => {
      const point_id = `edge-${edge}.p${i}`
      const source = { protocol: 'bacnet', address: point_id } as Point['source']
      return { building_id, equipment_id, point_id, name: point_id, unit: 'degC', kind: 'number', source }
    }),
  }
}

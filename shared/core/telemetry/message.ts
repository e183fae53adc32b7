/** A telemetry or findings message as the hub takes it: what it holds, or how far it can be understood. */
import type { Finding } from '../finding.ts'
import type { Reading } from '../reading.ts'
import type { Topic } from '../topic/topics.ts'
import { type Decoded, MESSAGE_MAX, unpackBody } from './body.ts'
import type { Envelope } from './envelope.ts'
import { readFindings } from './findings.ts'
import { decodeWith, fields, integer, uuid } from './read.ts'
import { readTelemetry } from './telemetry.ts'

export type Received =
  | { state: 'good'; stream: string; seq: number; readings: Reading[]; findings: Finding[] }
  /** It has a place in the stream, but nothing that can be stored. */
  | { state: 'unusable'; stream: string; seq: number; reason: string }
  /** Not even its place in the stream can be read. */
  | { state: 'unreadable'; reason: string }

/** @param topic what the broker let it be published to: nobody else can have sent it */
export function receive(topic: Topic & { kind: 'telemetry' | 'findings' }, payload: Uint8Array): Received {
  const body = unpackBody(payload, MESSAGE_MAX)
  if (!body.ok) return { state: 'unreadable', reason: body.reason }
  const decoded = topic.kind === 'telemetry' ? decodeTelemetry(topic, body.value) : decodeFindings(topic, body.value)
  if (decoded.ok) return { state: 'good', ...decoded.value }
  const place = decodeWith(() => {
    const from = fields(body.value, '')
    return { stream: uuid(from, 'stream'), seq: integer(from, 'seq', 1) }
  })
  return place.ok
    ? { state: 'unusable', ...place.value, reason: decoded.reason }
    : { state: 'unreadable', reason: `${decoded.reason}; ${place.reason}` }
}

type Content = { stream: string; seq: number; readings: Reading[]; findings: Finding[] }

function decodeTelemetry(topic: Topic, body: Record<string, unknown>): Decoded<Content> {
  const telemetry = readTelemetry(body)
  if (!telemetry.ok) return telemetry
  const { stream, seq, readings, protocol } = telemetry.value
  if (protocol !== topic.protocol) return { ok: false, reason: `protocol ${protocol} came under ${topic.protocol}` }
  return strange(topic, telemetry.value) ?? { ok: true, value: { stream, seq, readings, findings: [] } }
}

function decodeFindings(topic: Topic, body: Record<string, unknown>): Decoded<Content> {
  const message = readFindings(body)
  if (!message.ok) return message
  const { stream, seq, findings } = message.value
  return strange(topic, message.value) ?? { ok: true, value: { stream, seq, readings: [], findings } }
}

function strange({ site_id, edge_id }: Topic, envelope: Envelope): { ok: false; reason: string } | undefined {
  if (envelope.site_id === site_id && envelope.edge_id === edge_id) return undefined
  return { ok: false, reason: `it says ${envelope.site_id}/${envelope.edge_id} and came from ${site_id}/${edge_id}` }
}

/** Decodes a telemetry or findings message: its content, or why it cannot be used. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Topic } from '../topic/topics.ts'
import { type Decoded, MESSAGE_MAX, parseBody, unpackText } from './body.ts'
import type { Envelope } from './envelope.ts'
import { readFindings } from './findings.ts'
import { isLive, type Live, readLive } from './live.ts'
import { decodeWith, fields, integer, optional, type Refused, uuid } from './read.ts'
import { readTelemetry, type StatedReading } from './telemetry.ts'
import { readUsual } from './usual-points.ts'

export type Received =
  | ({ state: 'good' } & Content)
  /** Stream and sequence number can be read, but nothing can be stored. */
  | { state: 'unusable'; stream: string; seq: number; message_id?: string; reason: string }
  /** Stream and sequence number cannot be read. */
  | { state: 'unreadable'; reason: string }

/** Live values, which have no number in the stream and are not stored; or why they cannot be read. */
type ReceivedLive = { state: 'live'; live: Decoded<Live> }

export type MessageTopic = Topic & { kind: 'telemetry' | 'findings' }
export const isMessageTopic = (topic: Topic): topic is MessageTopic => topic.kind === 'telemetry' || topic.kind === 'findings'

/** Decodes what was published under a topic. */
export function receiveMessage(topic: MessageTopic, payload: Uint8Array): Received | ReceivedLive {
  const text = unpackText(payload, MESSAGE_MAX)
  const usual = text.ok ? readUsual(text.value) : undefined
  if (usual && !isLive(usual.body)) return receiveBody(topic, usual.body, usual.readings)
  const body = text.ok ? parseBody(text.value) : text
  if (!body.ok) return { state: 'unreadable', reason: body.reason }
  return isLive(body.value) ? { state: 'live', live: readLive(body.value) } : receiveBody(topic, body.value)
}

/**
 * @param topic checked by the broker against the certificate of the sender; `body`: already unpacked
 * @param usual the points of telemetry where they have been read, which the body then does not have
 */
export function receiveBody(topic: MessageTopic, body: Record<string, unknown>, usual?: StatedReading[]): Received {
  const decoded = topic.kind === 'telemetry' ? decodeTelemetry(topic, body, usual) : decodeFindings(topic, body)
  if (decoded.ok) return { state: 'good', ...decoded.value }
  const place = decodeWith(() => {
    const from = fields(body, '')
    return { stream: uuid(from, 'stream'), seq: integer(from, 'seq', 1), ...optional(from, 'message_id', uuid) }
  })
  return place.ok
    ? { state: 'unusable', ...place.value, reason: decoded.reason }
    : { state: 'unreadable', reason: [...new Set([decoded.reason, place.reason])].join('; ') }
}

export type Content = {
  stream: string
  seq: number
  message_id: string
  building_id?: string
  readings: StatedReading[]
  /** When the version that read them was made, ms since 1970 UTC. */
  not_before?: number
  /** Readings of the message that are not among `readings`. */
  refused: Refused[]
  findings: Finding[]
  /** Ids of findings that the newest run no longer has. */
  withdrawn: string[]
}

function decodeTelemetry(topic: Topic, body: Record<string, unknown>, usual?: StatedReading[]): Decoded<Content> {
  const telemetry = readTelemetry(body, usual)
  if (!telemetry.ok) return telemetry
  const { stream, seq, message_id, building_id, readings, not_before, refused, protocol } = telemetry.value
  if (protocol !== topic.protocol) return { ok: false, reason: `protocol is ${protocol}, and the topic is for ${topic.protocol}` }
  const head = { stream, seq, message_id, ...buildingMember(building_id), ...(not_before !== undefined && { not_before }) }
  return (
    senderMismatch(topic, telemetry.value) ?? { ok: true, value: { ...head, readings, refused, findings: [], withdrawn: [] } }
  )
}

function decodeFindings(topic: Topic, body: Record<string, unknown>): Decoded<Content> {
  const message = readFindings(body)
  if (!message.ok) return message
  const { stream, seq, message_id, building_id, findings, withdrawn = [] } = message.value
  return (
    senderMismatch(topic, message.value) ?? {
      ok: true,
      value: { stream, seq, message_id, ...buildingMember(building_id), readings: [], refused: [], findings, withdrawn },
    }
  )
}

const buildingMember = (building_id: string | undefined) => (building_id === undefined ? {} : { building_id })

function senderMismatch({ site_id, edge_id }: Topic, envelope: Envelope): { ok: false; reason: string } | undefined {
  if (envelope.site_id === site_id && envelope.edge_id === edge_id) return undefined
  return { ok: false, reason: `it names edge ${envelope.site_id}/${envelope.edge_id}, and ${site_id}/${edge_id} sent it` }
}

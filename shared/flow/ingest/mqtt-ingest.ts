/** Ingest of messages that arrive over MQTT: decodes them and returns the acknowledgement or the notices to publish. */
import type { EdgeKey } from '#shared/core/model/model.ts'
import { METADATA_MAX, STATUS_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { isMessageTopic, type MessageTopic, receiveMessage } from '#shared/core/telemetry/message.ts'
import { readMetadata } from '#shared/core/telemetry/metadata.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import type { Ack, StatusAnswer } from '#shared/core/telemetry/status.ts'
import { parseTopic, type Topic } from '#shared/core/topic/topics.ts'
import { type Ingest, type MessageResult, readSession, rejectionOf } from './ingest.ts'

/** An acknowledgement, or notices and the answer to a status, and the edge that they are for. */
export type IngestReply = EdgeKey &
  ({ ack: Ack; notices?: undefined } | { ack?: undefined; notices?: Notice[]; status?: StatusAnswer })
export type AckReply = Extract<IngestReply, { ack: Ack }>

type PublishedMessage = { topic: MessageTopic; payload: Uint8Array }

/**
 * Processes one published message. After a failure of the store it is not acknowledged, so the edge repeats it.
 *
 * @param isRetained whether it is the copy that a broker keeps for new subscribers, which may be older than the edge's session
 */
export function processPublish(ingest: Ingest, name: string, payload: Uint8Array, isRetained = false): IngestReply | undefined {
  const topic = parseTopic(name)
  if (!topic) return void ingest.monitor.recordRejection(undefined, `topic ${name} is not one that edges publish to`)
  if (isMessageTopic(topic)) return processMessages(ingest, [{ topic, payload }])[0]
  return attempt(ingest, topic, () => {
    if (isRetained && ingest.registry.isDeleted(topic)) return undefined
    const { site_id, edge_id } = topic
    if (topic.kind === 'metadata') processMetadata(ingest, topic, payload)
    else if (topic.kind === 'status') {
      const status = processStatus(ingest, topic, payload, isRetained)
      const notices = noticesTo(ingest, { site_id, edge_id })
      return status ? { site_id, edge_id, ...notices, status } : notices
    } else return undefined
    return noticesTo(ingest, { site_id, edge_id })
  })
}

/**
 * Processes telemetry and findings, which are stored in one commit.
 *
 * @returns the replies in the order of the messages; what could not be stored has none, so the edge repeats it
 */
export function processMessages(ingest: Ingest, published: readonly PublishedMessage[]): IngestReply[] {
  const messages = published.map(({ topic, payload }) => ({ topic, read: () => receiveMessage(topic, payload) }))
  return ingest.storeMessages(messages, 'mqtt').flatMap((result, i) => {
    const { topic } = messages[i]!
    return attempt(ingest, topic, () => replyTo(ingest, topic, result)) ?? []
  })
}

/** A failure is recorded, and what belongs to other edges goes on. */
function attempt<T>(ingest: Ingest, topic: Topic, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    ingest.monitor.recordFailure(topic, error)
    return undefined
  }
}

function noticesTo(ingest: Ingest, edge: EdgeKey): IngestReply | undefined {
  const notices = ingest.registry.notices.noticesToSend(edge)
  return notices && { ...edge, notices }
}

function replyTo(ingest: Ingest, topic: MessageTopic, result: MessageResult): IngestReply | undefined {
  const { site_id, edge_id } = topic
  if (result.state === 'failed') ingest.monitor.recordFailure(topic, result.error)
  if (result.state === 'waiting' && result.for !== 'clock') return noticesTo(ingest, { site_id, edge_id })
  if (result.state !== 'processed') return undefined
  const { stream, seq, mark } = result
  const reason = rejectionOf(result)
  const rejected = reason !== undefined && { rejected: [{ seq, reason }] }
  return { site_id, edge_id, ack: { stream, ...mark, at: ingest.clock.now(), ...rejected } }
}

function processMetadata(ingest: Ingest, topic: Topic, payload: Uint8Array): void {
  const body = unpackBody(payload, METADATA_MAX)
  const metadata = body.ok ? readMetadata(body.value) : body
  if (metadata.ok) ingest.applyMetadata(topic, metadata.value, 'mqtt')
  else ingest.refuseMetadata(topic, metadata.reason)
}

/** @returns the time for an edge that has just sent its status, unless the own clock is not set: an edge without a time server uses it */
function processStatus(ingest: Ingest, topic: Topic, payload: Uint8Array, isRetained: boolean): StatusAnswer | undefined {
  const body = unpackBody(payload, STATUS_MAX)
  const status = body.ok ? readSession(body.value) : body
  if (!status.ok) return void ingest.monitor.recordRejection(topic, `status: ${status.reason}`)
  const { session, sent_at, fault } = status.value
  if (fault !== undefined) ingest.monitor.recordRejection(topic, `status: ${fault}`)
  ingest.applySession(topic, { ...session, isRetained }, 'mqtt')
  const at = ingest.clock.now()
  return sent_at === undefined || !session.online || isRetained || !isClockSet(at) ? undefined : { sent_at, at }
}

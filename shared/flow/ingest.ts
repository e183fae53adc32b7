/** What a hub does with what edges publish: store once, in order, acknowledge what is stored, know who is there. */
import type { Clock, Inbox } from '#shared/core/ports.ts'
import type { EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { type Decoded, METADATA_MAX, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { receive } from '#shared/core/telemetry/message.ts'
import { type Metadata, readMetadata } from '#shared/core/telemetry/metadata.ts'
import { type Ack, readStatus } from '#shared/core/telemetry/status.ts'
import { parseTopic, type Topic } from '#shared/core/topic/topics.ts'
import { edgeBook, type Session } from './edge-book.ts'

/** Counts since the process started, for health. Times are ms since 1970 UTC. */
export type IngestCounters = {
  ingest_ok: number
  ingest_duplicate: number
  ingest_rejected: number
  /** Messages of edges whose metadata has not come yet; they are not acknowledged. */
  ingest_waiting: number
  /** Messages that the store could not take; they are not acknowledged. */
  ingest_failed: number
  last_ingest_at: number | null
}
/** What is worth a line in the log. `edge` is `site_id/edge_id`. */
export type IngestEvent = { kind: 'rejected' | 'waiting' | 'failed'; edge: string; reason: string }

export type IngestParts = {
  inbox: Inbox
  model: ModelStore
  edges: EdgeStore
  clock: Clock
  notify(event: IngestEvent): void
}
/** An acknowledgement and whom it goes to. */
export type Reply = { site_id: string; edge_id: string; ack: Ack }
export type Ingest = ReturnType<typeof ingest>

type Message = Topic & { kind: 'telemetry' | 'findings' }

/** @returns the flow; `take` is synchronous, so what it acknowledges is committed when it returns */
export function ingest({ inbox, model, edges, clock, notify }: IngestParts) {
  const book = edgeBook(edges, model, clock)
  const counters = { ...NOTHING_YET }
  const reject = (topic: Topic | undefined, reason: string) => {
    counters.ingest_rejected++
    notify({ kind: 'rejected', edge: topic ? nameOf(topic) : 'unknown', reason })
  }

  const takeMessage = (topic: Message, payload: Uint8Array): Reply | undefined => {
    const { site_id, edge_id } = topic
    let received = receive(topic, payload)
    if (received.state === 'unreadable') return void reject(topic, received.reason)
    const building_id = book.buildingOf(topic)
    if (building_id === undefined) {
      counters.ingest_waiting++
      return void notify({ kind: 'waiting', edge: nameOf(topic), reason: 'its metadata has not come yet' })
    }
    const foreign = received.state === 'good' && received.findings.find(finding => finding.building_id !== building_id)
    if (foreign) received = { ...received, state: 'unusable', reason: `a finding is about ${foreign.building_id}` }
    const { stream, seq } = received
    const { readings, findings } = received.state === 'good' ? received : { readings: [], findings: [] }
    const { status, through_seq } = inbox.accept({ site_id, edge_id, building_id, stream, seq, readings, findings })
    if (status !== 'gap' && received.state === 'unusable') {
      if (status === 'stored') reject(topic, received.reason)
      return { site_id, edge_id, ack: { stream, through_seq, rejected: [{ seq, reason: received.reason }] } }
    }
    if (status === 'duplicate') counters.ingest_duplicate++
    if (status === 'stored') {
      counters.ingest_ok++
      counters.last_ingest_at = clock.now()
      book.heard(topic, newest(readings))
    }
    return { site_id, edge_id, ack: { stream, through_seq } }
  }

  const takeMetadata = (topic: Topic, payload: Uint8Array): void => {
    const metadata = decodeMetadata(payload)
    const reason = metadata.ok ? book.enter(topic, metadata.value) : metadata.reason
    if (reason !== undefined) reject(topic, `metadata: ${reason}`)
  }

  const takeStatus = (topic: Topic, payload: Uint8Array): void => {
    const status = decodeStatus(payload)
    if (status.ok) book.session(topic, status.value)
    else reject(topic, `status: ${status.reason}`)
  }

  return {
    /** @returns what to acknowledge, when there is something */
    take(name: string, payload: Uint8Array): Reply | undefined {
      const topic = parseTopic(name)
      if (!topic) return void reject(undefined, `nothing is expected under ${name}`)
      try {
        if (isMessage(topic)) return takeMessage(topic, payload)
        if (topic.kind === 'metadata') takeMetadata(topic, payload)
        if (topic.kind === 'status') takeStatus(topic, payload)
      } catch (error) {
        counters.ingest_failed++
        notify({ kind: 'failed', edge: nameOf(topic), reason: (error as Error).message })
      }
      return undefined
    },
    /** Writes what has been seen of edges since the last call. */
    flush: book.flush,
    /** Connected anew: of no edge is it known whether it is still there. */
    doubtSessions: book.doubt,
    /** Those that have said nothing since `doubtSessions` are not there. */
    endDoubt: book.endDoubt,
    counters: (): IngestCounters => ({ ...counters }),
  }
}

const NOTHING_YET: IngestCounters = {
  ingest_ok: 0,
  ingest_duplicate: 0,
  ingest_rejected: 0,
  ingest_waiting: 0,
  ingest_failed: 0,
  last_ingest_at: null,
}

function decodeMetadata(payload: Uint8Array): Decoded<Metadata> {
  const body = unpackBody(payload, METADATA_MAX)
  return body.ok ? readMetadata(body.value) : body
}

function decodeStatus(payload: Uint8Array): Decoded<Session> {
  const body = unpackBody(payload, SMALL_MAX)
  return body.ok ? readStatus(body.value) : body
}

const nameOf = ({ site_id, edge_id }: Topic): string => `${site_id}/${edge_id}`
const isMessage = (topic: Topic): topic is Message => topic.kind === 'telemetry' || topic.kind === 'findings'
const newest = (readings: { t: number }[]): number => readings.reduce((max, { t }) => Math.max(max, t), -Infinity)

/** What a central does with what edges send: store once, in order, acknowledge what is stored, know who is there. */
import type { Clock, Inbox } from '#shared/core/ports.ts'
import { implausibleTime, isClockSet, misdatedFinding, separateMisdated } from '#shared/core/telemetry/misdated.ts'
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { EdgeClaims, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { type Decoded, METADATA_MAX, STATUS_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { type Received, receive } from '#shared/core/telemetry/message.ts'
import { type Metadata, readMetadata } from '#shared/core/telemetry/metadata.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'
import { readPollReport } from '#shared/core/telemetry/poll-report.ts'
import { type Ack, readStatus } from '#shared/core/telemetry/status.ts'
import { refuseOtherUnits } from '#shared/core/telemetry/stated-units.ts'
import type { Refused } from '#shared/core/telemetry/telemetry.ts'
import { parseTopic, type Topic } from '#shared/core/topic/topics.ts'
import { edgeBook, type EdgeSession } from './edge-registry.ts'

/** Counts since the process started, for health. Times are ms since 1970 UTC. */
type IngestCounters = {
  ingest_ok: number
  ingest_duplicate: number
  ingest_rejected: number
  /** Messages of edges whose metadata has not come yet; they are not acknowledged. */
  ingest_waiting: number
  /** Messages that the store could not take; they are not acknowledged. */
  ingest_failed: number
  /** Readings whose own time cannot be right; they are kept apart. */
  ingest_misdated: number
  last_ingest_at: number | null
}
/** What is worth a line in the log. `edge` is `site_id/edge_id`. */
export type IngestEvent = {
  kind: 'rejected' | 'waiting' | 'failed' | 'recovered' | 'shared' | 'misdated'
  edge: string
  reason: string
}

type IngestParts = {
  inbox: Inbox
  model: ModelStore
  edges: EdgeStore
  claims: EdgeClaims
  clock: Clock
  notify(event: IngestEvent): void
}
/** An acknowledgement, or what an edge must know of its own standing, and whom it goes to. */
type Reply = EdgeKey & ({ ack: Ack; notices?: undefined } | { ack?: undefined; notices: Notice[] })
export type AckReply = Extract<Reply, { ack: Ack }>
export type Ingest = ReturnType<typeof ingest>

type Message = Topic & { kind: 'telemetry' | 'findings' }
type Numbered = Exclude<Received, { state: 'unreadable' }>
/** What became of a message. `reason`: why nothing of it was stored; `refused`: readings and findings that were not. */
type Outcome = {
  status: 'stored' | 'duplicate' | 'gap'
  mark: { through_seq: number; through_id?: string }
  reason?: string
  refused: Refused[]
}

/** @returns the flow; it is synchronous, so what it acknowledges is committed when it returns */
export function ingest({ inbox, model, edges, claims, clock, notify }: IngestParts) {
  const book = edgeBook(edges, model, claims, clock)
  const counters = { ...NOTHING_YET }
  let trouble: (StoringTrouble & { lastAt: number }) | undefined
  const reject = (topic: Topic | undefined, reason: string) => {
    counters.ingest_rejected++
    notify({ kind: 'rejected', edge: topic ? edgeName(topic) : 'unknown', reason })
  }

  const wait = (topic: Topic, reason: string) => {
    counters.ingest_waiting++
    notify({ kind: 'waiting', edge: edgeName(topic), reason })
  }

  const fail = (topic: Topic, error: unknown) => {
    counters.ingest_failed++
    const { message: reason } = error as Error
    // On a full disk every message of every edge fails: what is new is said.
    if (trouble?.reason !== reason) notify({ kind: 'failed', edge: edgeName(topic), reason })
    trouble = { reason, since: trouble?.since ?? clock.now(), lastAt: clock.now() }
  }

  const noteStored = (topic: Topic) => {
    if (trouble) notify({ kind: 'recovered', edge: edgeName(topic), reason: 'what edges send is stored again' })
    trouble = undefined
  }

  const noteMisdated = (topic: Topic, misdated: Reading[], now: number) => {
    const [first] = misdated
    if (!first) return
    counters.ingest_misdated += misdated.length
    const why = `${misdated.length} readings are kept apart from history: ${first.id} is dated ${implausibleTime(first.t, now)}`
    notify({ kind: 'misdated', edge: edgeName(topic), reason: why })
  }

  /** Stores a message whose place can be read, counts it, and says what became of it. */
  const accept = (topic: Message, building_id: string, received: Numbered): Outcome => {
    const { site_id, edge_id } = topic
    const now = clock.now()
    const inUnits = received.state === 'good' ? refuseOtherUnits(received, () => model.points(building_id)) : received
    const numbered = inUnits.state === 'good' ? refuseMisdatedFindings(inUnits, now) : inUnits
    const { stream, seq } = numbered
    const reason = numbered.state === 'good' ? unusable(numbered, building_id) : numbered.reason
    const refused = numbered.state === 'good' ? [...numbered.refused] : []
    const { readings: all, findings, withdrawn } = numbered.state === 'good' && reason === undefined ? numbered : NO_CONTENT
    const { dated: readings, misdated } = separateMisdated(all, now)
    const named = numbered.message_id !== undefined && { message_id: numbered.message_id }
    const {
      status,
      foreign = [],
      ...mark
    } = inbox.accept({
      site_id,
      edge_id,
      building_id,
      stream,
      seq,
      ...named,
      readings,
      findings,
      withdrawn,
      ...(misdated.length > 0 && { misdated: { arrived_at: now, readings: misdated } }),
    })
    if (status === 'stored') {
      noteStored(topic)
      noteMisdated(topic, misdated, now)
    }
    refused.push(...foreign.map(heldElsewhere))
    const why = reason ?? summary(refused)
    if (status === 'stored' && why !== undefined) reject(topic, why)
    if (status === 'duplicate' && reason === undefined) counters.ingest_duplicate++
    if (status === 'stored' && reason === undefined) {
      counters.ingest_ok++
      counters.last_ingest_at = now
      book.heard(topic, newest(readings))
    }
    return { status, mark, refused, ...(reason !== undefined && { reason }) }
  }

  const takeMessage = (topic: Message, payload: Uint8Array): AckReply | undefined => {
    const received = receive(topic, payload)
    if (received.state === 'unreadable') return void reject(topic, received.reason)
    const said = received.state === 'good' ? received.building_id : undefined
    const building_id = book.buildingOf(topic, said)
    if (building_id === undefined) return void wait(topic, lacking(said))
    if (!isClockSet(clock.now())) return void wait(topic, CLOCK_NOT_SET)
    const { site_id, edge_id } = topic
    const { stream, seq } = received
    const { status, mark, reason, refused } = accept(topic, building_id, received)
    const why = status === 'gap' ? undefined : (reason ?? summary(refused))
    const rejected = why === undefined ? {} : { rejected: [{ seq, reason: why }] }
    const boot_ids = book.sharers(topic)?.boot_ids
    return { site_id, edge_id, ack: { stream, ...mark, at: clock.now(), ...(boot_ids && { boot_ids }), ...rejected } }
  }

  /** Of an edge whose metadata is not taken nothing is stored, so its pages and those of the hub say why. */
  const refuse = (topic: Topic, reason: string) => {
    book.standing.refuse(topic, reason)
    reject(topic, `metadata: ${reason}`)
  }
  const tell = ({ site_id, edge_id }: Topic): Reply | undefined => {
    const notices = book.standing.toTell({ site_id, edge_id })
    return notices && { site_id, edge_id, notices }
  }

  const takeMetadata = (topic: Topic, payload: Uint8Array): void => {
    const metadata = decodeMetadata(payload)
    const reason = metadata.ok ? book.enter(topic, metadata.value) : metadata.reason
    if (reason !== undefined) refuse(topic, reason)
  }

  /** Takes what an edge says of its session; that another process says it, too, is said once. */
  const session = (topic: Topic, said: EdgeSession, via?: 'local'): void => {
    const shared = book.session(topic, said, via)
    if (!shared) return
    const reason = `${shared.boot_ids.length} processes run under this edge id, and what each sends is kept: give each an id of its own (boot ids ${shared.boot_ids.join(', ')})`
    notify({ kind: 'shared', edge: edgeName(topic), reason })
  }

  const takeStatus = (topic: Topic, payload: Uint8Array): void => {
    const body = unpackBody(payload, STATUS_MAX)
    const status = body.ok ? readSession(body.value) : body
    if (!status.ok) return reject(topic, `status: ${status.reason}`)
    if (status.value.fault !== undefined) reject(topic, `status: ${status.value.fault}`)
    session(topic, status.value.session)
  }

  return {
    /** @returns what to acknowledge or tell, when there is something */
    take(name: string, payload: Uint8Array): Reply | undefined {
      const topic = parseTopic(name)
      if (!topic) return void reject(undefined, `nothing is expected under ${name}`)
      try {
        if (isMessage(topic)) return takeMessage(topic, payload)
        if (topic.kind === 'metadata') takeMetadata(topic, payload)
        if (topic.kind === 'status') takeStatus(topic, payload)
        if (topic.kind === 'metadata' || topic.kind === 'status') return tell(topic)
      } catch (error) {
        fail(topic, error)
      }
      return undefined
    },
    accept,
    isClockSet: () => isClockSet(clock.now()),
    reject,
    refuse,
    wait,
    fail,
    session,
    book,
    /** Writes what has been seen of edges since the last call. */
    flush: book.flush,
    /** Connected anew: of no edge is it known whether it is still there. */
    doubtSessions: book.doubt,
    /** Those that have said nothing since `doubtSessions` are not there. */
    endDoubt: book.endDoubt,
    counters: (): IngestCounters => ({ ...counters }),
    /**
     * Why nothing could be stored since the last message that was; edges keep what is not acknowledged. They send it again every few
     * seconds, so what has not failed for a minute has nobody left who waits for it.
     */
    trouble: (): StoringTrouble | undefined =>
      trouble && Math.abs(clock.now() - trouble.lastAt) <= TROUBLE_MS
        ? { reason: trouble.reason, since: trouble.since }
        : undefined,
  }
}

/** An edge repeats what is not acknowledged every 10 s at the latest. */
const TROUBLE_MS = MINUTE

const NOTHING_YET: IngestCounters = {
  ingest_ok: 0,
  ingest_duplicate: 0,
  ingest_rejected: 0,
  ingest_waiting: 0,
  ingest_failed: 0,
  ingest_misdated: 0,
  last_ingest_at: null,
}
/** Why a message waits. */
export const lacking = (building_id: string | undefined): string =>
  building_id === undefined ? 'its metadata has not come yet' : `the metadata of its building ${building_id} has not come yet`

/** Without a clock of its own a hub cannot tell right times from wrong ones: what edges send is safest with them. */
export const CLOCK_NOT_SET = 'the clock of this machine is not set'

const NO_CONTENT = { readings: [], findings: [], withdrawn: [] }

/** The id of a finding is a hash of its building and more: only a forged or broken message has another building's. */
const heldElsewhere = (finding_id: string): Refused => ({
  pointer: `findings[finding_id=${finding_id}]`,
  reason: `finding ${finding_id} is one of another building`,
})

/** @returns why nothing of a message that could be read can be stored */
function unusable(content: Numbered & { state: 'good' }, building_id: string): string | undefined {
  const { readings, findings, withdrawn, refused } = content
  const foreign = findings.find(finding => finding.building_id !== building_id)
  if (foreign) return `a finding is about ${foreign.building_id}`
  return readings.length + findings.length + withdrawn.length === 0 ? refused[0]?.reason : undefined
}

/** A finding cannot be kept apart as a reading is: it is made anew once the clock of its edge is right. */
function refuseMisdatedFindings<T extends Numbered & { state: 'good' }>(content: T, now: number): T {
  const judged = content.findings.map((finding, i) => ({ finding, i, why: misdatedFinding(finding, now) }))
  const refused = judged.flatMap(({ i, why }) => (why === undefined ? [] : [{ pointer: `findings[${i}]`, reason: why }]))
  if (refused.length === 0) return content
  const findings = judged.flatMap(({ finding, why }) => (why === undefined ? [finding] : []))
  return { ...content, findings, refused: [...content.refused, ...refused] }
}

function decodeMetadata(payload: Uint8Array): Decoded<Metadata> {
  const body = unpackBody(payload, METADATA_MAX)
  return body.ok ? readMetadata(body.value) : body
}

/** A status whose poll report does not fit still says that the edge is there. */
export function readSession(body: Record<string, unknown>): Decoded<{ session: EdgeSession; fault?: string }> {
  const status = readStatus(body)
  if (!status.ok) return status
  if (body.poll === undefined) return { ok: true, value: { session: status.value } }
  const poll = readPollReport(body.poll)
  const value = poll.ok ? { session: { ...status.value, poll: poll.value } } : { session: status.value, fault: poll.reason }
  return { ok: true, value }
}

function summary(refused: Refused[]): string | undefined {
  if (refused.length === 0) return undefined
  const more = refused.length > 1 ? `; so are ${refused.length - 1} others` : ''
  return `${refused[0]!.reason}; it is refused${more}, the rest of the message is stored`
}

const isMessage = (topic: Topic): topic is Message => topic.kind === 'telemetry' || topic.kind === 'findings'
const newest = (readings: { t: number }[]): number => readings.reduce((max, { t }) => Math.max(max, t), -Infinity)

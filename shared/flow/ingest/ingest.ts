/** Stores the messages of edges once and in order, whichever transport they arrive by, and maintains the registry of edges. */
import assert from 'node:assert/strict'
import type { Accepted, Clock, EdgeMessage, Inbox } from '#shared/core/ports.ts'
import { implausibleTime, isClockSet, misdatedFinding, separateMisdated } from '#shared/core/telemetry/misdated.ts'
import type { EdgeClaims, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import type { Decoded } from '#shared/core/telemetry/body.ts'
import type { EdgeBounds } from '#shared/core/telemetry/edge-bounds.ts'
import type { Content, MessageTopic, Received, receiveMessage } from '#shared/core/telemetry/message.ts'
import type { Metadata } from '#shared/core/telemetry/metadata.ts'
import { sharedReason } from '#shared/core/telemetry/shared-edge-id.ts'
import { readPollReport } from '#shared/core/telemetry/poll-report.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { readStatus } from '#shared/core/telemetry/status.ts'
import { refuseOtherUnits } from '#shared/core/telemetry/stated-units.ts'
import type { Refused } from '#shared/core/telemetry/read.ts'
import type { BudgetExcess, StorageBudget } from '#shared/core/tenant-budget.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import type { IngestTransport } from './edge-notices.ts'
import type { EdgeSession } from './edge-record.ts'
import { EdgeRegistry } from './edge-registry.ts'
import { type IngestEvent, IngestMonitor } from './ingest-monitor.ts'
import { LiveValues } from './live-values.ts'
import { UnknownPointFilter } from './unknown-points.ts'

type IngestParts = {
  inbox: Inbox
  model: ModelStore
  edges: EdgeStore
  claims: EdgeClaims
  clock: Clock
  /** Limits of what may be stored; without it there are none. */
  budget?: StorageBudget | undefined
  /** Limits of what an edge can invent; without it there are none. */
  bounds?: EdgeBounds | undefined
  notify(event: IngestEvent): void
}

/** What an edge has published, decoded. */
type Incoming = ReturnType<typeof receiveMessage>
type Unread = { topic: MessageTopic; read(): Incoming }

/** The result for one message. */
export type MessageResult =
  /** Stream and sequence number cannot be read. */
  | { state: 'unreadable'; reason: string }
  | Waiting
  /** The store could not take it: not acknowledged, and the edge sends it again. */
  | { state: 'failed'; error: unknown }
  /** Its values are shown and not stored. */
  | { state: 'live' }
  | Processed

/** Not stored and not acknowledged: the edge sends it again. */
type Waiting = { state: 'waiting'; for: 'identity' | 'metadata' | 'clock' | 'budget'; reason: string }
type Processed = { state: 'processed'; seq: number; stream: string } & Outcome

/** `reason`: why nothing of the message was stored; `refused`: its readings and findings that were not stored. */
type Outcome = {
  status: 'stored' | 'duplicate' | 'gap'
  mark: { through_seq: number; through_id?: string }
  reason?: string
  refused: Refused[]
}

type Numbered = Exclude<Received, { state: 'unreadable' }>
type Good = Extract<Received, { state: 'good' }>
/** A message that may be stored: what is known of it without its content. */
type Ready = {
  state: 'ready'
  stream: string
  seq: number
  refused: Refused[]
  reason: string | undefined
  /** Its readings with impossible times: how many, which is the first, and why. */
  misdated: { count: number; id: string; reason: string } | undefined
  /** Instant of its newest reading, ms; -Infinity without any. */
  newest: number
}
/** A message of which nothing is stored. */
type Unready = Exclude<MessageResult, Processed | { state: 'live' }> | Extract<Incoming, { state: 'live' }>

/** All methods are synchronous: what they return has been committed. Errors of the store are thrown where a result does not name them. */
export class Ingest {
  readonly registry: EdgeRegistry
  readonly monitor: IngestMonitor
  readonly live = new LiveValues()
  readonly clock: Clock
  readonly #inbox: Inbox
  readonly #model: ModelStore
  readonly #unknownPoints: UnknownPointFilter

  constructor({ inbox, model, edges, claims, clock, budget, bounds, notify }: IngestParts) {
    this.registry = new EdgeRegistry({ edges, model, claims, clock, budget, bounds })
    this.monitor = new IngestMonitor(clock, notify)
    this.#inbox = inbox
    this.#model = model
    this.clock = clock
    this.#unknownPoints = new UnknownPointFilter(model)
  }

  /** @throws the error of the store */
  storeMessage(
    topic: MessageTopic,
    received: Received,
    via: IngestTransport,
  ): Exclude<MessageResult, { state: 'failed' | 'live' }> {
    const result = this.storeMessages([{ topic, read: () => received }], via)[0]!
    if (result.state === 'failed') throw result.error
    assert(result.state !== 'live')
    return result
  }

  /**
   * Stores messages in one commit, in their order. Each is read when it is its turn, so that one at a time is in memory.
   *
   * @param via readings of points that the building does not have are refused by name over `local`
   * @returns one result for each message
   */
  storeMessages(messages: readonly Unread[], via: IngestTransport): MessageResult[] {
    const checked: (Ready | Unready)[] = []
    let accepted: Iterator<Accepted>
    try {
      accepted = this.#inbox.accept(this.#checkEach(messages, via, checked)).values()
    } catch (error) {
      // One that the store cannot take must not take others with it, so each is stored in its own commit.
      return messages.length === 1
        ? [this.#fail(messages[0]!, via, error)]
        : messages.flatMap(message => this.storeMessages([message], via))
    }
    return checked.map((one, i) => orFailure(() => this.#conclude(messages[i]!.topic, one, accepted)))
  }

  /** Shows the newest readings of an edge whose older ones have not arrived yet. They show that its data are fresh. */
  showLive(edge: EdgeKey, building_id: string, readings: readonly Reading[]): void {
    if (this.registry.sharedIdOf(edge) || this.registry.buildingOf(edge, building_id) === undefined) return
    this.live.record(building_id, readings, this.clock.now())
    this.registry.recordData(edge, newestOf(readings))
  }

  /** @returns why the metadata is refused, or undefined when it is accepted */
  applyMetadata(edge: EdgeKey, metadata: Metadata, via: IngestTransport): string | undefined {
    const reason = this.registry.applyMetadata(edge, metadata, via)
    if (reason !== undefined) this.refuseMetadata(edge, reason)
    return reason
  }

  /** Nothing is stored for an edge whose metadata is refused, so its pages and those of the hub show the reason. */
  refuseMetadata(edge: EdgeKey, reason: string): void {
    this.registry.notices.recordRefusal(edge, reason)
    this.monitor.recordRejection(edge, `metadata: ${reason}`)
  }

  /** Records the session of an edge. A shared edge id is reported once, when it begins, and refused until it is over. */
  applySession(edge: EdgeKey, session: EdgeSession, via: IngestTransport): void {
    const shared = this.registry.recordSession(edge, session, via)
    if (!shared) return
    this.registry.notices.recordRefusal(edge, sharedReason(shared))
    this.monitor.recordSharedId(edge, shared)
  }

  /** Yields what may be stored. @param checked gets what is known of each message */
  *#checkEach(messages: readonly Unread[], via: IngestTransport, checked: (Ready | Unready)[]): Generator<EdgeMessage> {
    for (const { topic, read } of messages) {
      const one = orFailure(() => this.#check(topic, read(), via))
      checked.push('ready' in one ? one.ready : one)
      if ('ready' in one) yield one.message
    }
  }

  #check(topic: MessageTopic, received: Incoming, via: IngestTransport): Unready | { ready: Ready; message: EdgeMessage } {
    if (received.state === 'unreadable' || received.state === 'live') return received
    const shared = this.registry.sharedIdOf(topic)
    if (shared) return waiting('identity', sharedReason(shared))
    const named = received.state === 'good' ? received.building_id : undefined
    const building_id = this.registry.buildingOf(topic, named)
    if (building_id === undefined) return waiting('metadata', missingMetadata(named))
    if (!isClockSet(this.clock.now())) return waiting('clock', CLOCK_NOT_SET)
    const usable =
      received.state === 'good' && via === 'local' ? this.#unknownPoints.refuseReadings(received, building_id) : received
    return this.#makeReady(topic, building_id, usable)
  }

  #makeReady(topic: MessageTopic, building_id: string, received: Numbered): { ready: Ready; message: EdgeMessage } {
    const { site_id, edge_id } = topic
    const now = this.clock.now()
    const checked = received.state === 'good' ? this.#refuseItems(received, building_id, now) : received
    const { stream, seq, message_id } = checked
    const reason = checked.state === 'good' ? wholeMessageFault(checked, building_id) : checked.reason
    const { readings, findings, withdrawn } = checked.state === 'good' && reason === undefined ? checked : NO_CONTENT
    const not_before = checked.state === 'good' ? trusted(checked.not_before, now) : undefined
    const { dated, misdated } = separateMisdated(readings, now, not_before)
    const message = {
      ...{ site_id, edge_id, building_id, stream, seq, findings, withdrawn, readings: dated },
      ...(message_id !== undefined && { message_id }),
      ...(misdated.length > 0 && { misdated: { arrived_at: now, readings: misdated } }),
    }
    const why = misdated[0] && implausibleTime(misdated[0].t, now, not_before)
    const ready: Ready = {
      ...{ state: 'ready', stream, seq, reason, newest: newestOf(dated) },
      refused: checked.state === 'good' ? checked.refused : [],
      misdated: why === undefined ? undefined : { count: misdated.length, id: misdated[0]!.id, reason: why },
    }
    return { ready, message }
  }

  /** A message of which nothing is to be stored needs no store: live values are shown while the disk is full. */
  #fail(message: Unread, via: IngestTransport, error: unknown): MessageResult {
    const checked: (Ready | Unready)[] = []
    const isForStore = [...this.#checkEach([message], via, checked)].length > 0
    return isForStore ? { state: 'failed', error } : orFailure(() => this.#conclude(message.topic, checked[0]!, [].values()))
  }

  /** Records what became of a message, which is committed. @param accepted the answers of the inbox to those that were ready */
  #conclude(topic: MessageTopic, one: Ready | Unready, accepted: Iterator<Accepted>): MessageResult {
    if (one.state === 'ready') return this.#concludeStored(topic, one, accepted.next().value!)
    if (one.state === 'unreadable') this.monitor.recordRejection(topic, one.reason)
    if (one.state === 'waiting') this.monitor.recordWaiting(topic, one.reason)
    if (one.state !== 'live') return one
    if (one.live.ok) this.showLive(topic, one.live.value.building_id, one.live.value.readings)
    else this.monitor.recordRejection(topic, `live values: ${one.live.reason}`)
    return { state: 'live' }
  }

  #concludeStored(topic: MessageTopic, ready: Ready, accepted: Accepted): MessageResult {
    if (accepted.status === 'over_budget') return this.#holdBack(topic, accepted)
    if (accepted.status === 'over_bounds') return this.#holdBeyondBounds(topic, accepted.reason)
    const { status, foreign = [], isNextStream = false, ...mark } = accepted
    const { reason, stream, seq } = ready
    const refused = [...ready.refused, ...foreign.map(foreignFinding)]
    const outcome: Outcome = { status, mark, refused, ...(reason !== undefined && { reason }) }
    this.#record(topic, outcome)
    if (status === 'stored') this.registry.notices.recordStored(topic)
    if (isNextStream) this.monitor.recordNextStream(topic)
    if (status === 'stored' && ready.misdated) this.#recordMisdated(topic, ready.misdated)
    if (status === 'stored' && reason === undefined) this.registry.recordData(topic, ready.newest)
    return { state: 'processed', stream, seq, ...outcome }
  }

  /** The edge receives a notice, so that it tries seldom. */
  #holdBack(topic: MessageTopic, excess: BudgetExcess): MessageResult {
    this.registry.notices.recordExcess(topic, excess)
    this.monitor.recordOverBudget(topic, excess.reason)
    return waiting('budget', excess.reason)
  }

  /** The same for what an edge can invent. */
  #holdBeyondBounds(topic: MessageTopic, reason: string): MessageResult {
    this.registry.notices.recordBeyondBounds(topic, reason)
    this.monitor.recordBeyondBounds(topic, reason)
    return waiting('budget', reason)
  }

  /** Its pages and those of the hub show that they are not in its history. */
  #recordMisdated(topic: MessageTopic, { count, id, reason }: NonNullable<Ready['misdated']>): void {
    this.monitor.recordMisdated(topic, count, `the timestamp of ${id}, ${reason}`)
    this.registry.notices.recordMisdated(topic, count, reason)
  }

  #refuseItems(received: Good, building_id: string, now: number): Good {
    return refuseMisdatedFindings(
      refuseOtherUnits(received, () => this.#model.points(building_id)),
      now,
    )
  }

  #record(topic: MessageTopic, outcome: Outcome): void {
    const { status, reason } = outcome
    if (status === 'duplicate' && reason === undefined) this.monitor.recordDuplicate()
    if (status !== 'stored') return
    this.monitor.recordStored(topic)
    const rejection = rejectionOf(outcome)
    if (rejection !== undefined) this.monitor.recordRejection(topic, rejection)
    if (reason === undefined) this.monitor.recordAccepted()
  }
}

/** @returns what was refused of a message and why, in one sentence; undefined when all of it was stored */
export function rejectionOf({ status, reason, refused }: Outcome): string | undefined {
  const [first, ...others] = refused
  if (status === 'gap') return undefined
  if (reason !== undefined || !first) return reason
  const more = others.length > 0 ? `; ${others.length} more refused` : ''
  return `${first.reason}${more}; the rest of the message is stored`
}

/** Decodes a status. @returns the session, and `fault` when its poll report cannot be read: the edge is online all the same */
export function readSession(body: Record<string, unknown>): Decoded<{ session: EdgeSession; sent_at?: number; fault?: string }> {
  const status = readStatus(body)
  if (!status.ok) return status
  const { online, sent_at, body: said } = status.value
  const [session, when] = [{ online, body: said }, sent_at !== undefined && { sent_at }]
  if (body.poll === undefined) return { ok: true, value: { session, ...when } }
  const poll = readPollReport(body.poll)
  const value = poll.ok ? { session: { ...session, poll: poll.value } } : { session, fault: poll.reason }
  return { ok: true, value: { ...value, ...when } }
}

/** One message whose edge or building cannot be read takes no other with it. */
function orFailure<T>(work: () => T): T | { state: 'failed'; error: unknown } {
  try {
    return work()
  } catch (error) {
    return { state: 'failed', error }
  }
}

const waiting = (wanted: Waiting['for'], reason: string): Waiting => ({ state: 'waiting', for: wanted, reason })

const missingMetadata = (building_id: string | undefined): string =>
  building_id === undefined ? 'metadata of this edge not received yet' : `metadata of building ${building_id} not received yet`

/** Without a valid clock a central cannot distinguish plausible timestamps from wrong ones, so messages stay on the edges. */
const CLOCK_NOT_SET = 'the clock of this machine is not set'

const NO_CONTENT: Pick<Content, 'readings' | 'findings' | 'withdrawn'> = { readings: [], findings: [], withdrawn: [] }

/** The id of a finding is a hash that includes its building: only a forged or broken message has the id of another building's. */
const foreignFinding = (finding_id: string): Refused => ({
  pointer: `findings[finding_id=${finding_id}]`,
  reason: `finding ${finding_id} belongs to another building`,
})

/** A version that was made later than now says that its clock or the one here is wrong, and nothing about readings. */
const trusted = (not_before: number | undefined, now: number): number | undefined =>
  not_before !== undefined && not_before > now ? undefined : not_before

/** @returns why nothing of a decoded message can be stored */
function wholeMessageFault({ readings, findings, withdrawn, refused }: Good, building_id: string): string | undefined {
  const foreign = findings.find(finding => finding.building_id !== building_id)
  if (foreign) return `a finding is about ${foreign.building_id}`
  return readings.length + findings.length + withdrawn.length === 0 ? refused[0]?.reason : undefined
}

/** Findings with implausible times are refused: the edge makes them again once its clock is right. */
function refuseMisdatedFindings(message: Good, now: number): Good {
  const checked = message.findings.map((finding, i) => ({ finding, i, why: misdatedFinding(finding, now) }))
  const refused = checked.flatMap(({ i, why }) => (why === undefined ? [] : [{ pointer: `findings[${i}]`, reason: why }]))
  if (refused.length === 0) return message
  const findings = checked.flatMap(({ finding, why }) => (why === undefined ? [finding] : []))
  return { ...message, findings, refused: [...message.refused, ...refused] }
}

const newestOf = (readings: readonly { t: number }[]): number => readings.reduce((max, { t }) => Math.max(max, t), -Infinity)

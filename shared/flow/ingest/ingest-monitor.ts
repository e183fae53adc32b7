/** Counts what becomes of the messages of edges, and reports events for the log and failures for health. */
import { errorText } from '#shared/core/error-text.ts'
import { edgeName, type EdgeKey } from '#shared/core/model/model.ts'
import type { Clock } from '#shared/core/ports.ts'
import { sharedReason, type SharedEdgeId } from '#shared/core/telemetry/shared-edge-id.ts'
import type { StoringTrouble } from '#shared/core/storage-status.ts'
import { MINUTE } from '#shared/core/time.ts'

/** Counts since the process started, for health. Times are ms since 1970 UTC. */
type IngestCounts = {
  ingest_ok: number
  ingest_duplicate: number
  ingest_rejected: number
  /** Messages of edges whose metadata has not arrived yet, or beyond a budget or bound; they are not acknowledged. */
  ingest_waiting: number
  /** Messages beyond what an edge may bring; they are among the waiting ones. */
  ingest_beyond_bounds: number
  /** Messages that could not be written to the store; they are not acknowledged. */
  ingest_failed: number
  /** Readings with an implausible timestamp; they are stored apart from history. */
  ingest_misdated: number
  /** Streams that edges have begun after another one: messages between the two may be missing here. */
  ingest_next_streams: number
  last_ingest_at: number | null
}
/** An event for the log. `edge` is `site_id/edge_id`. */
export type IngestEvent = {
  kind:
    | 'rejected'
    | 'waiting'
    | 'failed'
    | 'recovered'
    | 'tenant_over_budget'
    | 'edge_over_bounds'
    | 'next_stream'
    | 'shared'
    | 'misdated'
  edge: string
  reason: string
}

/** An edge repeats an unacknowledged message after 10 s at the latest, so after this time no message is waiting any more. */
const TROUBLE_MS = MINUTE

export class IngestMonitor {
  readonly #clock: Clock
  readonly #notify: (event: IngestEvent) => void
  readonly #counts: IngestCounts = {
    ingest_ok: 0,
    ingest_duplicate: 0,
    ingest_rejected: 0,
    ingest_waiting: 0,
    ingest_beyond_bounds: 0,
    ingest_failed: 0,
    ingest_misdated: 0,
    ingest_next_streams: 0,
    last_ingest_at: null,
  }
  #trouble: (StoringTrouble & { lastAt: number }) | undefined

  constructor(clock: Clock, notify: (event: IngestEvent) => void) {
    this.#clock = clock
    this.#notify = notify
  }

  recordStored(edge: EdgeKey): void {
    if (this.#trouble) this.#report('recovered', edge, 'messages of edges are stored again')
    this.#trouble = undefined
  }

  recordAccepted(): void {
    this.#counts.ingest_ok++
    this.#counts.last_ingest_at = this.#clock.now()
  }

  recordDuplicate(): void {
    this.#counts.ingest_duplicate++
  }

  recordRejection(edge: EdgeKey | undefined, reason: string): void {
    this.#counts.ingest_rejected++
    this.#report('rejected', edge, reason)
  }

  recordWaiting(edge: EdgeKey, reason: string): void {
    this.#counts.ingest_waiting++
    this.#report('waiting', edge, reason)
  }

  recordOverBudget(edge: EdgeKey, reason: string): void {
    this.#counts.ingest_waiting++
    this.#report('tenant_over_budget', edge, `message not stored, the edge keeps it: ${reason}`)
  }

  recordBeyondBounds(edge: EdgeKey, reason: string): void {
    this.#counts.ingest_waiting++
    this.#counts.ingest_beyond_bounds++
    this.#report('edge_over_bounds', edge, `message not stored, the edge keeps it: ${reason}`)
  }

  recordFailure(edge: EdgeKey, error: unknown): void {
    this.#counts.ingest_failed++
    const reason = errorText(error)
    // On a full disk every message of every edge fails: only a new reason is reported.
    if (this.#trouble?.reason !== reason) this.#report('failed', edge, reason)
    const now = this.#clock.now()
    this.#trouble = { reason, since: this.#trouble?.since ?? now, lastAt: now }
  }

  recordMisdated(edge: EdgeKey, count: number, reason: string): void {
    this.#counts.ingest_misdated += count
    this.#report('misdated', edge, `${count} readings stored apart from history: ${reason}`)
  }

  /** An edge goes on with the oldest message that it still has, where this hub and the edge do not agree on what is stored. */
  recordNextStream(edge: EdgeKey): void {
    this.#counts.ingest_next_streams++
    const why = 'this hub or the edge was restored, or the edge has a new disk or dropped messages for want of room'
    this.#report('next_stream', edge, `the edge begins another stream, and what it no longer had is missing here: ${why}`)
  }

  recordSharedId(edge: EdgeKey, shared: SharedEdgeId): void {
    this.#report('shared', edge, `${sharedReason(shared)}; nothing of them is stored (boot ids ${shared.boot_ids.join(', ')})`)
  }

  counts(): IngestCounts {
    return { ...this.#counts }
  }

  /** Why nothing could be stored since the last message that was; undefined when nothing has failed for a minute. */
  trouble(): StoringTrouble | undefined {
    if (!this.#trouble || Math.abs(this.#clock.now() - this.#trouble.lastAt) > TROUBLE_MS) return undefined
    return { reason: this.#trouble.reason, since: this.#trouble.since }
  }

  #report(kind: IngestEvent['kind'], edge: EdgeKey | undefined, reason: string): void {
    this.#notify({ kind, edge: edge ? edgeName(edge) : 'unknown', reason })
  }
}

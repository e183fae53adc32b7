/** One watch at a server: it reports the records that have changed since the last poll. */
import { isSameRef } from './core/address.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Dict, refOf } from './core/grid.ts'
import { MINUTE } from '#shared/core/time.ts'
import { readInBatches } from './batches.ts'
import type { HaystackClient } from './client.ts'
import type { RequestOptions } from './session.ts'

/** A record as it was at `at`, or why there is none; `isGone`: the server states that it does not exist. */
export type RecordResult = ({ record: Dict } | { reason: string; isGone?: boolean }) & { at: number }
/** Called with a record that cannot be read. */
type OnBadRecord = (id: string, reason: string) => void
/** `leaseMs`: how long a watch should live without a poll. `now`: ms, the clock of leases. */
export type RecordOptions = { client: HaystackClient; leaseMs: number; now: () => number }

type Watch = { id: string; ids: Set<string>; polledAt: number; leaseMs: number; refreshedAt: number }

/** Period after which all records are requested again: a change that the server did not report is found then. */
const REFRESH_MS = 10 * MINUTE
/** Watches lost in a row after which the caller reads records by id. */
const LOST_MAX = 2

export class RecordWatch {
  readonly #client: HaystackClient
  readonly #leaseMs: number
  readonly #now: () => number
  /** By the id that was requested. */
  readonly #records = new Map<string, Dict>()
  /** Requested ids by the id in the answers of the server, which may be the absolute form. */
  readonly #requestedIds = new Map<string, Set<string>>()
  #watch: Watch | undefined
  /** Watches in a row that the server had dropped when they were polled. */
  #lost = 0

  constructor({ client, leaseMs, now }: RecordOptions) {
    this.#client = client
    this.#leaseMs = leaseMs
    this.#now = now
  }

  /** @throws HaystackFailure when the watch fails for another reason than that it was dropped once */
  async current(ids: readonly string[], options: RequestOptions, onBad: OnBadRecord): Promise<Map<string, RecordResult>> {
    if (this.#watch) await this.#update(this.#watch, options, onBad)
    const missing = ids.filter(id => !this.#watch?.ids.has(id))
    await this.#subscribe(missing, options, onBad)
    const at = this.#now()
    return new Map(ids.map(id => [id, resultOf(this.#records.get(id), id, at)]))
  }

  /** Drops the watch and the count of lost watches. */
  reset(): void {
    this.#forget()
    this.#lost = 0
  }

  /** Ends the watch. When this request is lost, the lease ends it. */
  async close(options: RequestOptions): Promise<void> {
    if (this.#watch) await this.#client.watchUnsub(this.#watch.id, options).catch(() => undefined)
    this.#forget()
  }

  #forget(): void {
    this.#watch = undefined
    this.#records.clear()
    this.#requestedIds.clear()
  }

  /** Brings the records up to date. A watch that the server has dropped is removed, so that a new one is opened. */
  async #update(watch: Watch, options: RequestOptions, onBad: OnBadRecord): Promise<void> {
    if (this.#now() - watch.polledAt >= watch.leaseMs) return this.#forget()
    try {
      const isRefresh = this.#now() - watch.refreshedAt >= REFRESH_MS
      if (isRefresh) await this.#subscribe([...watch.ids], options, onBad)
      else await this.#poll(watch, options)
      Object.assign(watch, { polledAt: this.#now(), ...(isRefresh && { refreshedAt: this.#now() }) })
      this.#lost = 0
    } catch (error) {
      if (!isRefusal(error) || ++this.#lost >= LOST_MAX) throw error
      this.#forget()
    }
  }

  async #poll({ id }: Watch, options: RequestOptions): Promise<void> {
    const { rows } = await this.#client.watchPoll(id, options)
    for (const row of rows) {
      for (const requested of this.#requestedIds.get(refOf(row.id) ?? '') ?? []) this.#records.set(requested, row)
    }
  }

  async #subscribe(ids: readonly string[], options: RequestOptions, onBadRecord: OnBadRecord): Promise<void> {
    const ask = (part: readonly string[]) => this.#subscribePart(part, options)
    await readInBatches(ids, { ask, onBadRecord, onNotAsked: () => undefined, isWorthSplitting: async () => false })
  }

  async #subscribePart(ids: readonly string[], options: RequestOptions): Promise<void> {
    const { rows, watch: given } = await this.#client.watchSub(ids, this.#leaseMs, this.#watch?.id, options)
    const now = this.#now()
    this.#watch ??= { id: given.watchId, ids: new Set(), polledAt: now, leaseMs: this.#leaseMs, refreshedAt: now }
    // Records of the first watch would not be polled any more.
    if (given.watchId !== this.#watch.id) {
      throw new HaystackFailure('watchSub: the server opened a second watch instead of extending the first', { step: 'op' })
    }
    Object.assign(this.#watch, { polledAt: now, leaseMs: given.leaseMs ?? this.#leaseMs })
    const matched = matchRows(rows, ids)
    for (const id of ids) {
      const record = matched.get(id)
      this.#watch.ids.add(id)
      this.#records.delete(id)
      if (!record) continue
      this.#records.set(id, record)
      const name = refOf(record.id)!
      this.#requestedIds.set(name, (this.#requestedIds.get(name) ?? new Set()).add(id))
    }
  }
}

/** The server answered with an error: it has no such op, no such watch, or states the reason in an error grid. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof HaystackFailure && error.kind === 'fault' && (error.step === 'op' || error.step === 'parse')

/** @returns records by the requested id; ids without a record are absent */
export function matchRows(rows: readonly Dict[], ids: readonly string[]): Map<string, Dict> {
  const exact = new Set(ids)
  const matched = new Map<string, Dict>()
  for (const row of rows) {
    const rowId = refOf(row.id)
    if (rowId === undefined) continue
    for (const id of ids) if (id === rowId || (!exact.has(rowId) && isSameRef(id, rowId))) matched.set(id, row)
  }
  return matched
}

export const resultOf = (record: Dict | undefined, id: string, at: number): RecordResult =>
  record ? { record, at } : { reason: `the server has no record @${id}`, isGone: true, at }

/** Finds the records of points with filters. Each filter is a request of its own, so one that fails affects no other. */
import { HaystackFailure } from './core/failure.ts'
import { refOf } from './core/grid.ts'
import { isolate, type IsolatedItems, planRetries, RETRIES_MAX } from '../../core/poll/isolate.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type HaystackClient, isServerAlive } from './client.ts'
import type { RequestOptions } from './session.ts'

/** The id of the record that a filter matches, or why there is none. */
type FilterResult = { ref: string } | { reason: string }

/** Pause until a filter that matches no record, or several, is tried again. */
const RESOLVE_MS = 5 * MINUTE
/** Statuses with which servers send an error grid about the request itself. */
const ERROR_GRIDS: ReadonlySet<number | undefined> = new Set([200, 400])
const NOT_ASKED = 'not asked for in this read, because too many other filters failed'

export class FilterResolver {
  readonly #client: HaystackClient
  readonly #now: () => number
  readonly #results = new Map<string, { result: FilterResult; at: number }>()
  /** Filters that the server does not answer while it answers other requests. */
  readonly #unanswered: IsolatedItems = new Map()

  constructor({ client, now }: { client: HaystackClient; now: () => number }) {
    this.#client = client
    this.#now = now
  }

  /**
   * Finds the one record that each filter matches.
   *
   * @returns a result for every filter
   * @throws HaystackFailure when the server as a whole does not answer
   */
  async resolve(filters: readonly string[], options: RequestOptions): Promise<Map<string, FilterResult>> {
    const unknown = filters.filter(filter => !this.#isKnown(filter))
    const { together, retried } = planRetries(this.#unanswered, unknown, filter => filter, this.#now())
    let failed = 0
    for (const filter of [...together, ...retried]) {
      if (failed >= RETRIES_MAX) break
      const result = await this.#find(filter, options)
      if (!result) failed++
      else {
        this.#unanswered.delete(filter)
        this.#results.set(filter, { result, at: this.#now() })
      }
    }
    return new Map(filters.map(filter => [filter, this.#resultOf(filter)]))
  }

  /** Drops the record of a filter, because the server no longer has it. It may return under another id. */
  forget(filter: string, ref: string): void {
    this.#results.set(filter, { result: { reason: `record @${ref} no longer exists` }, at: this.#now() })
  }

  #resultOf(filter: string): FilterResult {
    if (this.#isKnown(filter)) return this.#results.get(filter)!.result
    return { reason: this.#unanswered.get(filter)?.reason ?? NOT_ASKED }
  }

  #isKnown(filter: string): boolean {
    const known = this.#results.get(filter)
    return known !== undefined && ('ref' in known.result || this.#now() - known.at < RESOLVE_MS)
  }

  /** @returns undefined when the server answers other requests, but not this filter */
  async #find(filter: string, options: RequestOptions): Promise<FilterResult | undefined> {
    try {
      const { rows } = await this.#client.read(filter, 2, { ...options, retries: 0 })
      const ref = refOf(rows[0]?.id)
      if (rows.length > 1) return { reason: `more than one record matches ${filter}` }
      return ref === undefined ? { reason: `no record matches ${filter}` } : { ref }
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      const { step, status, kind, message } = error
      if (kind === 'fault' && (step === 'parse' || (step === 'op' && ERROR_GRIDS.has(status)))) return { reason: message }
      if (!(await isServerAlive(this.#client, error, options))) throw error
      isolate(this.#unanswered, filter, message, this.#now())
      return undefined
    }
  }
}

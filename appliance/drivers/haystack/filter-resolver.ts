/** Finds the records of points with filters. Each filter is a request of its own, so one that fails affects no other. */
import { HaystackFailure } from './core/failure.ts'
import { refOf } from './core/grid.ts'
import { accuse, type Apart, RETRIES_MAX, sortOut } from '../../core/poll/isolate.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type HaystackClient, isServerAlive } from './client.ts'
import type { RequestOptions } from './session.ts'

/** The id of a point's record, or why there is none. */
type FilterResult = { ref: string } | { reason: string }

/** How often a filter that fits no record, or several, is tried again. */
const RESOLVE_MS = 5 * MINUTE
/** Statuses with which servers send an error grid about the question itself. */
const ERROR_GRIDS: ReadonlySet<number | undefined> = new Set([200, 400])
const NOT_YET = 'not asked for in this read, for too many other filters failed'

export function createFilterResolver({ client, now }: { client: HaystackClient; now: () => number }) {
  const places = new Map<string, { place: FilterResult; at: number }>()
  /** Filters that the server does not answer while it answers other questions. */
  const apart: Apart = new Map()

  const isKnown = (filter: string): boolean => {
    const known = places.get(filter)
    return known !== undefined && ('ref' in known.place || now() - known.at < RESOLVE_MS)
  }

  /** @returns undefined when the server does not answer, though it is well otherwise */
  async function find(filter: string, options: RequestOptions): Promise<FilterResult | undefined> {
    try {
      const { rows } = await client.read(filter, 2, { ...options, retries: 0 })
      const ref = refOf(rows[0]?.id)
      if (rows.length > 1) return { reason: `more than one record fits ${filter}` }
      return ref === undefined ? { reason: `no record fits ${filter}` } : { ref }
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      const { step, status, kind, message } = error
      if (kind === 'fault' && (step === 'parse' || (step === 'op' && ERROR_GRIDS.has(status)))) return { reason: message }
      if (!(await isServerAlive(client, error, options))) throw error
      accuse(apart, filter, message, now())
      return undefined
    }
  }

  return {
    /**
     * Finds the one record that each filter fits.
     *
     * @returns a place for every filter
     * @throws HaystackFailure when the server as a whole does not answer
     */
    async resolve(filters: readonly string[], options: RequestOptions): Promise<Map<string, FilterResult>> {
      const unknown = filters.filter(filter => !isKnown(filter))
      const { together, retried } = sortOut(apart, unknown, filter => filter, now())
      let failed = 0
      for (const filter of [...together, ...retried]) {
        if (failed >= RETRIES_MAX) break
        const place = await find(filter, options)
        if (!place) failed++
        else {
          apart.delete(filter)
          places.set(filter, { place, at: now() })
        }
      }
      const placeOf = (filter: string): FilterResult =>
        isKnown(filter) ? places.get(filter)!.place : { reason: apart.get(filter)?.reason ?? NOT_YET }
      return new Map(filters.map(filter => [filter, placeOf(filter)]))
    },
    /** A record that is gone may have come back under another id. */
    forget(filter: string, ref: string): void {
      places.set(filter, { place: { reason: `@${ref} is gone` }, at: now() })
    },
  }
}

/** The ops of a Haystack server that read, each as a function. @source project-haystack.org/doc/docHaystack/Ops */
import { HaystackFailure } from './core/failure.ts'
import { type Dict, type Grid, makeGrid, makeNumber, makeRef, MARKER, numberOf, textOf } from './core/grid.ts'
import type { Op, RequestOptions, Reply, Session } from './session.ts'

/** Rows in the order of the answer; `at` as of the session. */
type Rows = { rows: Dict[]; at: number; rttMs: number }
type Watch = { watchId: string; leaseMs: number | undefined }

/** Milliseconds in the units that servers write a lease in. */
const LEASE_UNITS: Record<string, number> = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  hr: 3_600_000,
  h: 3_600_000,
  hour: 3_600_000,
}

export type HaystackClient = ReturnType<typeof haystackClient>

export function haystackClient({ call }: Pick<Session, 'call'>) {
  const rowsOf = ({ grid: { rows }, at, rttMs }: Reply): Rows => ({ rows, at, rttMs })
  const names = async (op: Op, options: RequestOptions): Promise<Dict[]> => (await call(op, undefined, options)).grid.rows

  return {
    /** What the server says of itself. */
    about: async (options: RequestOptions): Promise<Dict> => (await names('about', options))[0] ?? {},

    /** Names of the ops that the server has. */
    async ops(options: RequestOptions): Promise<Set<string>> {
      // Haystack 4 names an op by its def, `^op:read`; before, by `name`.
      return new Set((await names('ops', options)).map(row => nameOf(row).replace(/^op:/, '')))
    },

    /** Media types that the server reads and writes. Haystack 4 calls this op `filetypes`, earlier servers `formats`. */
    async formats(options: RequestOptions): Promise<string[]> {
      const rows = await names('filetypes', options).catch((error: HaystackFailure) => {
        if (error.step !== 'op' || error.kind === 'silent') throw error
        return names('formats', options)
      })
      return rows.map(row => textOf(row.mime) ?? nameOf(row).replace(/^filetype:/, ''))
    },

    /** Records that fit a filter, at most `limit`. */
    read: async (filter: string, limit: number, options: RequestOptions): Promise<Rows> =>
      rowsOf(await call('read', makeGrid([{ filter, limit }]), options)),

    /** Records by id, in the order of `ids`; a record that is not there is a row without `id`. */
    readIds: async (ids: readonly string[], options: RequestOptions): Promise<Rows> =>
      rowsOf(await call('read', idGrid(ids), options)),

    /** Children of a place in the server's tree; of its root when `navId` is undefined. */
    nav: async (navId: string | undefined, options: RequestOptions): Promise<Rows> =>
      rowsOf(await call('nav', makeGrid([navId === undefined ? { navId: null } : { navId }]), options)),

    /**
     * Opens a watch, or adds to one.
     *
     * @param leaseMs how long the server should keep the watch without a poll
     * @returns the watch, and the records with their current values
     */
    async watchSub(ids: readonly string[], leaseMs: number, watchId: string | undefined, options: RequestOptions) {
      const meta = { watchDis: 'Plenum', lease: makeNumber(Math.ceil(leaseMs / 60_000), 'min'), ...(watchId && { watchId }) }
      const reply = await call('watchSub', idGrid(ids, meta), options)
      const given = textOf(reply.grid.meta.watchId)
      if (given === undefined) throw new HaystackFailure('watchSub: the answer names no watch', { step: 'op' })
      return { ...rowsOf(reply), watch: { watchId: given, leaseMs: leaseOf(reply.grid.meta.lease) } satisfies Watch }
    },

    /** Records whose values have changed since the last poll. */
    watchPoll: async (watchId: string, options: RequestOptions): Promise<Rows> =>
      rowsOf(await call('watchPoll', makeGrid([], { watchId }), options)),

    /** Ends a watch. */
    async watchUnsub(watchId: string, options: RequestOptions): Promise<void> {
      await call('watchUnsub', makeGrid([], { watchId, close: MARKER }), options)
    },

    /**
     * History of one point: rows with `ts` and `val`.
     *
     * @param range as the op takes it: `today`, `2026-03-01`, or an instant after which everything is wanted
     */
    hisRead: async (id: string, range: string, options: RequestOptions): Promise<Rows> =>
      rowsOf(await call('hisRead', makeGrid([{ id: makeRef(id), range }]), options)),

    /** Ends the session of a login. */
    async close(options: RequestOptions): Promise<void> {
      await call('close', makeGrid([]), options)
    },
  }
}

const idGrid = (ids: readonly string[], meta?: Dict): Grid =>
  makeGrid(
    ids.map(id => ({ id: makeRef(id) })),
    meta,
  )

function nameOf({ def, name }: Dict): string {
  const symbol = typeof def === 'object' && def !== null ? (def as Dict).val : undefined
  return textOf(symbol) ?? textOf(name) ?? ''
}

function leaseOf(cell: unknown): number | undefined {
  const { value, unit = 'min' } = numberOf(cell) ?? {}
  const ms = value === undefined ? Number.NaN : value * (LEASE_UNITS[unit] ?? Number.NaN)
  return ms > 0 ? ms : undefined
}

/**
 * Tells whether only this one request failed: the server still answers `about`. A failed login, and a caller who gave up, concern
 * every request.
 */
export async function isServerAlive(
  client: HaystackClient,
  { step }: HaystackFailure,
  options: RequestOptions,
): Promise<boolean> {
  if ((step !== 'op' && step !== 'parse') || options.signal.aborted) return false
  try {
    await client.about(options)
    return true
  } catch (error) {
    if (!(error instanceof HaystackFailure)) throw error
    return false
  }
}

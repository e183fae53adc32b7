/** The ops of a Haystack server that read, each as a method. @source project-haystack.org/doc/docHaystack/Ops */
import { nameTable } from '#shared/core/name-table.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Dict, type Grid, makeGrid, makeNumber, makeRef, MARKER, numberOf, textOf } from './core/grid.ts'
import type { GridReply, HaystackSession, Op, RequestOptions } from './session.ts'

/** Rows in the order of the answer; `at` as in `GridReply`. */
type Rows = { rows: Dict[]; at: number; rttMs: number }
type WatchGrant = { watchId: string; leaseMs: number | undefined }

/** Milliseconds of the units in which servers write a lease. */
const LEASE_UNITS = nameTable<number>({
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
})

/** Every method throws HaystackFailure as `HaystackSession.call` does. */
export class HaystackClient {
  readonly #session: Pick<HaystackSession, 'call'>

  constructor(session: Pick<HaystackSession, 'call'>) {
    this.#session = session
  }

  /** Product, version and name of the server. */
  async about(options: RequestOptions): Promise<Dict> {
    return (await this.#list('about', options))[0] ?? {}
  }

  /** Names of the ops that the server has. */
  async ops(options: RequestOptions): Promise<Set<string>> {
    // Haystack 4 names an op by its def, `^op:read`; earlier versions by `name`.
    return new Set((await this.#list('ops', options)).map(row => nameOf(row).replace(/^op:/, '')))
  }

  /** Media types that the server reads and writes. Haystack 4 calls this op `filetypes`, earlier servers `formats`. */
  async formats(options: RequestOptions): Promise<string[]> {
    const rows = await this.#list('filetypes', options).catch((error: HaystackFailure) => {
      if (error.step !== 'op' || error.kind === 'silent') throw error
      return this.#list('formats', options)
    })
    return rows.map(row => textOf(row.mime) ?? nameOf(row).replace(/^filetype:/, ''))
  }

  /** Records that match a filter, at most `limit`. */
  async read(filter: string, limit: number, options: RequestOptions): Promise<Rows> {
    return rowsOf(await this.#session.call('read', makeGrid([{ filter, limit }]), options))
  }

  /** Records by id, in the order of `ids`; a record that does not exist is a row without `id`. */
  async readIds(ids: readonly string[], options: RequestOptions): Promise<Rows> {
    return rowsOf(await this.#session.call('read', idGrid(ids), options))
  }

  /**
   * Opens a watch, or adds records to one.
   *
   * @param leaseMs how long the server should keep the watch without a poll
   * @returns the watch, and the records with their current values
   */
  async watchSub(ids: readonly string[], leaseMs: number, watchId: string | undefined, options: RequestOptions) {
    const meta = { watchDis: 'Plenum', lease: makeNumber(Math.ceil(leaseMs / 60_000), 'min'), ...(watchId && { watchId }) }
    const reply = await this.#session.call('watchSub', idGrid(ids, meta), options)
    const given = textOf(reply.grid.meta.watchId)
    if (given === undefined) throw new HaystackFailure('watchSub: the answer names no watch', { step: 'op' })
    return { ...rowsOf(reply), watch: { watchId: given, leaseMs: leaseOf(reply.grid.meta.lease) } satisfies WatchGrant }
  }

  /** Records whose values have changed since the last poll. */
  async watchPoll(watchId: string, options: RequestOptions): Promise<Rows> {
    return rowsOf(await this.#session.call('watchPoll', makeGrid([], { watchId }), options))
  }

  /** Ends a watch. */
  async watchUnsub(watchId: string, options: RequestOptions): Promise<void> {
    await this.#session.call('watchUnsub', makeGrid([], { watchId, close: MARKER }), options)
  }

  /** Rows of an op that takes no arguments. */
  async #list(op: Op, options: RequestOptions): Promise<Dict[]> {
    return (await this.#session.call(op, undefined, options)).grid.rows
  }
}

const rowsOf = ({ grid: { rows }, at, rttMs }: GridReply): Rows => ({ rows, at, rttMs })

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
 * Returns whether only this request failed: the server still answers `about`. A failed login, or a cancelled request, concerns
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

/** Current records of points: by a watch where the server keeps watches, else by reading them. */
import { isSameRef } from './core/address.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Dict, refOf } from './core/grid.ts'
import { accuse, type Apart, RETRIES_MAX, sortOut } from '../../core/poll/isolate.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { type HaystackClient, isServerAlive } from './client.ts'
import { readInBatches } from './batches.ts'
import type { RequestOptions } from './session.ts'

/** A record as it was at `at`, or why there is none; `isGone`: the server says so. */
type Found = ({ record: Dict } | { reason: string; isGone?: boolean }) & { at: number }

/** A change that a server failed to tell, or a record that is gone, is found by asking for everything now and then. */
const REFRESH_MS = 10 * MINUTE
/** A server that loses watches so often in a row is read instead, and given another chance later. */
const LOST_MAX = 2
const RETRY_WATCH_MS = HOUR

type Watch = { id: string; ids: Set<string>; polledAt: number; leaseMs: number; refreshedAt: number }
/** Hears of a record that cannot be read. */
type Spoil = (id: string, reason: string) => void
type Open = { client: HaystackClient; leaseMs: number; now: () => number }

/**
 * @param leaseMs for which a watch should live without a poll
 * @param now ms; the clock that leases are reckoned in
 */
export function openRecords({ client, leaseMs, now }: Open) {
  const watching = openWatch({ client, leaseMs, now })
  /** Records that spoil each answer that they are in. */
  const apart: Apart = new Map()
  /** Until when records are read instead; undefined until the server has said whether it keeps watches. */
  let readUntil: number | undefined

  const spoil = (id: string, reason: string) => accuse(apart, id, reason, now())

  async function read(ids: readonly string[], options: RequestOptions): Promise<Map<string, Found>> {
    const found = new Map<string, Found>()
    await readInBatches(ids, {
      async ask(part) {
        const { rows, at } = await client.readIds(part, options)
        const records = matchRows(rows, part)
        for (const id of part) found.set(id, foundOf(records.get(id), id, at))
      },
      spoil,
      leave: (id, reason) => void found.set(id, { reason, at: now() }),
      isWorthSplitting: error => isServerAlive(client, error, options),
    })
    return found
  }

  async function current(ids: readonly string[], options: RequestOptions): Promise<Map<string, Found>> {
    if (ids.length === 0) return new Map()
    readUntil ??= (await hasWatches(client, options)) ? 0 : Infinity
    if (now() < readUntil) return read(ids, options)
    try {
      return await watching.current(ids, options, spoil)
    } catch (error) {
      // Only where reading works it is the watch that does not.
      if (!(await isItself(error, client, options))) throw error
      watching.forget()
      const found = await read(ids, options)
      readUntil = now() + RETRY_WATCH_MS
      return found
    }
  }

  /** Tries spoilers again, each alone, until some fail once more. */
  async function retry(ids: readonly string[], found: Map<string, Found>, options: RequestOptions): Promise<void> {
    let failed = 0
    for (const id of ids) {
      if (failed >= RETRIES_MAX) return
      try {
        const { rows, at } = await client.readIds([id], { ...options, retries: 0 })
        found.set(id, foundOf(matchRows(rows, [id]).get(id), id, at))
        apart.delete(id)
      } catch (error) {
        if (!(error instanceof HaystackFailure) || options.signal.aborted) throw error
        spoil(id, error.message)
        failed += error.kind === 'silent' ? RETRIES_MAX : 1
      }
    }
  }

  return {
    /**
     * @param ids without the `@`, each once
     * @throws HaystackFailure when the server as a whole cannot be read
     */
    async current(ids: readonly string[], options: RequestOptions): Promise<Map<string, Found>> {
      const { together, retried } = sortOut(apart, ids, id => id, now())
      const found = await current(together, options)
      if (retried.length > 0) await retry(retried, found, options)
      for (const id of ids) {
        const spoiler = apart.get(id)
        if (spoiler) found.set(id, { reason: spoiler.reason, at: now() })
      }
      return found
    },
    close: watching.close,
  }
}

function openWatch({ client, leaseMs, now }: Open) {
  /** By the id that was asked for. */
  const records = new Map<string, Dict>()
  /** Ids that were asked for, by the id under which the server answers. */
  const askedBy = new Map<string, Set<string>>()
  let watch: Watch | undefined
  /** Watches that were gone when they were asked, since one was not. */
  let lost = 0

  function forget(): void {
    watch = undefined
    records.clear()
    askedBy.clear()
  }

  async function subscribe(ids: readonly string[], options: RequestOptions, spoil: Spoil): Promise<void> {
    const ask = async (part: readonly string[]) => {
      const { rows, watch: given } = await client.watchSub(part, leaseMs, watch?.id, options)
      watch ??= { id: given.watchId, ids: new Set(), polledAt: now(), leaseMs, refreshedAt: now() }
      // What the first watch holds would not be polled any more.
      if (given.watchId !== watch.id) throw new HaystackFailure('watchSub: the server adds to no watch', { step: 'op' })
      Object.assign(watch, { polledAt: now(), leaseMs: given.leaseMs ?? leaseMs })
      const matched = matchRows(rows, part)
      for (const id of part) {
        const record = matched.get(id)
        watch.ids.add(id)
        records.delete(id)
        if (!record) continue
        records.set(id, record)
        const name = refOf(record.id)!
        askedBy.set(name, (askedBy.get(name) ?? new Set()).add(id))
      }
    }
    const leave = () => undefined
    await readInBatches(ids, { ask, spoil, leave, isWorthSplitting: async () => false })
  }

  async function poll({ id }: Watch, options: RequestOptions): Promise<void> {
    const { rows } = await client.watchPoll(id, options)
    for (const row of rows) for (const asked of askedBy.get(refOf(row.id) ?? '') ?? []) records.set(asked, row)
  }

  /** Brings what is known up to date; a watch that is gone is forgotten, so that another is opened. */
  async function update(current: Watch, options: RequestOptions, spoil: Spoil): Promise<void> {
    if (now() - current.polledAt >= current.leaseMs) return forget()
    try {
      const isRefresh = now() - current.refreshedAt >= REFRESH_MS
      if (isRefresh) await subscribe([...current.ids], options, spoil)
      else await poll(current, options)
      Object.assign(current, { polledAt: now(), ...(isRefresh && { refreshedAt: now() }) })
      lost = 0
    } catch (error) {
      if (!isRefusal(error) || ++lost >= LOST_MAX) throw error
      forget()
    }
  }

  return {
    async current(ids: readonly string[], options: RequestOptions, spoil: Spoil) {
      if (watch) await update(watch, options, spoil)
      await subscribe(
        ids.filter(id => !watch?.ids.has(id)),
        options,
        spoil,
      )
      const at = now()
      return new Map(ids.map(id => [id, foundOf(records.get(id), id, at)]))
    },
    forget() {
      forget()
      lost = 0
    },
    /** The server forgets a watch by itself when this does not reach it. */
    async close(options: RequestOptions): Promise<void> {
      if (watch) await client.watchUnsub(watch.id, options).catch(() => undefined)
      forget()
    },
  }
}

/** The server answered, and would not: it has no such op, no such watch, or says why in an error grid. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HaystackFailure && error.kind === 'fault' && (error.step === 'op' || error.step === 'parse')

/** Whether a question failed by itself: it was refused, or the server answers others. */
const isItself = async (error: unknown, client: HaystackClient, options: RequestOptions): Promise<boolean> =>
  isRefusal(error) || (error instanceof HaystackFailure && (await isServerAlive(client, error, options)))

async function hasWatches(client: HaystackClient, options: RequestOptions): Promise<boolean> {
  try {
    const ops = await client.ops(options)
    return ops.has('watchSub') && ops.has('watchPoll')
  } catch (error) {
    if (!(await isItself(error, client, options))) throw error
    return true // A server that does not tell its ops may have them.
  }
}

/** @returns records by the id that was asked for; ids without a record are absent */
function matchRows(rows: readonly Dict[], asked: readonly string[]): Map<string, Dict> {
  const exact = new Set(asked)
  const matched = new Map<string, Dict>()
  for (const row of rows) {
    const id = refOf(row.id)
    if (id === undefined) continue
    for (const one of asked) if (one === id || (!exact.has(id) && isSameRef(one, id))) matched.set(one, row)
  }
  return matched
}

const foundOf = (record: Dict | undefined, id: string, at: number): Found =>
  record ? { record, at } : { reason: `the server has no record @${id}`, isGone: true, at }

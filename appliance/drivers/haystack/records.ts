/** Current records of points: by a watch where the server has watches, otherwise read by id. */
import { HaystackFailure } from './core/failure.ts'
import { isolate, type IsolatedItems, planRetries, RETRIES_MAX } from '../../core/poll/isolate.ts'
import { HOUR } from '#shared/core/time.ts'
import { type HaystackClient, isServerAlive } from './client.ts'
import { readInBatches } from './batches.ts'
import type { RequestOptions } from './session.ts'
import { isRefusal, matchRows, type RecordOptions, type RecordResult, RecordWatch, resultOf } from './watch.ts'

/** How long records are read by id after watches have failed. */
const RETRY_WATCH_MS = HOUR

export class RecordReader {
  readonly #client: HaystackClient
  readonly #now: () => number
  readonly #watch: RecordWatch
  /** Records that make every request fail that contains them. */
  readonly #badRecords: IsolatedItems = new Map()
  /** End of reading by id; undefined until the server has stated whether it has watches. */
  #readUntil: number | undefined

  constructor(options: RecordOptions) {
    this.#client = options.client
    this.#now = options.now
    this.#watch = new RecordWatch(options)
  }

  /**
   * @param ids without the `@`, each once
   * @throws HaystackFailure when the server as a whole cannot be read
   */
  async current(ids: readonly string[], options: RequestOptions): Promise<Map<string, RecordResult>> {
    const { together, retried } = planRetries(this.#badRecords, ids, id => id, this.#now())
    const results = await this.#watchOrRead(together, options)
    await this.#retry(retried, results, options)
    for (const id of ids) {
      const bad = this.#badRecords.get(id)
      if (bad) results.set(id, { reason: bad.reason, at: this.#now() })
    }
    return results
  }

  close(options: RequestOptions): Promise<void> {
    return this.#watch.close(options)
  }

  readonly #onBadRecord = (id: string, reason: string) => isolate(this.#badRecords, id, reason, this.#now())

  async #watchOrRead(ids: readonly string[], options: RequestOptions): Promise<Map<string, RecordResult>> {
    if (ids.length === 0) return new Map()
    this.#readUntil ??= (await hasWatches(this.#client, options)) ? 0 : Infinity
    if (this.#now() < this.#readUntil) return this.#read(ids, options)
    try {
      return await this.#watch.current(ids, options, this.#onBadRecord)
    } catch (error) {
      if (!(await isOneRequest(error, this.#client, options))) throw error
      this.#watch.reset()
      // Only a read that succeeds shows that the watch was at fault.
      const results = await this.#read(ids, options)
      this.#readUntil = this.#now() + RETRY_WATCH_MS
      return results
    }
  }

  async #read(ids: readonly string[], options: RequestOptions): Promise<Map<string, RecordResult>> {
    const results = new Map<string, RecordResult>()
    await readInBatches(ids, {
      ask: async part => {
        const { rows, at } = await this.#client.readIds(part, options)
        const records = matchRows(rows, part)
        for (const id of part) results.set(id, resultOf(records.get(id), id, at))
      },
      onBadRecord: this.#onBadRecord,
      onNotAsked: (id, reason) => void results.set(id, { reason, at: this.#now() }),
      isWorthSplitting: error => isServerAlive(this.#client, error, options),
    })
    return results
  }

  /** Tries bad records again, each alone, until some fail once more. */
  async #retry(ids: readonly string[], results: Map<string, RecordResult>, options: RequestOptions): Promise<void> {
    let failed = 0
    for (const id of ids) {
      if (failed >= RETRIES_MAX) return
      try {
        const { rows, at } = await this.#client.readIds([id], { ...options, retries: 0 })
        results.set(id, resultOf(matchRows(rows, [id]).get(id), id, at))
        this.#badRecords.delete(id)
      } catch (error) {
        if (!(error instanceof HaystackFailure) || options.signal.aborted) throw error
        this.#onBadRecord(id, error.message)
        failed += error.kind === 'silent' ? RETRIES_MAX : 1
      }
    }
  }
}

/** Returns whether only one request failed: it was refused, or the server answers others. */
const isOneRequest = async (error: unknown, client: HaystackClient, options: RequestOptions): Promise<boolean> =>
  isRefusal(error) || (error instanceof HaystackFailure && (await isServerAlive(client, error, options)))

async function hasWatches(client: HaystackClient, options: RequestOptions): Promise<boolean> {
  try {
    const ops = await client.ops(options)
    return ops.has('watchSub') && ops.has('watchPoll')
  } catch (error) {
    if (!(await isOneRequest(error, client, options))) throw error
    return true // A server that does not list its ops may have them.
  }
}

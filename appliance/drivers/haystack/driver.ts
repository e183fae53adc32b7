/** Reads the points of one device of the catalogue from a Haystack server: current values only. Nothing writes. */
import { HaystackFailure } from './core/failure.ts'
import { type HaystackPoint, pointState } from './core/point.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import { noTraffic } from '#shared/core/poll/traffic.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { HaystackClient } from './client.ts'
import { FilterResolver } from './filter-resolver.ts'
import { RecordReader } from './records.ts'
import type { HaystackSession } from './session.ts'
import type { RecordResult } from './watch.ts'

type PollItem = { point_id: string; address: HaystackPoint }

type DriverOptions = {
  session: HaystackSession
  timeoutMs: number
  retries: number
  /** How long the server should keep a watch without a poll, ms. */
  leaseMs: number
  /** Time of readings, ms since 1970 UTC. */
  now: () => number
}

/** Pause after a refused login: repeated attempts may lock the account. */
const REFUSED_MS = 5 * MINUTE
/** Timeout of the request that ends the watch. */
const UNSUBSCRIBE_MS = 1000

export class HaystackDriver implements FieldDriver<HaystackPoint> {
  readonly #options: DriverOptions
  readonly #inTurn = createSerialQueue()
  readonly #rtts: number[] = []
  readonly #traffic = noTraffic()
  readonly #records: RecordReader
  readonly #filters: FilterResolver
  #pointError: string | null = null
  #refused: { error: HaystackFailure; at: number } | undefined

  constructor(options: DriverOptions) {
    const { session, leaseMs, now } = options
    this.#options = options
    const client = new HaystackClient({
      call: async (op, grid, request) => {
        const reply = await session.call(op, grid, { ...request, traffic: this.#traffic })
        this.#rtts.push(reply.rttMs)
        if (this.#rtts.length > RTTS_MAX) this.#rtts.shift()
        return reply
      },
    })
    this.#records = new RecordReader({ client, leaseMs, now })
    this.#filters = new FilterResolver({ client, now })
  }

  read(items: PollItem[], signal: AbortSignal): Promise<Reading[]> {
    return this.#inTurn(() => this.#readUnlessRefused(items, signal))
  }

  report() {
    return { rtts: [...this.#rtts], batch_size: null, point_error: this.#pointError, traffic: { ...this.#traffic } }
  }

  close(): Promise<void> {
    const options = { timeoutMs: UNSUBSCRIBE_MS, retries: 0, signal: AbortSignal.timeout(UNSUBSCRIBE_MS) }
    return this.#inTurn(() => this.#records.close(options))
  }

  async #readUnlessRefused(items: PollItem[], signal: AbortSignal): Promise<Reading[]> {
    const { now } = this.#options
    if (items.length === 0) return []
    if (this.#refused && now() - this.#refused.at < REFUSED_MS) throw deviceError(this.#refused.error)
    try {
      const readings = await this.#read(items, signal)
      this.#refused = undefined
      return readings
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      this.#refused = isRefusedLogin(error) ? { error, at: now() } : undefined
      throw deviceError(error)
    }
  }

  async #read(items: PollItem[], signal: AbortSignal): Promise<Reading[]> {
    const { timeoutMs, retries, now } = this.#options
    const options = { timeoutMs, retries, signal }
    this.#pointError = null
    const filters = new Set(items.flatMap(({ address: { address } }) => ('filter' in address ? [address.filter] : [])))
    const resolved = await this.#filters.resolve([...filters], options)
    const targets = items.map(item => {
      const { address } = item.address
      return { item, target: 'ref' in address ? address : resolved.get(address.filter)! }
    })
    const refs = new Set(targets.flatMap(({ target }) => ('ref' in target ? [target.ref] : [])))
    const results = await this.#records.current([...refs], options)
    return targets.map(({ item, target }) =>
      'reason' in target
        ? this.#badReading(item, target.reason, now())
        : this.#readingOf(item, target.ref, results.get(target.ref)!),
    )
  }

  #readingOf(item: PollItem, ref: string, result: RecordResult): Reading {
    if ('reason' in result) {
      if (result.isGone && 'filter' in item.address.address) this.#filters.forget(item.address.address.filter, ref)
      return this.#badReading(item, result.reason, result.at)
    }
    const { value, quality, reason } = pointState(result.record, item.address)
    if (quality === 'bad') return this.#badReading(item, reason!, result.at)
    if (reason !== undefined) this.#pointError = `@${ref}: ${reason}`
    return { id: item.point_id, t: result.at, v: value, q: quality }
  }

  #badReading({ point_id, address: { address } }: PollItem, reason: string, t: number): Reading {
    this.#pointError = `${'ref' in address ? `@${address.ref}` : address.filter}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }
}

/** A server that is being started answers a login with a status of 500 and more; that refuses nothing. */
const isRefusedLogin = ({ step, status }: HaystackFailure): boolean => step === 'auth' && status !== undefined && status < 500

function deviceError({ kind, step, message, advice }: HaystackFailure): DeviceError {
  return new DeviceError(kind, `${step}: ${message}${advice === undefined ? '' : `; ${advice}`}`)
}

/** Reads the points of one device of the catalogue from a Haystack server: current values, and nothing that writes. */
import { HaystackFailure } from './core/failure.ts'
import { type HaystackPoint, pointState } from './core/point.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { haystackClient } from './client.ts'
import { createFilterResolver } from './filter-resolver.ts'
import { openRecords } from './records.ts'
import type { Session } from './session.ts'

type Item = { point_id: string; address: HaystackPoint }

type DriverOptions = {
  session: Session
  timeoutMs: number
  retries: number
  /** For which the server should keep a watch without a poll, ms. */
  leaseMs: number
  /** Stamps readings. */
  now: () => number
}

/** An account that is refused may be locked when it goes on knocking. */
const REFUSED_MS = 5 * MINUTE
/** How long the server may take to hear that the watch is over. */
const GOODBYE_MS = 1000

export function haystackDriver({ session, timeoutMs, retries, leaseMs, now }: DriverOptions): FieldDriver<HaystackPoint> {
  const inTurn = createSerialQueue()
  const rtts: number[] = []
  const client = haystackClient({
    async call(op, grid, options) {
      const reply = await session.call(op, grid, options)
      rtts.push(reply.rttMs)
      if (rtts.length > RTTS_MAX) rtts.shift()
      return reply
    },
  })
  const records = openRecords({ client, leaseMs, now })
  const places = createFilterResolver({ client, now })
  let pointError: string | null = null
  let refused: { error: HaystackFailure; at: number } | undefined

  function bad({ point_id, address: { address } }: Item, reason: string, t: number): Reading {
    pointError = `${'ref' in address ? `@${address.ref}` : address.filter}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const options = { timeoutMs, retries, signal }
    pointError = null
    const filters = new Set(items.flatMap(({ address: { address } }) => ('filter' in address ? [address.filter] : [])))
    const resolved = await places.resolve([...filters], options)
    const placed = items.map(item => {
      const { address } = item.address
      return { item, place: 'ref' in address ? address : resolved.get(address.filter)! }
    })
    const refs = new Set(placed.flatMap(({ place }) => ('ref' in place ? [place.ref] : [])))
    const found = await records.current([...refs], options)
    return placed.map(({ item, place }) => {
      if ('reason' in place) return bad(item, place.reason, now())
      return take(item, place.ref, found.get(place.ref)!)
    })
  }

  function take(
    item: Item,
    ref: string,
    found: { at: number } & ({ record: object } | { reason: string; isGone?: boolean }),
  ): Reading {
    if ('reason' in found) {
      if (found.isGone && 'filter' in item.address.address) places.forget(item.address.address.filter, ref)
      return bad(item, found.reason, found.at)
    }
    const { value, quality, reason } = pointState(found.record as Parameters<typeof pointState>[0], item.address)
    if (quality === 'bad') return bad(item, reason!, found.at)
    if (reason !== undefined) pointError = `@${ref}: ${reason}`
    return { id: item.point_id, t: found.at, v: value, q: quality }
  }

  async function attempt(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    if (items.length === 0) return []
    if (refused && now() - refused.at < REFUSED_MS) throw deviceError(refused.error)
    try {
      const readings = await read(items, signal)
      refused = undefined
      return readings
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      refused = error.step === 'auth' && error.status !== undefined ? { error, at: now() } : undefined
      throw deviceError(error)
    }
  }

  return {
    read: (items, signal) => inTurn(() => attempt(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: null, point_error: pointError }),
    close: () => inTurn(() => records.close({ timeoutMs: GOODBYE_MS, retries: 0, signal: AbortSignal.timeout(GOODBYE_MS) })),
  }
}

function deviceError({ kind, step, message, advice }: HaystackFailure): DeviceError {
  return new DeviceError(kind, `${step}: ${message}${advice === undefined ? '' : `; ${advice}`}`)
}

/** Reads the points of one device of the catalogue from a Haystack server: current values, and nothing that writes. */
import { HaystackFailure } from '#shared/core/haystack/failure.ts'
import { refOf } from '#shared/core/haystack/grid.ts'
import { type HaystackPoint, pointState } from '#shared/core/haystack/point.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { MINUTE } from '#shared/core/time.ts'
import { serial } from '../serial.ts'
import { haystackClient } from './client.ts'
import { openRecords } from './records.ts'
import type { Patience, Session } from './session.ts'

type Item = { point_id: string; address: HaystackPoint }
/** The id of a point's record, or why there is none. */
type Place = { ref: string } | { reason: string }

export type DriverOptions = {
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
/** How often a filter that fits no record, or several, is tried again. */
const RESOLVE_MS = 5 * MINUTE
/** Statuses with which servers send an error grid about the question itself. */
const ERROR_GRIDS: ReadonlySet<number | undefined> = new Set([200, 400])
/** How long the server may take to hear that the watch is over. */
const GOODBYE_MS = 1000

export function haystackDriver({ session, timeoutMs, retries, leaseMs, now }: DriverOptions): FieldDriver<HaystackPoint> {
  const inTurn = serial()
  const rtts: number[] = []
  const client = haystackClient({
    async call(op, grid, patience) {
      const reply = await session.call(op, grid, patience)
      rtts.push(reply.rttMs)
      if (rtts.length > RTTS_MAX) rtts.shift()
      return reply
    },
  })
  const records = openRecords({ client, leaseMs, now })
  const places = new Map<string, { place: Place; at: number }>()
  let pointError: string | null = null
  let refused: { error: HaystackFailure; at: number } | undefined

  /** Finds the one record that a filter fits; what fits none or several is tried again after a while. */
  async function resolve(filter: string, patience: Patience): Promise<Place> {
    const before = places.get(filter)
    if (before && ('ref' in before.place || now() - before.at < RESOLVE_MS)) return before.place
    const place = await findPlace(filter, patience)
    places.set(filter, { place, at: now() })
    return place
  }

  async function findPlace(filter: string, patience: Patience): Promise<Place> {
    try {
      const { rows } = await client.read(filter, 2, patience)
      const ref = refOf(rows[0]?.id)
      if (rows.length > 1) return { reason: `more than one record fits ${filter}` }
      return ref === undefined ? { reason: `no record fits ${filter}` } : { ref }
    } catch (error) {
      const isSaid = error instanceof HaystackFailure && error.step === 'op' && ERROR_GRIDS.has(error.status)
      if (!isSaid) throw error
      return { reason: error.message }
    }
  }

  async function placeOf({ address: { address } }: Item, patience: Patience): Promise<Place> {
    return 'ref' in address ? address : resolve(address.filter, patience)
  }

  function bad({ point_id, address: { address } }: Item, reason: string, t: number): Reading {
    pointError = `${'ref' in address ? `@${address.ref}` : address.filter}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const patience = { timeoutMs, retries, signal }
    pointError = null
    const places: { item: Item; place: Place }[] = []
    for (const item of items) places.push({ item, place: await placeOf(item, patience) })
    const refs = new Set(places.flatMap(({ place }) => ('ref' in place ? [place.ref] : [])))
    const found = await records.current([...refs], patience)
    return places.map(({ item, place }) => {
      if ('reason' in place) return bad(item, place.reason, now())
      return take(item, place.ref, found.get(place.ref)!)
    })
  }

  function take(item: Item, ref: string, found: { at: number } & ({ record: object } | { reason: string })): Reading {
    if ('reason' in found) {
      forgetPlace(item, ref)
      return bad(item, found.reason, found.at)
    }
    const { value, quality, reason } = pointState(found.record as Parameters<typeof pointState>[0], item.address)
    if (quality === 'bad') return bad(item, reason!, found.at)
    if (reason !== undefined) pointError = `@${ref}: ${reason}`
    return { id: item.point_id, t: found.at, v: value, q: quality }
  }

  /** A record that is gone may have come back under another id. */
  function forgetPlace({ address: { address } }: Item, ref: string): void {
    if ('filter' in address) places.set(address.filter, { place: { reason: `@${ref} is gone` }, at: now() })
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

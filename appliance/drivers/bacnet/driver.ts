/** Reads the points of one BACnet/IP device: in batches, smaller ones where it declines, and nothing that writes. */
import {
  afterAnswer,
  afterRefusal,
  afterSilence,
  type Batch,
  firstBatch,
  fitting,
  plainSize,
  sizeOf,
  startLearning,
  withoutMultiple,
} from '#shared/core/bacnet/batch.ts'
import { DEVICE, formatTarget, MAX_APDU_LENGTH_ACCEPTED, type Target, targetKey } from '#shared/core/bacnet/object.ts'
import { type BacnetPoint, pointValue } from '#shared/core/bacnet/point.ts'
import { formatRefusal } from '#shared/core/bacnet/refusal.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE, type ReadQuestion, type Refusal } from '#shared/core/bacnet/reply.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { DAY } from '#shared/core/time.ts'
import { serial } from '../serial.ts'
import { covChanges, LIFETIME_SECS } from './cov.ts'
import type { Outcome, Patience, Peer } from './peer.ts'
import type { BacnetTransport } from './transport.ts'

type Item = { point_id: string; address: BacnetPoint }

/** The device object, for what concerns the device as a whole. */
export type DeviceObject = {
  device_instance: number
  /** Its largest APDU is not known: it is asked before the first batch. `most`: points per request that its entry allows. */
  apdu?: { ask: true; most: number | undefined }
  /** See `CovParts`. */
  lifetimeSecs?: number
}

/** Points that go into one request together; `alone`: one after the other, by ReadProperty. */
type Chunk = { items: Item[]; alone?: 'known' | 'probe' | 'declined' }
/** One read of the driver. */
type Visit = {
  readings: Reading[]
  hasAnswered: boolean
  /** A ReadPropertyMultiple was answered. */
  hasTogether: boolean
  /** Declined within others and then asked alone. */
  declined: string[]
  /** How many of these had a value. */
  onlyAlone: number
}

/** How long points that spoil a batch are asked alone before they are tried among the others again. */
const APART_MS = DAY
/** Points that must have a value alone and none in company before ReadPropertyMultiple is left for good. */
const ONLY_ALONE = 3

/**
 * @param first the batch to start with; what the device teaches is remembered while the driver lives, as it costs a few
 *   requests to learn again
 * @param now stamps readings that are bad because no answer came
 * @param device needed for `watch`, and to ask for the APDU
 */
export function bacnetDriver(
  transport: BacnetTransport,
  peer: Peer,
  patience: Patience,
  first: Batch,
  now: () => number,
  device?: DeviceObject,
): FieldDriver<BacnetPoint> {
  const inTurn = serial()
  const rtts: number[] = []
  let learnt = startLearning(first)
  let isApduKnown = !device?.apdu
  /** Asked for many at once it never answered; whether it is there, a single point tells. */
  let isSuspect = false
  let isAway = true
  /** Keys of points for which whole batches are declined, and until when. */
  let apart = { keys: new Set<string>(), until: 0 }
  let pointError: string | null = null
  const changes =
    device && covChanges({ lifetimeSecs: LIFETIME_SECS, ...device, transport, peer, patience, now, inTurn: task => inTurn(task) })

  function bad({ point_id, address }: Item, reason: string, t: number): Reading {
    pointError = `${formatTarget(address.target)}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async function request(question: ReadQuestion, signal: AbortSignal): Promise<Outcome> {
    const outcome = await transport.request(peer, question, patience, signal)
    if ('reason' in outcome) {
      if (outcome.state === 'silent') isAway = true
      return outcome
    }
    rtts.push(outcome.rttMs)
    if (rtts.length > RTTS_MAX) rtts.shift()
    if (isAway) changes?.deviceReturned()
    isAway = false
    return outcome
  }

  async function ask(items: Item[], isAlone: boolean, signal: AbortSignal): Promise<Outcome> {
    const targets = [...new Map(items.map(({ address: { target } }) => [targetKey(target), target])).values()]
    const outcome = await request({ service: isAlone ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets }, signal)
    if (outcome.state !== 'results' || targets.length === items.length) return outcome
    const byKey = new Map(targets.map((target, i) => [targetKey(target), outcome.results[i]!]))
    return { ...outcome, results: items.map(({ address }) => byKey.get(targetKey(address.target))!) }
  }

  function take(items: Item[], { results, at }: Extract<Outcome, { state: 'results' }>): Reading[] {
    return items.map((item, i) => {
      const found = pointValue(results[i]!, item.address.conversion)
      return 'value' in found ? { id: item.point_id, t: at, v: found.value, q: 'good' } : bad(item, found.reason, at)
    })
  }

  /** Once, and only when nobody said it. A device that does not tell is taken for a small one. */
  async function learnApdu(visit: Visit, signal: AbortSignal): Promise<void> {
    if (isApduKnown || !device?.apdu) return
    const target = { type: DEVICE, instance: device.device_instance, property: MAX_APDU_LENGTH_ACCEPTED }
    const outcome = await request({ service: READ_PROPERTY, targets: [target] }, signal)
    if (outcome.state === 'silent' || outcome.state === 'cancelled') throw new DeviceError('silent', outcome.reason)
    isApduKnown = true
    visit.hasAnswered = outcome.state !== 'garbled'
    const [told] = outcome.state === 'results' ? outcome.results : []
    const [value] = told && 'values' in told ? told.values : []
    if (value?.type === 'unsigned') learnt = startLearning(firstBatch(Number(value.value), device.apdu.most))
  }

  function plan(items: Item[]): Chunk[] {
    if (!learnt.batch.multiple) return [{ items }]
    if (now() >= apart.until) apart = { keys: new Set(), until: 0 }
    const { known = [], rest = [] } = Object.groupBy(items, ({ address }) =>
      apart.keys.has(targetKey(address.target)) ? 'known' : 'rest',
    )
    const chunks: Chunk[] = [{ items: rest }, { items: known, alone: 'known' }]
    if (isSuspect && rest.length > 1) chunks.unshift({ items: rest.splice(0, 1), alone: 'probe' })
    return chunks.filter(chunk => chunk.items.length > 0)
  }

  function learnFromAnswer(asked: Item[], isAlone: boolean, visit: Visit): void {
    learnt = afterAnswer(learnt, sizeOf(targetsOf(asked)), isAlone ? 'single' : 'multiple', now())
    if (isAlone) return
    isSuspect = false
    visit.hasTogether = true
  }

  /** @returns what to ask next of what was declined as a whole; empty when that is told as a bad point */
  function afterDecline(asked: Item[], isAlone: boolean, refusal: Refusal, at: number, visit: Visit): Chunk[] {
    const [only] = asked
    if (isAlone) {
      visit.readings.push(bad(only!, formatRefusal(refusal), at))
      return []
    }
    const size = sizeOf(targetsOf(asked))
    const next = afterRefusal(learnt, size, refusal, now())
    if (next) {
      learnt = next
      return [{ items: asked }]
    }
    // Some devices decline a whole request for one bad point in it: the halves tell which.
    if (asked.length > 1) return halves(asked)
    visit.declined.push(targetKey(only!.address.target))
    return [{ items: asked, alone: 'declined' }]
  }

  async function visitPoints(items: Item[], visit: Visit, signal: AbortSignal): Promise<void> {
    await learnApdu(visit, signal)
    const todo = plan(items)
    for (let chunk = todo.shift(); chunk; chunk = todo.shift()) {
      const isAlone = chunk.alone !== undefined || !learnt.batch.multiple
      const ahead = chunk.items.slice(0, isAlone ? 1 : learnt.batch.size)
      const asked = isAlone ? ahead : ahead.slice(0, fitting(learnt.batch, targetsOf(ahead)))
      if (asked.length < chunk.items.length) todo.unshift({ ...chunk, items: chunk.items.slice(asked.length) })
      const outcome = await ask(asked, isAlone, signal)
      if ('reason' in outcome) {
        const isThere = visit.hasAnswered || outcome.state === 'garbled'
        if (!isAlone && isThere) learnt = afterSilence(learnt, sizeOf(targetsOf(asked)))
        if (!isAlone && !isThere) isSuspect = learnt.proven === 0
        if (!visit.hasAnswered) throw new DeviceError(outcome.state === 'garbled' ? 'fault' : 'silent', outcome.reason)
        visit.readings.push(...[asked, ...todo.map(left => left.items)].flat().map(item => bad(item, outcome.reason, now())))
        return
      }
      visit.hasAnswered = true
      if (outcome.state === 'results') {
        visit.readings.push(...take(asked, outcome))
        learnFromAnswer(asked, isAlone, visit)
        if (chunk.alone === 'declined' && 'values' in outcome.results[0]!) visit.onlyAlone++
        if (visit.onlyAlone >= ONLY_ALONE && learnt.proven === 0) learnt = withoutMultiple(learnt, now())
      } else todo.unshift(...afterDecline(asked, isAlone, outcome.refusal, outcome.at, visit))
    }
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const visit: Visit = { readings: [], hasAnswered: false, hasTogether: false, declined: [], onlyAlone: 0 }
    pointError = null
    if (items.length > 0) await visitPoints(items, visit, signal)
    // A device that declined everything for a while says nothing about single points.
    if (visit.hasTogether && visit.declined.length > 0) {
      if (apart.keys.size === 0) apart.until = now() + APART_MS
      for (const key of visit.declined) apart.keys.add(key)
    }
    return visit.readings
  }

  return {
    read: (items, signal) => inTurn(() => read(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: plainSize(learnt.batch), point_error: pointError }),
    ...(changes && { watch: changes.watch }),
    close: async () => undefined,
  }
}

const targetsOf = (items: readonly Item[]): Target[] => items.map(({ address }) => address.target)

function halves(items: Item[]): Chunk[] {
  const middle = Math.ceil(items.length / 2)
  return [{ items: items.slice(0, middle) }, { items: items.slice(middle) }]
}

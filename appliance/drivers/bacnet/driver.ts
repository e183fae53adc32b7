/** Reads the points of one BACnet/IP device: in batches, smaller ones where it declines, and nothing that writes. */
import { type Batch, plainSize, startLearning } from './core/batch.ts'
import { ReadSequence, type PointRequest } from './core/read-sequence.ts'
import { createDeviceMemory } from './core/device-memory.ts'
import { formatTarget, targetKey } from '#shared/core/bacnet/object.ts'
import { type BacnetPoint, pointValue } from './core/point.ts'
import { formatRefusal, UNKNOWN_OBJECT } from './core/refusal.ts'
import { type PropertyResult, READ_PROPERTY, READ_PROPERTY_MULTIPLE, type ReadQuestion } from './core/reply.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { covChanges, LIFETIME_SECS } from './cov.ts'
import { apduTarget, batchTold, type Check, type DeviceObject, guardIdentity, type Item } from './identity.ts'
import { withFewRetries, type Outcome, type Peer } from './outcome.ts'
import type { RetryPolicy } from '../protocol.ts'
import type { BacnetTransport } from './transport.ts'

/**
 * @param first the batch to start with; what the device teaches is remembered while the driver lives, as it costs a few
 *   requests to learn again
 * @param now stamps readings that are bad because no answer came
 * @param device needed for `watch`, to ask for the APDU, and to notice that another device has taken the address
 */
export function bacnetDriver(
  transport: BacnetTransport,
  peer: Peer,
  retryPolicy: RetryPolicy,
  first: Batch,
  now: () => number,
  device?: DeviceObject,
): FieldDriver<BacnetPoint> {
  const inTurn = createSerialQueue()
  const rtts: number[] = []
  const known = createDeviceMemory(first)
  const guard = device && guardIdentity(device, now, adopt)
  let isMet = false
  let isBack = false
  let pointError: string | null = null
  const changes =
    device &&
    covChanges({
      lifetimeSecs: LIFETIME_SECS,
      ...device,
      transport,
      peer,
      retryPolicy,
      now,
      inTurn: task => inTurn(task),
      isTrusted: () => !guard?.isStranger(),
    })

  /** The device tells what it takes, or that it takes another size now; what it has taught else stays. */
  function adopt(told: Batch): void {
    const { bytes, size } = known.learnt.first
    if (told.bytes !== bytes || told.size !== size) known.learnt = startLearning(told)
  }

  function bad({ point_id, address }: Item, reason: string, t: number): Reading {
    pointError = `${formatTarget(address.target)}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async function request(question: ReadQuestion, signal: AbortSignal, within = retryPolicy): Promise<Outcome> {
    const outcome = await transport.request(peer, question, within, signal)
    if ('reason' in outcome) {
      if (outcome.state === 'silent') isMet = false
      return outcome
    }
    rtts.push(outcome.rttMs)
    if (rtts.length > RTTS_MAX) rtts.shift()
    return outcome
  }

  /** Points at one address are asked once. */
  async function ask({ items, isAlone, isHasty }: PointRequest<Item>, signal: AbortSignal): Promise<Outcome> {
    const targets = [...new Map(items.map(({ address: { target } }) => [targetKey(target), target])).values()]
    const outcome = await request(
      { service: isAlone ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets },
      signal,
      isHasty ? withFewRetries(retryPolicy) : retryPolicy,
    )
    if (outcome.state !== 'results' || targets.length === items.length) return outcome
    const byKey = new Map(targets.map((target, i) => [targetKey(target), outcome.results[i]!]))
    return { ...outcome, results: items.map(({ address }) => byKey.get(targetKey(address.target))!) }
  }

  function take(item: Item, result: PropertyResult, at: number): Reading {
    const found = pointValue(result, item.address.conversion)
    return 'value' in found ? { id: item.point_id, t: at, v: found.value, q: 'good' } : bad(item, found.reason, at)
  }

  /**
   * Once at first and after each silence, in which the address may have gone to another device: its values would be taken
   * for those of this one. A device that does not tell its APDU is taken for a small one. @returns whether it answered
   */
  async function meet(signal: AbortSignal): Promise<boolean> {
    if (isMet || !device || !guard) return false
    const outcome = await request({ service: READ_PROPERTY, targets: [apduTarget(device)] }, signal)
    if (outcome.state === 'silent' || outcome.state === 'cancelled') throw new DeviceError('silent', outcome.reason)
    const [told] = outcome.state === 'results' ? outcome.results : []
    if (told && 'error' in told && told.error.errorCode === UNKNOWN_OBJECT) guard.refuse()
    isMet = true
    isBack = true
    guard.doubt()
    const batch = batchTold(device, told)
    if (batch) adopt(batch)
    return outcome.state !== 'garbled'
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    pointError = null
    if (items.length === 0) return []
    const hasAnswered = await meet(signal)
    const check = guard?.begin(known.learnt.batch.multiple)
    try {
      const readings = await readAll(items, hasAnswered, check, signal)
      check?.end()
      if (isBack) changes?.deviceReturned()
      isBack = false
      return readings
    } catch (error) {
      isMet = false
      throw error
    }
  }

  async function readAll(items: Item[], hasAnswered: boolean, check: Check | undefined, signal: AbortSignal): Promise<Reading[]> {
    const isChecked = check !== undefined && check.items.length > 0
    const isPoint = (item: Item) => !isChecked || !check.isOwn(item)
    const readings: Reading[] = []
    const all = isChecked ? [...check.items, ...items] : items
    const sequence = new ReadSequence(known, all, hasAnswered, now(), guard?.witness)
    const inquire = async (asked: PointRequest<Item>) => {
      const outcome = await ask(asked, signal)
      if ('reason' in outcome) {
        if (sequence.unanswered(asked, outcome.state, outcome.reason)) return
        throw new DeviceError(outcome.state === 'garbled' ? 'fault' : 'silent', outcome.reason)
      }
      if (outcome.state === 'results') {
        const { results, at } = outcome
        if (isChecked || asked.isWitness) check?.hear(asked.items, results)
        sequence.answered(asked, results)
        if (asked.isWitness) return
        for (const [i, item] of asked.items.entries()) if (isPoint(item)) readings.push(take(item, results[i]!, at))
      } else {
        const { refusal, at } = outcome
        const declined = sequence.declined(asked, refusal).filter(isPoint)
        readings.push(...declined.map(item => bad(item, formatRefusal(refusal), at)))
      }
    }
    // The first answer says that the device is there, and how much it takes; only then is it asked for more at a time.
    const first = sequence.next()
    if (first) await inquire(first)
    await atATime(peer.concurrency ?? 1, () => sequence.next(), inquire)
    const t = now()
    for (const { item, reason } of sequence.unread()) if (isPoint(item)) readings.push(bad(item, reason, t))
    return readings
  }

  return {
    read: (items, signal) => inTurn(() => read(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: plainSize(known.learnt.batch), point_error: pointError }),
    ...(changes && { watch: changes.watch }),
    close: async () => undefined,
  }
}

/** Does what `next` gives, `width` at a time, until it gives nothing more. */
async function atATime<T>(width: number, next: () => T | undefined, work: (one: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let one = next(); one !== undefined; one = next()) await work(one)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

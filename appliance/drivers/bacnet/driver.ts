/** Reads the points of one BACnet/IP device in batches, and in smaller ones when a batch fails. Nothing writes. */
import { type Batch, plainSize, startLearning } from './core/batch.ts'
import { ReadSequence, type PointRequest } from './core/read-sequence.ts'
import { createDeviceMemory, type DeviceMemory } from './core/device-memory.ts'
import { formatTarget, targetKey } from '#shared/core/bacnet/object.ts'
import { type BacnetPoint, pointValue } from './core/point.ts'
import { formatRefusal, UNKNOWN_OBJECT } from './core/refusal.ts'
import { type PropertyResult, READ_PROPERTY, READ_PROPERTY_MULTIPLE, type ReadRequest } from './core/reply.ts'
import { DeviceError, type DriverReport, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import { noTraffic } from '#shared/core/poll/traffic.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { covChanges, LIFETIME_SECS } from './cov-subscriptions.ts'
import {
  apduTarget,
  batchFromApdu,
  type IdentityCheck,
  type DeviceObject,
  guardIdentity,
  type BacnetItem,
} from './identity-guard.ts'
import { withFewRetries, type RequestOutcome, type Peer } from './outcome.ts'
import type { RetryPolicy } from '../protocol.ts'
import type { BacnetTransport } from './transport.ts'

/** The driver stores properties of the device in memory only; reading them again costs a few requests. */
export class BacnetDriver implements FieldDriver<BacnetPoint> {
  /** Absent when the driver was created without `device`. */
  readonly watch?: NonNullable<FieldDriver<BacnetPoint>['watch']>
  readonly #transport: BacnetTransport
  readonly #peer: Peer
  readonly #retryPolicy: RetryPolicy
  readonly #now: () => number
  readonly #device: DeviceObject | undefined
  readonly #memory: DeviceMemory
  readonly #guard: ReturnType<typeof guardIdentity> | undefined
  readonly #changes: ReturnType<typeof covChanges> | undefined
  readonly #runInTurn = createSerialQueue()
  readonly #rtts: number[] = []
  readonly #traffic = noTraffic()
  /** The device has answered since the driver was created or the device was silent. */
  #hasAnswered = false
  /** The device has returned, and the read that noticed it is still running. */
  #isBack = false
  #pointError: string | null = null

  /**
   * @param first the batch to start with
   * @param now time of readings that are bad because no answer came, ms since 1970 UTC
   * @param device needed for `watch`, to read the APDU size, and to detect that another device has taken the address
   */
  constructor(
    transport: BacnetTransport,
    peer: Peer,
    retryPolicy: RetryPolicy,
    first: Batch,
    now: () => number,
    device?: DeviceObject,
  ) {
    this.#transport = transport
    this.#peer = { ...peer, traffic: this.#traffic }
    this.#retryPolicy = retryPolicy
    this.#now = now
    this.#device = device
    this.#memory = createDeviceMemory(first)
    if (!device) return
    this.#guard = guardIdentity(device, now, first => this.#adopt(first))
    this.#changes = covChanges({
      lifetimeSecs: LIFETIME_SECS,
      ...device,
      transport,
      peer: this.#peer,
      retryPolicy,
      now,
      inTurn: task => this.#runInTurn(task),
      isTrusted: () => !this.#guard?.isStranger(),
    })
    this.watch = this.#changes.watch
  }

  read(items: BacnetItem[], signal: AbortSignal): Promise<Reading[]> {
    return this.#runInTurn(() => this.#read(items, signal))
  }

  report(): DriverReport {
    return {
      rtts: [...this.#rtts],
      batch_size: plainSize(this.#memory.learnt.batch),
      point_error: this.#pointError,
      traffic: { ...this.#traffic },
    }
  }

  async close(): Promise<void> {}

  /** Discards what was learnt when the device reports another APDU size than before. */
  #adopt(first: Batch): void {
    const { bytes, size } = this.#memory.learnt.first
    if (first.bytes !== bytes || first.size !== size) this.#memory.learnt = startLearning(first)
  }

  #bad({ point_id, address }: BacnetItem, reason: string, t: number): Reading {
    this.#pointError = `${formatTarget(address.target)}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async #request(question: ReadRequest, signal: AbortSignal, within = this.#retryPolicy): Promise<RequestOutcome> {
    const outcome = await this.#transport.request(this.#peer, question, within, signal)
    if ('reason' in outcome) {
      if (outcome.state === 'silent') this.#hasAnswered = false
      return outcome
    }
    this.#rtts.push(outcome.rttMs)
    if (this.#rtts.length > RTTS_MAX) this.#rtts.shift()
    return outcome
  }

  /** Requests each address once, also when several points have it. */
  async #ask({ items, isAlone, isHasty }: PointRequest<BacnetItem>, signal: AbortSignal): Promise<RequestOutcome> {
    const targets = [...new Map(items.map(({ address: { target } }) => [targetKey(target), target])).values()]
    const outcome = await this.#request(
      { service: isAlone ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets },
      signal,
      isHasty ? withFewRetries(this.#retryPolicy) : this.#retryPolicy,
    )
    if (outcome.state !== 'results' || targets.length === items.length) return outcome
    const byKey = new Map(targets.map((target, i) => [targetKey(target), outcome.results[i]!]))
    return { ...outcome, results: items.map(({ address }) => byKey.get(targetKey(address.target))!) }
  }

  #take(item: BacnetItem, result: PropertyResult, at: number): Reading {
    const found = pointValue(result, item.address.conversion)
    return 'value' in found ? { id: item.point_id, t: at, v: found.value, q: 'good' } : this.#bad(item, found.reason, at)
  }

  /**
   * Reads the APDU size at first and after each outage, in which another device may have taken the address: its values would be
   * recorded for this one. A device that does not report its APDU size gets small requests. @returns whether it answered
   */
  async #checkDevice(signal: AbortSignal): Promise<boolean> {
    if (this.#hasAnswered || !this.#device || !this.#guard) return false
    const outcome = await this.#request({ service: READ_PROPERTY, targets: [apduTarget(this.#device)] }, signal)
    if (outcome.state === 'silent' || outcome.state === 'cancelled') throw new DeviceError('silent', outcome.reason)
    const [told] = outcome.state === 'results' ? outcome.results : []
    if (told && 'error' in told && told.error.errorCode === UNKNOWN_OBJECT) this.#guard.refuse()
    this.#hasAnswered = true
    this.#isBack = true
    this.#guard.doubt()
    const batch = batchFromApdu(this.#device, told)
    if (batch) this.#adopt(batch)
    return outcome.state !== 'garbled'
  }

  async #read(items: BacnetItem[], signal: AbortSignal): Promise<Reading[]> {
    this.#pointError = null
    if (items.length === 0) return []
    const hasAnswered = await this.#checkDevice(signal)
    const check = this.#guard?.begin(this.#memory.learnt.batch.multiple)
    try {
      const readings = await this.#readAll(items, hasAnswered, check, signal)
      check?.end()
      if (this.#isBack) this.#changes?.deviceReturned()
      this.#isBack = false
      return readings
    } catch (error) {
      this.#hasAnswered = false
      throw error
    }
  }

  async #readAll(
    items: BacnetItem[],
    hasAnswered: boolean,
    check: IdentityCheck | undefined,
    signal: AbortSignal,
  ): Promise<Reading[]> {
    const isChecked = check !== undefined && check.items.length > 0
    const isPoint = (item: BacnetItem) => !isChecked || !check.isOwn(item)
    const readings: Reading[] = []
    const all = isChecked ? [...check.items, ...items] : items
    const sequence = new ReadSequence(this.#memory, all, hasAnswered, this.#now(), this.#guard?.witness)
    const inquire = async (asked: PointRequest<BacnetItem>) => {
      const outcome = await this.#ask(asked, signal)
      if ('reason' in outcome) {
        if (sequence.unanswered(asked, outcome.state, outcome.reason)) return
        throw new DeviceError(outcome.state === 'garbled' ? 'fault' : 'silent', outcome.reason)
      }
      if (outcome.state === 'results') {
        const { results, at } = outcome
        if (isChecked || asked.isWitness) check?.take(asked.items, results)
        sequence.answered(asked, results)
        if (asked.isWitness) return
        for (const [i, item] of asked.items.entries()) if (isPoint(item)) readings.push(this.#take(item, results[i]!, at))
      } else {
        const { refusal, at } = outcome
        const declined = sequence.declined(asked, refusal).filter(isPoint)
        readings.push(...declined.map(item => this.#bad(item, formatRefusal(refusal), at)))
      }
    }
    // The first answer shows that the device is up and which size it accepts; only then several requests are open at a time.
    const first = sequence.next()
    if (first) await inquire(first)
    await runConcurrently(this.#peer.concurrency ?? 1, () => sequence.next(), inquire)
    const t = this.#now()
    for (const { item, reason } of sequence.unread()) if (isPoint(item)) readings.push(this.#bad(item, reason, t))
    return readings
  }
}

/** Runs `work` for everything that `next` returns, `width` at a time, until it returns undefined. */
async function runConcurrently<T>(width: number, next: () => T | undefined, work: (one: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let one = next(); one !== undefined; one = next()) await work(one)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

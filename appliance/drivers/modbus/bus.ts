/** Sends the requests to one Modbus server or serial port in turn: one in flight, on a connection that is replaced when in doubt. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RegisterRange } from './core/point.ts'
import { addTraffic, type ByteCounts } from '#shared/core/poll/traffic.ts'
import { errorText } from '#shared/core/error-text.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { ModbusReply } from './core/pdu.ts'
import type { RetryPolicy } from '../protocol.ts'

export type ConnectionAnswer =
  | ModbusReply
  | { state: 'timeout' }
  /**
   * `isAfterAnswer`: the connection had answered an earlier request and began no answer to this one. Some devices close after each
   * answer, which says nothing of this request, so it is repeated on a new connection.
   */
  | { state: 'closed'; reason: string; isAfterAnswer?: boolean }

/** A socket or a serial port. It is replaced by a new one when its state is in doubt. */
export interface ModbusConnection {
  /** False also when later bytes on it could not be trusted. */
  isOpen(): boolean
  /** Sends one request; no other may be in flight. It ends when the connection does. */
  read(unit: number, range: RegisterRange, timeoutMs: number): Promise<ConnectionAnswer>
  close(): Promise<void>
}

/** @returns the request as an RTU frame */
export type EncodeRequest = (unit: number, range: RegisterRange) => Uint8Array

/** Opens connections to one server or serial port. */
export type ModbusLink = {
  /** For messages: `10.20.0.40:502` or `/dev/serial/by-id/...`. */
  readonly name: string
  /** Bytes of all its connections. */
  readonly traffic: Readonly<ByteCounts>
  /** @throws Error with the reason why there is no connection */
  open(timeoutMs: number, signal: AbortSignal): Promise<ModbusConnection>
}

/** The outcome of a read. Every failure of a device is an outcome, never an exception. */
export type BusOutcome =
  /** `at`: when the answer arrived, on the clock of the bus. */
  | { state: 'data'; bytes: Uint8Array; at: number; rttMs: number }
  | { state: 'exception'; code: number; at: number; rttMs: number }
  /** `unreachable`: there is no connection, so no unit of the bus was asked. */
  | { state: 'silent' | 'garbled' | 'unreachable'; reason: string }

type Attempt = ConnectionAnswer | { state: 'unreachable'; reason: string }

/** `traffic` counts the bytes of this read. */
type ReadOptions = RetryPolicy & { traffic?: ByteCounts }

/** Units behind one gateway, or on one serial line, share its bus. */
export interface ModbusBus {
  read(unit: number, range: RegisterRange, options: ReadOptions, signal: AbortSignal): Promise<BusOutcome>
  close(): Promise<void>
}

/** Pause before the second attempt of a read, and before the second attempt to connect, doubling with each further one. */
const BACKOFF_MS = 100
/** Longest pause between attempts to connect. */
const RECONNECT_MAX_MS = 30_000

/** @returns a doubling pause, shortened at random by up to half, so that simultaneous failures are not retried simultaneously */
const backoff = (failures: number): number =>
  Math.min(RECONNECT_MAX_MS, BACKOFF_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)

export class SharedBus implements ModbusBus {
  readonly #link: ModbusLink
  readonly #now: () => number
  readonly #inTurn = createSerialQueue()
  #connection: ModbusConnection | undefined
  /** Connections in a row that failed or gave no answer, the last reason, and the earliest time of the next attempt. */
  #failures = 0
  #failure = ''
  #nextOpenAt = 0
  /** Signal of the request in flight. */
  #inFlight: AbortSignal | undefined
  readonly #watchedSignals = new WeakSet<AbortSignal>()

  /** @param now clock of `at`; timeouts run on the monotonic clock of the machine */
  constructor(link: ModbusLink, now: () => number) {
    this.#link = link
    this.#now = now
  }

  /** Requests of other callers may be sent between the attempts of one read. */
  async read(unit: number, range: RegisterRange, options: ReadOptions, signal: AbortSignal): Promise<BusOutcome> {
    const { timeoutMs, retries, traffic } = options
    let last: Exclude<Attempt, { state: 'data' | 'exception' }> = { state: 'closed', reason: 'cancelled' }
    this.#watch(signal)
    for (let tried = 0; tried <= retries && !signal.aborted; tried++) {
      if (tried > 0) await pause(backoff(tried), undefined, { signal }).catch(() => undefined)
      const { answer, ...when } = await this.#inTurn(async () => {
        const sentAt = performance.now()
        const before = { ...this.#link.traffic }
        const answer = await this.#attempt(unit, range, timeoutMs, signal)
        // One request is in flight on the link, so what it counts meanwhile is this one's.
        const { sent_bytes, received_bytes } = this.#link.traffic
        const counted = { sent_bytes: sent_bytes - before.sent_bytes, received_bytes: received_bytes - before.received_bytes }
        if (traffic) addTraffic(traffic, counted)
        return { answer, at: this.#now(), rttMs: performance.now() - sentAt }
      })
      if (answer.state === 'data' || answer.state === 'exception') return { ...answer, ...when }
      last = answer
    }
    const where = `${this.#link.name} unit ${unit}`
    if (last.state === 'timeout') return { state: 'silent', reason: `no answer from ${where} in ${retries + 1} attempts` }
    return { state: last.state === 'closed' ? 'silent' : last.state, reason: `${where}: ${last.reason}` }
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#drop())
  }

  async #drop(): Promise<void> {
    const dropped = this.#connection
    this.#connection = undefined
    await dropped?.close()
  }

  /** Closes the connection when the caller cancels the request in flight. A caller reuses its signal for many reads. */
  #watch(signal: AbortSignal): void {
    if (this.#watchedSignals.has(signal)) return
    this.#watchedSignals.add(signal)
    signal.addEventListener('abort', () => void (this.#inFlight === signal && this.#drop()), { once: true })
  }

  /** Sends one request. It ends at once when the caller cancels it. */
  async #attempt(unit: number, range: RegisterRange, timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
    const failed = this.#connection?.isOpen() ? undefined : await this.#connect(timeoutMs, signal)
    if (failed || !this.#connection) return failed ?? { state: 'closed', reason: 'cancelled' }
    this.#inFlight = signal
    const answer = await this.#connection.read(unit, range, timeoutMs)
    this.#inFlight = undefined
    if (answer.state === 'closed' && !signal.aborted) {
      if (answer.isAfterAnswer) return this.#attempt(unit, range, timeoutMs, signal)
      this.#noteFailure(answer.reason)
    }
    if (answer.state === 'data' || answer.state === 'exception') this.#failures = 0
    return answer
  }

  /** @returns why there is no connection; undefined when there is one */
  async #connect(timeoutMs: number, signal: AbortSignal): Promise<Attempt | undefined> {
    await this.#drop()
    const waitMs = this.#nextOpenAt - performance.now()
    if (waitMs > timeoutMs) {
      return { state: 'unreachable', reason: `${this.#failure}; next attempt in ${Math.ceil(waitMs / 1000)} s` }
    }
    if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined)
    try {
      signal.throwIfAborted()
      this.#connection = await this.#link.open(timeoutMs, signal)
      return undefined
    } catch (error) {
      this.#noteFailure(errorText(error))
      return { state: 'unreachable', reason: this.#failure }
    }
  }

  #noteFailure(reason: string): void {
    this.#failures++
    this.#failure = reason
    this.#nextOpenAt = performance.now() + backoff(this.#failures)
  }
}

/** One Modbus server or serial port: requests in turn, one in flight, and a new connection when the old one is in doubt. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RegisterRange } from './core/point.ts'
import { errorText } from '#shared/core/error-text.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { RetryPolicy } from '../protocol.ts'
import type { Answer, Connection, Link } from './connection.ts'

/** The outcome of a read. Whatever a device does is an outcome, never an exception. */
export type Outcome =
  /** `at`: when the answer came, on the clock given to the bus. */
  | { state: 'data'; bytes: Uint8Array; at: number; rttMs: number }
  | { state: 'exception'; code: number; at: number; rttMs: number }
  /** `unreachable`: there is no connection, so no unit of the bus was asked. */
  | { state: 'silent' | 'garbled' | 'unreachable'; reason: string }

type Attempt = Answer | { state: 'unreachable'; reason: string }

/** Units behind one gateway, or on one serial line, share its bus. */
export interface ModbusBus {
  read(unit: number, place: RegisterRange, retryPolicy: RetryPolicy, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** Pause before the second attempt of a read and before the second of a connection, doubling with each further one. */
const BACKOFF_MS = 100
/** Longest pause between attempts to connect. */
const RECONNECT_MAX_MS = 30_000

/** Half to the whole of a doubling pause, so that what failed together is not tried again together. */
const backoff = (failures: number, most: number): number =>
  Math.min(most, BACKOFF_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)

/** @param now what `at` is reckoned in; timeouts run on the machine's own clock */
export function modbusBus(link: Link, now: () => number): ModbusBus {
  const inTurn = createSerialQueue()
  let connection: Connection | undefined
  /** Connections in a row that failed or gave no answer, why the last did, and when the next may be tried. */
  let failures = 0
  let failure = ''
  let nextOpenAt = 0
  /** Whose request is in flight, and whose end is listened for. */
  let asking: AbortSignal | undefined
  const watchedSignals = new WeakSet<AbortSignal>()

  async function drop(): Promise<void> {
    const dropped = connection
    connection = undefined
    await dropped?.close()
  }

  function noteFailure(reason: string): void {
    failures++
    failure = reason
    nextOpenAt = performance.now() + backoff(failures, RECONNECT_MAX_MS)
  }

  /** @returns why there is no connection; undefined when there is one */
  async function connect(timeoutMs: number, signal: AbortSignal): Promise<Attempt | undefined> {
    await drop()
    const waitMs = nextOpenAt - performance.now()
    if (waitMs > timeoutMs) {
      return { state: 'unreachable', reason: `${failure}; tried again in ${Math.ceil(waitMs / 1000)} s` }
    }
    if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined)
    try {
      signal.throwIfAborted()
      connection = await link.open(timeoutMs, signal)
      return undefined
    } catch (error) {
      noteFailure(errorText(error))
      return { state: 'unreachable', reason: failure }
    }
  }

  /** One request. It ends at once when the caller gives up. */
  async function attempt(unit: number, place: RegisterRange, timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
    const failed = connection?.isOpen() ? undefined : await connect(timeoutMs, signal)
    if (failed || !connection) return failed ?? { state: 'closed', reason: 'given up' }
    asking = signal
    const answer = await connection.read(unit, place, timeoutMs)
    asking = undefined
    if (answer.state === 'closed' && !signal.aborted) noteFailure(answer.reason)
    if (answer.state === 'data' || answer.state === 'exception') failures = 0
    return answer
  }

  /** A caller gives the same signal with each of its reads. */
  function watch(signal: AbortSignal): void {
    if (watchedSignals.has(signal)) return
    watchedSignals.add(signal)
    signal.addEventListener('abort', () => void (asking === signal && drop()), { once: true })
  }

  /** Others may have their turn between the attempts of one read. */
  async function read(
    unit: number,
    place: RegisterRange,
    { timeoutMs, retries }: RetryPolicy,
    signal: AbortSignal,
  ): Promise<Outcome> {
    let last: Exclude<Attempt, { state: 'data' | 'exception' }> = { state: 'closed', reason: 'given up' }
    watch(signal)
    for (let tried = 0; tried <= retries && !signal.aborted; tried++) {
      if (tried > 0) await pause(backoff(tried, RECONNECT_MAX_MS), undefined, { signal }).catch(() => undefined)
      const outcome = await inTurn(async () => {
        const sentAt = performance.now()
        const answer = await attempt(unit, place, timeoutMs, signal)
        return { answer, at: now(), rttMs: performance.now() - sentAt }
      })
      const { answer, ...when } = outcome
      if (answer.state === 'data' || answer.state === 'exception') return { ...answer, ...when }
      last = answer
    }
    const where = `${link.name} unit ${unit}`
    if (last.state === 'timeout') return { state: 'silent', reason: `no answer from ${where} in ${retries + 1} attempts` }
    return { state: last.state === 'closed' ? 'silent' : last.state, reason: `${where}: ${last.reason}` }
  }

  return { read, close: () => inTurn(drop) }
}

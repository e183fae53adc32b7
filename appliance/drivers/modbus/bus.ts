/** All that goes to one Modbus TCP server, in turn: one request in flight, and a new connection when one is in doubt. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Place } from '#shared/core/modbus/point.ts'
import { serial } from '../serial.ts'
import { type Answer, type Connection, openConnection } from './connection.ts'

export type Patience = { timeoutMs: number; retries: number }

/** How a read ended. It always ends; there is no exception for what a server does. */
export type Outcome =
  /** `at`: when the answer came, on the clock given to the bus. */
  | { state: 'data'; bytes: Uint8Array; at: number; rttMs: number }
  | { state: 'exception'; code: number; at: number; rttMs: number }
  | { state: 'silent' | 'garbled'; reason: string }

/** Units behind one gateway share its bus. */
export interface ModbusBus {
  read(unit: number, place: Place, patience: Patience, signal: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** After one timeout the answer may still come and is told by its transaction id; after two the stream may be out of step. */
const TIMEOUTS_MAX = 2
/** Pause before the second attempt, doubling with each further one. */
const BACKOFF_MS = 100

/** @param now what `at` is reckoned in; timeouts run on the machine's own clock */
export function modbusBus(host: string, port: number, now: () => number): ModbusBus {
  const inTurn = serial()
  let connection: Connection | undefined
  let timeouts = 0

  function drop(): void {
    connection?.close()
    connection = undefined
    timeouts = 0
  }

  async function attempt(unit: number, place: Place, timeoutMs: number, signal: AbortSignal): Promise<Answer> {
    try {
      if (!connection?.isOpen()) {
        drop()
        connection = await openConnection(host, port, timeoutMs, signal)
      }
    } catch (error) {
      return { state: 'closed', reason: (error as Error).message }
    }
    const answer = await connection.read(unit, place, timeoutMs)
    timeouts = answer.state === 'timeout' ? timeouts + 1 : 0
    if (answer.state === 'garbled' || answer.state === 'closed' || timeouts === TIMEOUTS_MAX) drop()
    return answer
  }

  async function read(unit: number, place: Place, { timeoutMs, retries }: Patience, signal: AbortSignal): Promise<Outcome> {
    let last: Exclude<Answer, { state: 'data' | 'exception' }> = { state: 'timeout' }
    for (let tried = 0; tried <= retries && !signal.aborted; tried++) {
      if (tried > 0) await pause(BACKOFF_MS * 2 ** (tried - 1), undefined, { signal }).catch(() => undefined)
      const sentAt = performance.now()
      const answer = await attempt(unit, place, timeoutMs, signal)
      if (answer.state === 'data' || answer.state === 'exception')
        return { ...answer, at: now(), rttMs: performance.now() - sentAt }
      last = answer
    }
    const where = `${host}:${port} unit ${unit}`
    if (last.state === 'timeout') return { state: 'silent', reason: `no answer from ${where} in ${retries + 1} attempts` }
    return { state: last.state === 'garbled' ? 'garbled' : 'silent', reason: `${where}: ${last.reason}` }
  }

  /** Ends the request in flight at once when the caller gives up. */
  async function readUntil(signal: AbortSignal, work: () => Promise<Outcome>): Promise<Outcome> {
    signal.addEventListener('abort', drop)
    try {
      return await work()
    } finally {
      signal.removeEventListener('abort', drop)
    }
  }

  return {
    read: (unit, place, patience, signal) => inTurn(() => readUntil(signal, () => read(unit, place, patience, signal))),
    close: () => inTurn(async () => drop()),
  }
}

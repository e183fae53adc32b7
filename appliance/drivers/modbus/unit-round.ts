/** The state of one read of a unit: its requests, and whether the unit still answers. */
import { formatException, isGatewaySilence } from './core/pdu.ts'
import type { RegisterRange } from './core/point.ts'
import type { UnitBlock, UnitItem, UnitMemory } from './core/unit-memory.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { ByteCounts } from '#shared/core/poll/traffic.ts'
import type { ModbusBus, BusOutcome } from './bus.ts'
import type { RetryPolicy } from '../protocol.ts'

/** A unit of a bus, and what earlier reads have shown about it. */
export type ModbusUnit = {
  readonly bus: ModbusBus
  readonly unit_id: number
  readonly retryPolicy: RetryPolicy
  readonly memory: UnitMemory
  readonly traffic: ByteCounts
  /** ms since 1970 UTC. */
  now(): number
  /** Called with the round-trip time of each answer, ms. */
  noteRtt(rttMs: number): void
  /** Adds the readings of a block to `readings`; its bytes arrived at `t`. */
  decode(block: UnitBlock, bytes: Uint8Array, t: number, readings: Reading[]): void
  /** Reads in a row without any answer. */
  failures: number
  /** Earliest time of the next retry of bad ranges, ms since 1970 UTC. */
  retryFrom: number
}

export type UnitAnswer =
  | { state: 'data'; bytes: Uint8Array; at: number }
  | { state: 'declined'; code: number; reason: string }
  | LostAnswer
/** No answer, or an unusable one. `isUnreachable`: there is no connection to any unit of the bus. */
export type LostAnswer = { state: 'lost'; reason: string; error: DeviceError; isUnreachable: boolean }

export type UnitRead = {
  readonly items: readonly UnitItem[]
  readonly signal: AbortSignal
  readonly readings: Reading[]
  /** Why points have no value, where it is known for the point itself. */
  readonly reasons: Map<UnitItem, string>
  /** Whether any request was answered, and whether one with values. */
  hasAnswered: boolean
  hasValues: boolean
  /** Requests without a usable answer, except those that test whether the unit answers. */
  losses: number
  /** Set when the unit no longer answers: the read ends. */
  gone: LostAnswer | undefined
}

/** Ranges that are requested to test whether the unit answers at all. */
const WITNESSES_MAX = 3

export const startUnitRead = (items: readonly UnitItem[], signal: AbortSignal): UnitRead => ({
  items,
  signal,
  readings: [],
  reasons: new Map(),
  hasAnswered: false,
  hasValues: false,
  losses: 0,
  gone: undefined,
})

/** @throws DeviceError when the caller cancels the read */
export async function requestRange(
  unit: ModbusUnit,
  round: UnitRead,
  place: RegisterRange,
  retries: number,
): Promise<UnitAnswer> {
  const { bus, unit_id, retryPolicy, traffic } = unit
  const outcome = await bus.read(unit_id, place, { ...retryPolicy, retries, traffic }, round.signal)
  const answer = readOutcome(outcome)
  if (answer.state === 'lost') {
    if (round.signal.aborted) throw answer.error
    return answer
  }
  round.hasAnswered = true
  if (answer.state === 'data') round.hasValues = true
  if ('rttMs' in outcome) unit.noteRtt(outcome.rttMs)
  return answer
}

function readOutcome(outcome: BusOutcome): UnitAnswer {
  switch (outcome.state) {
    case 'data':
      return outcome
    case 'exception': {
      const reason = formatException(outcome.code)
      return isGatewaySilence(outcome.code) ? lost('silent', reason) : { state: 'declined', code: outcome.code, reason }
    }
    case 'garbled':
      return lost('fault', outcome.reason)
    case 'silent':
      return lost('silent', outcome.reason)
    case 'unreachable':
      return lost('silent', outcome.reason, true)
  }
}

const lost = (kind: DeviceError['kind'], reason: string, isUnreachable = false): LostAnswer => ({
  state: 'lost',
  reason,
  error: new DeviceError(kind, reason),
  isUnreachable,
})

/** Adds the values of a block to the readings. */
export function addReadings(
  unit: ModbusUnit,
  round: UnitRead,
  block: UnitBlock,
  { bytes, at }: UnitAnswer & { state: 'data' },
): void {
  unit.memory.noteAnswered(block)
  unit.decode(block, bytes, at, round.readings)
}

/** @returns whether a unit that did not answer the request for `failed` answers another */
export async function doesUnitAnswer(
  unit: ModbusUnit,
  round: UnitRead,
  failed: RegisterRange,
  { isUnreachable }: LostAnswer,
): Promise<boolean> {
  if (isUnreachable) return false
  for (const place of unit.memory.witnesses(round.items, failed, WITNESSES_MAX)) {
    const answer = await requestRange(unit, round, place, 0)
    if (answer.state !== 'lost') return true
    if (answer.isUnreachable) return false
  }
  return false
}

/** @returns whether the unit returns any values: one that declines everything may be busy, and then no point is bad */
export async function hasValues(unit: ModbusUnit, round: UnitRead): Promise<boolean> {
  if (round.hasValues) return true
  for (const place of unit.memory.witnesses(round.items, undefined, WITNESSES_MAX)) {
    const answer = await requestRange(unit, round, place, 0)
    if (answer.state !== 'declined') break
  }
  return round.hasValues
}

/**
 * Requests one range to test whether the unit answers. A unit that was down last time gets one request, each time for another
 * range, so that a dead unit costs little time.
 *
 * @throws DeviceError when it does not answer
 */
export async function assertUnitAnswers(unit: ModbusUnit, round: UnitRead): Promise<void> {
  const places = unit.memory.witnesses(round.items, undefined, WITNESSES_MAX)
  const tried = unit.failures > 0 ? [places[unit.failures % places.length]!] : places
  let last: LostAnswer | undefined
  for (const place of tried) {
    const answer = await requestRange(unit, round, place, 0)
    if (answer.state !== 'lost') return
    last = answer
    if (answer.isUnreachable) break
  }
  if (last) throw last.error
}

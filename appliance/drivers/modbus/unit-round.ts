/** The progress of one read of a unit: its requests, and whether the unit still answers. */
import { formatException, isGatewaySilence } from './core/pdu.ts'
import type { RegisterRange } from './core/point.ts'
import type { UnitBlock, UnitItem, UnitMemory } from './core/unit-memory.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { ModbusBus, BusOutcome } from './bus.ts'
import type { RetryPolicy } from '../protocol.ts'

/** A unit of a bus, and what is known of it from read to read. */
export type ModbusUnit = {
  readonly bus: ModbusBus
  readonly unit_id: number
  readonly retryPolicy: RetryPolicy
  readonly memory: UnitMemory
  /** ms since 1970 UTC. */
  now(): number
  /** Gets how long each answer took, ms. */
  noteRtt(rttMs: number): void
  /** Adds readings of a block's bytes, which came at `t`. */
  decode(block: UnitBlock, bytes: Uint8Array, t: number, readings: Reading[]): void
  /** Reads in a row that had no answer at all. */
  failures: number
  /** No culprit is tried again before then, ms since 1970 UTC. */
  retryFrom: number
}

export type UnitAnswer =
  | { state: 'data'; bytes: Uint8Array; at: number }
  | { state: 'declined'; code: number; reason: string }
  | LostAnswer
/** No answer, or none that can be used. `isUnreachable`: there is no way to any unit of the bus. */
export type LostAnswer = { state: 'lost'; reason: string; error: DeviceError; isUnreachable: boolean }

export type UnitRead = {
  readonly items: readonly UnitItem[]
  readonly signal: AbortSignal
  readonly readings: Reading[]
  /** Why points have no value, as far as it is known of each alone. */
  readonly reasons: Map<UnitItem, string>
  /** Whether anything was answered, and whether any values were. */
  hasAnswered: boolean
  hasValues: boolean
  /** Requests without a usable answer, but for those that ask whether the unit is there. */
  losses: number
  /** The unit answered and does no more: the read is over. */
  gone: LostAnswer | undefined
}

/** Places that are asked for when it is in doubt whether the unit answers at all. */
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

/** @throws DeviceError when the caller gives up meanwhile */
export async function requestRange(
  unit: ModbusUnit,
  round: UnitRead,
  place: RegisterRange,
  retries: number,
): Promise<UnitAnswer> {
  const outcome = await unit.bus.read(unit.unit_id, place, { ...unit.retryPolicy, retries }, round.signal)
  const answer = judge(outcome)
  if (answer.state === 'lost') {
    if (round.signal.aborted) throw answer.error
    return answer
  }
  round.hasAnswered = true
  if (answer.state === 'data') round.hasValues = true
  if ('rttMs' in outcome) unit.noteRtt(outcome.rttMs)
  return answer
}

function judge(outcome: BusOutcome): UnitAnswer {
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

/** Puts the values of a block among the readings. */
export function addReadings(
  unit: ModbusUnit,
  round: UnitRead,
  block: UnitBlock,
  { bytes, at }: UnitAnswer & { state: 'data' },
): void {
  unit.memory.noteAnswered(block)
  unit.decode(block, bytes, at, round.readings)
}

/** Whether a unit that did not answer for `failed` answers for anything else. */
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

/** Whether there are values anywhere: a unit that declines everything may be busy, and no point is to blame. */
export async function hasValues(unit: ModbusUnit, round: UnitRead): Promise<boolean> {
  if (round.hasValues) return true
  for (const place of unit.memory.witnesses(round.items, undefined, WITNESSES_MAX)) {
    const answer = await requestRange(unit, round, place, 0)
    if (answer.state !== 'declined') break
  }
  return round.hasValues
}

/**
 * Asks for one place, to see whether the unit is there. One that was down last time is asked once, each time for another
 * place, so that a dead one costs little.
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

/** Reads the points of one Modbus unit in blocks, and in smaller ones when a block fails. Nothing writes. */
import { decodePoint, isRounded } from './core/decode.ts'
import { REGISTERS_MAX } from './core/plan.ts'
import type { ModbusPoint } from './core/point.ts'
import { UnitMemory, type UnitBlock, type UnitItem } from './core/unit-memory.ts'
import { convertNumber } from '../../core/poll/conversion.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import { noTraffic } from '#shared/core/poll/traffic.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { ModbusBus } from './bus.ts'
import type { RetryPolicy } from '../protocol.ts'
import { readUnit, reasonFor } from './unit-read.ts'
import { startUnitRead, type ModbusUnit } from './unit-round.ts'

/** Default for registers read between wanted ones: reading them is cheaper than another request. */
export const MAX_GAP = 16
const BITS_PER_REGISTER = 16

/**
 * The function is long because all reads share the memory of the unit and its times.
 *
 * @param unit_id unit of the bus, 0..255
 * @param max_gap unwanted registers (and sixteen times as many bits) between wanted ones that may be read with them; 0 for none
 * @param now time of readings that are bad because no answer came, ms since 1970 UTC
 */
export function modbusDriver(
  bus: ModbusBus,
  { unit_id, max_gap, retryPolicy, now }: { unit_id: number; max_gap: number; retryPolicy: RetryPolicy; now: () => number },
): FieldDriver<ModbusPoint> {
  const inTurn = createSerialQueue()
  const rtts: number[] = []
  let pointError: string | null = null
  const gap = { registers: max_gap, bits: BITS_PER_REGISTER * max_gap }
  const unit: ModbusUnit = {
    bus,
    unit_id,
    retryPolicy,
    now,
    memory: new UnitMemory({ gap, registersMax: REGISTERS_MAX }),
    traffic: noTraffic(),
    noteRtt,
    decode,
    failures: 0,
    retryFrom: 0,
  }

  function noteRtt(rttMs: number): void {
    rtts.push(rttMs)
    if (rtts.length > RTTS_MAX) rtts.shift()
  }

  function bad({ point_id, address: { address } }: UnitItem, reason: string, t: number): Reading {
    pointError = `${address.table}:${address.address}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  function decode(block: UnitBlock, bytes: Uint8Array, t: number, readings: Reading[]): void {
    for (const item of block.items) {
      const { address, conversion } = item.address
      const raw = decodePoint(bytes, block, address)
      const v = convertNumber(Number(raw), conversion)
      if (v === undefined) readings.push(bad(item, `${raw} cannot be a ${conversion.kind}`, t))
      else readings.push({ id: item.point_id, t, v, q: isRounded(raw) ? 'uncertain' : 'good' })
    }
  }

  async function read(items: UnitItem[], signal: AbortSignal): Promise<Reading[]> {
    if (items.length === 0) return []
    const round = startUnitRead(items, signal)
    const { readings } = round
    pointError = null
    try {
      await readUnit(unit, round)
      unit.failures = 0
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error
      // Points that were not reached before the caller gave up are not bad.
      if (signal.aborted && readings.length > 0) return readings
      if (!signal.aborted) unit.failures++
      throw error
    }
    if (readings.length === items.length) return readings
    const known = new Set(readings.map(({ id }) => id))
    const others = items.filter(({ point_id }) => !known.has(point_id))
    return [...readings, ...others.map(item => bad(item, reasonFor(unit, round, item), now()))]
  }

  return {
    read: (items, signal) => inTurn(() => read(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: null, point_error: pointError, traffic: { ...unit.traffic } }),
    close: async () => undefined,
  }
}

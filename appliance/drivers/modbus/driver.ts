/** Reads the points of one Modbus unit: in blocks, smaller ones where it declines, and nothing that writes. */
import { decodeRegisters } from '#shared/core/modbus/decode.ts'
import { formatException, ILLEGAL_ADDRESS, ILLEGAL_VALUE, isGatewaySilence } from '#shared/core/modbus/exception.ts'
import { type Block, halveBlock, hasGap, type Limits, planBlocks, REGISTERS_MAX } from '#shared/core/modbus/plan.ts'
import type { ModbusPoint, Place } from '#shared/core/modbus/point.ts'
import { convertNumber } from '#shared/core/poll/conversion.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { serial } from '../serial.ts'
import type { ModbusBus, Outcome, Patience } from './bus.ts'

type Item = { point_id: string; address: ModbusPoint }

/** What is read along between wanted registers or bits: cheaper than another request, until a device declines it. */
const GAP = { registers: 16, bits: 256 }
const NO_GAP = { registers: 0, bits: 0 }
/** The longest format takes four registers. */
const REGISTERS_MIN = 4

const placeOf = (item: Item): Place => item.address.address

/**
 * @param unit unit id, 0..255
 * @param now stamps readings that are bad because no answer came
 */
export function modbusDriver(bus: ModbusBus, unit: number, patience: Patience, now: () => number): FieldDriver<ModbusPoint> {
  const inTurn = serial()
  const rtts: number[] = []
  /** Points that the device declines: they are asked for alone, so that they spoil no block. */
  const declined = new Set<string>()
  let limits: Limits = { gap: GAP, registersMax: REGISTERS_MAX }
  let pointError: string | null = null

  function bad({ point_id, address: { address } }: Item, reason: string, t: number): Reading {
    pointError = `${address.table}:${address.address}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  function plan(items: Item[]): Block<Item>[] {
    const alone = items.filter(({ point_id }) => declined.has(point_id))
    const others = items.filter(({ point_id }) => !declined.has(point_id))
    return [...planBlocks(others, placeOf, limits), ...alone.flatMap(item => planBlocks([item], placeOf, limits))]
  }

  /** @returns smaller blocks to ask for instead of a declined one; none when there is nothing smaller */
  function split(block: Block<Item>, code: number): Block<Item>[] {
    if (code !== ILLEGAL_ADDRESS && code !== ILLEGAL_VALUE) return []
    if (block.items.length === 1) {
      declined.add(block.items[0]!.point_id)
      return []
    }
    // The device has holes, or takes fewer registers than the protocol allows: the next plan goes by that.
    if (code === ILLEGAL_ADDRESS) limits = { ...limits, gap: NO_GAP }
    else limits = { ...limits, registersMax: Math.max(REGISTERS_MIN, Math.min(limits.registersMax, Math.floor(block.count / 2))) }
    return hasGap(block, placeOf) ? planBlocks(block.items, placeOf, { ...limits, gap: NO_GAP }) : halveBlock(block, placeOf)
  }

  function take(block: Block<Item>, bytes: Uint8Array, t: number): Reading[] {
    return block.items.map(item => {
      declined.delete(item.point_id)
      const { conversion } = item.address
      const value = convertNumber(rawOf(bytes, block, item.address), conversion)
      if (value === undefined) return bad(item, `the value fits no ${conversion.kind}`, t)
      return { id: item.point_id, t, v: value, q: 'good' }
    })
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const readings: Reading[] = []
    const todo = plan(items)
    let hasAnswered = false
    pointError = null
    for (let block = todo.shift(); block; block = todo.shift()) {
      const outcome = await bus.read(unit, block, patience, signal)
      const failure = failureOf(outcome)
      if (failure) {
        if (!hasAnswered) throw failure
        const unread = [block, ...todo].flatMap(({ items }) => items)
        return [...readings, ...unread.map(item => bad(item, failure.message, now()))]
      }
      if (outcome.state !== 'data' && outcome.state !== 'exception') continue
      hasAnswered = true
      rtts.push(outcome.rttMs)
      if (rtts.length > RTTS_MAX) rtts.shift()
      if (outcome.state === 'data') {
        readings.push(...take(block, outcome.bytes, outcome.at))
        continue
      }
      const smaller = split(block, outcome.code)
      todo.unshift(...smaller)
      if (smaller.length) continue
      readings.push(...block.items.map(item => bad(item, formatException(outcome.code), outcome.at)))
    }
    return readings
  }

  return {
    read: (items, signal) => inTurn(() => read(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: null, point_error: pointError }),
    close: async () => undefined,
  }
}

function failureOf(outcome: Outcome): DeviceError | undefined {
  if (outcome.state === 'silent') return new DeviceError('silent', outcome.reason)
  if (outcome.state === 'garbled') return new DeviceError('fault', outcome.reason)
  const isSilent = outcome.state === 'exception' && isGatewaySilence(outcome.code)
  return isSilent ? new DeviceError('silent', formatException(outcome.code)) : undefined
}

function rawOf(bytes: Uint8Array, block: Place, { address }: ModbusPoint): number {
  const from = address.address - block.address
  if (address.format === 'bit') return ((bytes[from >> 3] ?? 0) >> (from & 7)) & 1
  return decodeRegisters(bytes.subarray(2 * from, 2 * (from + address.count)), address.format, address.order)
}

/** Reads the points of one Modbus unit: in blocks, smaller ones where it declines, and nothing that writes. */
import { decodePoint, isRounded } from '#shared/core/modbus/decode.ts'
import { formatException, ILLEGAL_ADDRESS, ILLEGAL_VALUE, isGatewaySilence } from '#shared/core/modbus/exception.ts'
import { type Block, halveBlock, hasGap, type Limits, planBlocks, REGISTERS_MAX } from '#shared/core/modbus/plan.ts'
import type { ModbusPoint } from '#shared/core/modbus/point.ts'
import { convertNumber } from '#shared/core/poll/conversion.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { serial } from '../serial.ts'
import type { ModbusBus, Outcome, Patience } from './bus.ts'

type Item = { point_id: string; address: ModbusPoint }

/** What is read along between wanted registers unless an entry says: cheaper than another request. */
export const MAX_GAP = 16
/** A register has as many bits. */
const BITS_PER_REGISTER = 16
const NO_GAP = { registers: 0, bits: 0 }
/** The longest format takes four registers. */
const REGISTERS_MIN = 4
/** A device has one group of points for each of its poll periods, and few of those. */
const PLANS_MAX = 32

const placeOf = (item: Item): ModbusPoint['address'] => item.address.address

/**
 * @param unit_id unit of the bus, 0..255
 * @param max_gap registers, and sixteen times as many bits, that nobody asked for and that may be read along; 0 for none
 * @param now stamps readings that are bad because no answer came
 */
export function modbusDriver(
  bus: ModbusBus,
  { unit_id, max_gap, patience, now }: { unit_id: number; max_gap: number; patience: Patience; now: () => number },
): FieldDriver<ModbusPoint> {
  const inTurn = serial()
  const rtts: number[] = []
  /** Points that the device declines: they are asked for alone, so that they spoil no block. */
  const declined = new Set<string>()
  let limits: Limits = { gap: { registers: max_gap, bits: BITS_PER_REGISTER * max_gap }, registersMax: REGISTERS_MAX }
  /** What was planned by the present limits, the latest last: each poll asks for the same points again. */
  let plans: { items: Item[]; blocks: Block<Item>[] }[] = []
  let pointError: string | null = null

  function bad({ point_id, address: { address } }: Item, reason: string, t: number): Reading {
    pointError = `${address.table}:${address.address}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  function plan(items: Item[]): Block<Item>[] {
    const known = plans.find(one => isSame(one.items, items))
    if (known) return known.blocks
    const alone = items.filter(({ point_id }) => declined.has(point_id))
    const others = items.filter(({ point_id }) => !declined.has(point_id))
    const blocks = [...planBlocks(others, placeOf, limits), ...alone.flatMap(item => planBlocks([item], placeOf, limits))]
    plans = [...plans.slice(1 - PLANS_MAX), { items, blocks }]
    return blocks
  }

  /** @returns smaller blocks to ask for instead of a declined one; none when there is nothing smaller */
  function split(block: Block<Item>, code: number): Block<Item>[] {
    if (code !== ILLEGAL_ADDRESS && code !== ILLEGAL_VALUE) return []
    plans = []
    if (block.items.length === 1) {
      declined.add(block.items[0]!.point_id)
      return []
    }
    // The device has holes, or takes fewer registers than the protocol allows: the next plan goes by that.
    if (code === ILLEGAL_ADDRESS) limits = { ...limits, gap: NO_GAP }
    else limits = { ...limits, registersMax: Math.max(REGISTERS_MIN, Math.min(limits.registersMax, Math.floor(block.count / 2))) }
    return hasGap(block, placeOf) ? planBlocks(block.items, placeOf, { ...limits, gap: NO_GAP }) : halveBlock(block, placeOf)
  }

  function take(block: Block<Item>, bytes: Uint8Array, t: number, readings: Reading[]): void {
    for (const item of block.items) {
      const { address, conversion } = item.address
      if (declined.delete(item.point_id)) plans = []
      const raw = decodePoint(bytes, block, address)
      const v = convertNumber(Number(raw), conversion)
      if (v === undefined) readings.push(bad(item, `${raw} fits no ${conversion.kind}`, t))
      else readings.push({ id: item.point_id, t, v, q: isRounded(raw) ? 'uncertain' : 'good' })
    }
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const readings: Reading[] = []
    const todo = [...plan(items)]
    let hasAnswered = false
    pointError = null
    for (let block = todo.shift(); block; block = todo.shift()) {
      const outcome = await bus.read(unit_id, block, patience, signal)
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
        take(block, outcome.bytes, outcome.at, readings)
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

/** Whether two polls ask for the same points; their lists may be made anew each time. */
const isSame = (a: Item[], b: Item[]): boolean =>
  a.length === b.length && a.every((item, i) => item.point_id === b[i]!.point_id && item.address === b[i]!.address)

function failureOf(outcome: Outcome): DeviceError | undefined {
  if (outcome.state === 'silent') return new DeviceError('silent', outcome.reason)
  if (outcome.state === 'garbled') return new DeviceError('fault', outcome.reason)
  const isSilent = outcome.state === 'exception' && isGatewaySilence(outcome.code)
  return isSilent ? new DeviceError('silent', formatException(outcome.code)) : undefined
}

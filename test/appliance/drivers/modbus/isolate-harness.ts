/** A Modbus bus whose device has bad registers: in memory, over TCP, on a serial line. */
import type { ExecutionContext } from 'ava'
import type { RegisterRange } from '#appliance/drivers/modbus/core/point.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { type ModbusBus, SharedBus, type BusOutcome } from '#appliance/drivers/modbus/bus.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import { modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { serialLink } from '#appliance/drivers/modbus/serial-link.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'
import { openRtuLine, rtuAnswer, rtuFrame } from '#scripts/simulator/modbus/rtu.ts'
import { modbusFrame, openTcpPeer, registersOf } from '../../../support/tcp-peer.ts'

export const never = new AbortController().signal

/** How a device answers a request: `undefined` is a correct answer, a number is an exception. */
export type Ill = 'silent' | 'garbled' | 'closed' | 'unreachable' | number | undefined
type Asked = { unit: number; address: number; count: number; retries?: number }
type Device = (asked: Omit<Asked, 'retries'>) => Ill

/** Makes every read fail that contains one of `addresses`. */
export const failingAt =
  (how: Ill, ...addresses: number[]): Device =>
  ({ address, count }) =>
    addresses.some(one => one >= address && one < address + count) ? how : undefined

type Opened = { bus: ModbusBus; asked: Asked[] }
export const spanOf = ({ address, count }: Asked) => [address, count]

/** A bus in memory: answers take no time, and a missing answer calls `wait`. */
export function openQuick(device: Device, wait: () => void = () => undefined): Opened {
  const asked: Asked[] = []
  const answer = (unit: number, { address, count }: RegisterRange, { retries }: RetryPolicy): BusOutcome => {
    asked.push({ unit, address, count, retries })
    const ill = device({ unit, address, count })
    if (ill === 'silent') wait()
    if (ill === 'unreachable') return { state: 'unreachable', reason: 'no connection' }
    if (typeof ill === 'number') return { state: 'exception', code: ill, at: 1_000, rttMs: 1 }
    if (ill === 'garbled') return { state: 'garbled', reason: 'garbled' }
    if (ill) return { state: 'silent', reason: 'no answer' }
    const bytes = registersOf({ id: 0, unit, code: 3, address, count }).subarray(2)
    return { state: 'data', bytes, at: 1_000, rttMs: 1 }
  }
  return {
    asked,
    bus: { read: async (unit, place, retryPolicy) => answer(unit, place, retryPolicy), close: async () => undefined },
  }
}

/** Longest wait for an answer that will arrive, however busy the machine is. */
const ANSWER_MS = 60_000

/** The same bus, with the timeout of the test only for requests without a correct answer. */
function untilAnswered(bus: ModbusBus, device: Device): ModbusBus {
  const isAnswered = (ill: Ill) => ill === undefined || typeof ill === 'number'
  return {
    read(unit, place, retryPolicy, signal) {
      const timeoutMs = isAnswered(device({ unit, ...place })) ? ANSWER_MS : retryPolicy.timeoutMs
      return bus.read(unit, place, { ...retryPolicy, timeoutMs }, signal)
    },
    close: () => bus.close(),
  }
}

export async function openTcp(t: ExecutionContext, device: Device): Promise<Opened> {
  const peer = await openTcpPeer(t, (request, socket) => {
    const ill = device(request)
    if (ill === 'silent') return
    if (ill === 'closed' || ill === 'unreachable') return void socket.destroy()
    if (ill === 'garbled') return void socket.write(modbusFrame(request, Buffer.of(3, 9, 9)))
    socket.write(modbusFrame(request, ill === undefined ? registersOf(request) : Buffer.of(request.code | 0x80, ill)))
  })
  const bus = new SharedBus(tcpLink('127.0.0.1', peer.port), () => 1_000)
  t.teardown(() => bus.close())
  return { bus: untilAnswered(bus, device), asked: peer.asked }
}

export async function openRtu(t: ExecutionContext, device: Device): Promise<Opened> {
  const line = await openRtuLine((request, send) => {
    const ill = device(request)
    if (typeof ill === 'number') send(rtuFrame(request.unit, Buffer.of(request.code | 0x80, ill)))
    else if (ill === 'garbled') send(rtuAnswer(request).fill(0x55, 3, 5))
    else if (ill === undefined) send(rtuAnswer({ ...request, address: request.address - 1000 * request.unit }))
  })
  const bus = new SharedBus(serialLink({ path: line.path, baud: 115_200, parity: 'even', stopBits: 1 }), () => 1_000)
  t.teardown(async () => {
    await bus.close()
    await line.close()
  })
  return { bus: untilAnswered(bus, device), asked: line.asked }
}

export const ONCE: RetryPolicy = { timeoutMs: 500, retries: 0 }
export const driverOf = (bus: ModbusBus, retryPolicy = ONCE, now = () => 1_000, unit_id = 1) =>
  modbusDriver(bus, { unit_id, max_gap: 16, retryPolicy, now })
export const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
export const goodOf = (readings: Reading[]) => readings.filter(({ q }) => q === 'good').map(({ v }) => v as number)
/** Of `all`, those that are not among `culprits`. */
export const others = (all: number[], culprits: number[]) => all.filter(address => !culprits.includes(address))

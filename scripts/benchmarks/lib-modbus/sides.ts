/** The two sides: our driver with points, planning and readings, and modbus-serial as one would call it by hand. */
import ModbusSerial from 'modbus-serial'
import { parseModbusAddress } from '#appliance/drivers/modbus/core/point.ts'
import { SharedBus } from '#appliance/drivers/modbus/bus.ts'
import { MAX_GAP, modbusDriver } from '#appliance/drivers/modbus/driver.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'

export type Side = {
  /** @returns the sum of what it read, so that nothing is left out */
  poll(): Promise<number>
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const TIMEOUT_MS = 3000
const UNIT = 1

/** @param floats points of two registers each, side by side from register 0 */
export function openOurs(port: number, floats: number): Side {
  const bus = new SharedBus(tcpLink(HOST, port), Date.now)
  const retryPolicy = { timeoutMs: TIMEOUT_MS, retries: 0 }
  const driver = modbusDriver(bus, { unit_id: UNIT, max_gap: MAX_GAP, retryPolicy, now: Date.now })
  const points = Array.from({ length: floats }, (_, i) => {
    const address = parseModbusAddress(`holding:${2 * i}:float32`, 'ABCD')
    if (typeof address === 'string') throw new Error(address)
    return { point_id: `point-${i}`, address: { address, conversion: { kind: 'number' as const, scale: 1, offset: 0 } } }
  })
  const never = new AbortController().signal
  return {
    async poll() {
      let sum = 0
      for (const { v } of await driver.read(points, never)) sum += v as number
      return sum
    },
    close: () => bus.close(),
  }
}

export async function openPeer(port: number, floats: number): Promise<Side> {
  const client = new ModbusSerial.default()
  await client.connectTCP(HOST, { port })
  client.setID(UNIT)
  client.setTimeout(TIMEOUT_MS)
  return {
    async poll() {
      const { buffer } = await client.readHoldingRegisters(0, 2 * floats)
      let sum = 0
      for (let i = 0; i < floats; i++) sum += buffer.readFloatBE(4 * i)
      return sum
    },
    close: () => new Promise(resolve => client.close(() => resolve())),
  }
}

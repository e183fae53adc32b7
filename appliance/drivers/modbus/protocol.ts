import assert from 'node:assert/strict'
import { type ModbusPoint, parseModbusAddress, type WordOrder } from '#shared/core/modbus/point.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/config-error.ts'
import { type FieldProtocol, RETRIES, TIMEOUT_MS } from '../protocol.ts'
import { type ModbusBus, modbusBus } from './bus.ts'
import { modbusDriver } from './driver.ts'

const DEFAULT_PORT = 502
const DEFAULT_ORDER: WordOrder = 'ABCD'

/**
 * Modbus TCP. Devices at one host and port share a connection.
 *
 * @param now what readings are stamped with, ms since 1970 UTC
 */
export function modbusProtocol({ now }: { now: () => number }): FieldProtocol {
  const buses = new Map<string, ModbusBus>()
  return {
    name: 'modbus',
    check: checkModbus,
    async start() {},
    link(entry) {
      assert(entry.modbus)
      const { host, port = DEFAULT_PORT, unit_id, word_order = DEFAULT_ORDER } = entry.modbus
      const key = `${host}:${port}`
      const bus = buses.get(key) ?? modbusBus(host, port, now)
      buses.set(key, bus)
      const patience = { timeoutMs: entry.timeout_ms ?? TIMEOUT_MS, retries: entry.retries ?? RETRIES }
      const addresses = new Map(entry.points.map(point => [point.point_id, modbusPoint(point, word_order)]))
      return { driver: modbusDriver(bus, unit_id, patience, now), addresses }
    },
    async stop() {
      await Promise.all(Array.from(buses.values(), bus => bus.close()))
      buses.clear()
    },
  }
}

function modbusPoint({ address, kind, scale = 1, offset = 0 }: DeviceEntry['points'][number], order: WordOrder): ModbusPoint {
  const parsed = parseModbusAddress(address, order)
  assert(typeof parsed !== 'string', 'the catalogue checks addresses')
  return { address: parsed, conversion: { kind, scale, offset } }
}

function checkModbus({ modbus, points }: DeviceEntry): Complaint[] {
  return points.flatMap(({ address, kind }, i) => {
    const pointer = `/points/${i}/`
    const parsed = parseModbusAddress(address, modbus?.word_order ?? DEFAULT_ORDER)
    if (typeof parsed === 'string') return [{ pointer: `${pointer}address`, message: parsed }]
    return kind === 'string' ? [{ pointer: `${pointer}kind`, message: 'Modbus has no texts' }] : []
  })
}

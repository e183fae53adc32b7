import assert from 'node:assert/strict'
import type { WordOrder } from './core/byte-order.ts'
import { type ModbusPoint, parseModbusAddress, type RegisterRange } from './core/point.ts'
import { type ByteCounts, noTraffic, sumTraffic } from '#shared/core/poll/traffic.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import { type FieldProtocol, RETRIES, TIMEOUT_MS } from '../protocol.ts'
import { type ModbusBus, SharedBus, type BusOutcome, type ModbusLink } from './bus.ts'
import { checkModbus, DEFAULT_ORDER, connectionSettings } from './check.ts'
import { MAX_GAP, modbusDriver } from './driver.ts'
import { serialLink } from './serial-link.ts'
import { tcpLink } from './tcp-link.ts'

export type ModbusProtocol = FieldProtocol & {
  /**
   * Reads any registers or bits, in turn with polling.
   *
   * @param entry a device of this protocol
   */
  readPlace(entry: DeviceEntry, place: RegisterRange): Promise<BusOutcome>
}

/**
 * Modbus TCP and RTU. Devices at one host and port share a connection, those on one serial port share its line.
 *
 * @param now time of readings, ms since 1970 UTC
 * @param openPorts the TCP ports that the firewall of this box lets out; undefined where that is not ours to know
 */
export function modbusProtocol({ now, openPorts }: { now: () => number; openPorts?: OpenPorts }): ModbusProtocol {
  const buses = new Map<string, { bus: ModbusBus; users: number }>()
  const never = new AbortController().signal
  /** By server or serial port, also of those that were closed. */
  const counts = new Map<string, ByteCounts>()

  function acquire(entry: DeviceEntry) {
    const link = linkOf(entry, openPorts, counts)
    const shared = buses.get(link.name) ?? { bus: new SharedBus(link, now), users: 0 }
    buses.set(link.name, shared)
    let isUser = true
    shared.users++
    /** The last user closes the connection: the next one may need the serial port with other settings. */
    const release = async () => {
      if (isUser) shared.users--
      isUser = false
      if (shared.users > 0 || buses.get(link.name) !== shared) return
      buses.delete(link.name)
      await shared.bus.close()
    }
    return { bus: shared.bus, release }
  }

  return {
    name: 'modbus',
    check: checkModbus,
    async start() {},
    link(entry) {
      assert(entry.modbus)
      const { unit_id, word_order = DEFAULT_ORDER, max_gap = MAX_GAP } = entry.modbus
      const { bus, release } = acquire(entry)
      const retryPolicy = { timeoutMs: entry.timeout_ms ?? TIMEOUT_MS, retries: entry.retries ?? RETRIES }
      const addresses = new Map(entry.points.map(point => [point.point_id, modbusPoint(point, word_order)]))
      return { driver: { ...modbusDriver(bus, { unit_id, max_gap, retryPolicy, now }), close: release }, addresses }
    },
    async readPlace(entry, place) {
      assert(entry.modbus)
      const { bus, release } = acquire(entry)
      try {
        return await bus.read(entry.modbus.unit_id, place, { timeoutMs: entry.timeout_ms ?? TIMEOUT_MS, retries: 0 }, never)
      } finally {
        await release()
      }
    },
    async stop() {
      await Promise.all(Array.from(buses.values(), ({ bus }) => bus.close()))
      buses.clear()
    },
    traffic: () => sumTraffic(counts.values()),
  }
}

type OpenPorts = () => readonly number[] | undefined

function linkOf({ modbus }: DeviceEntry, openPorts: OpenPorts | undefined, counts: Map<string, ByteCounts>): ModbusLink {
  assert(modbus)
  const settings = connectionSettings(modbus)
  const place = settings.kind === 'tcp' ? `${settings.host}:${settings.port}` : settings.path
  const traffic = counts.get(place) ?? noTraffic()
  counts.set(place, traffic)
  return settings.kind === 'tcp' ? tcpLink(settings.host, settings.port, openPorts, traffic) : serialLink(settings, traffic)
}

function modbusPoint({ address, kind, scale = 1, offset = 0 }: DeviceEntry['points'][number], order: WordOrder): ModbusPoint {
  const parsed = parseModbusAddress(address, order)
  assert(typeof parsed !== 'string', 'addresses were checked when the catalogue was read')
  return { address: parsed, conversion: { kind, scale, offset } }
}

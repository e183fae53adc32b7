/** Interprets the section `modbus` of an entry, and checks what its schema cannot. */
import type { WordOrder } from './core/byte-order.ts'
import { parseModbusAddress } from './core/point.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/json-file.ts'
import type { SerialSettings } from './serial-link.ts'

type Modbus = NonNullable<DeviceEntry['modbus']>

export const DEFAULT_ORDER: WordOrder = 'ABCD'
const DEFAULT_PORT = 502
/** Defaults of Modbus over Serial Line V1.02, 3.3. */
const DEFAULT_BAUD = 19_200
const DEFAULT_PARITY = 'even'
/** 0 is a broadcast, which no unit answers; 248 to 255 are reserved (V1.02, 2.2). */
const SERIAL_UNITS = { min: 1, max: 247 }
const SERIAL_ONLY = ['baud', 'parity', 'stop_bits'] as const

type ConnectionSettings = { kind: 'tcp'; host: string; port: number } | ({ kind: 'serial' } & SerialSettings)

/** Only for a section that `checkModbus` accepts. */
export function connectionSettings({ host = '', port, serial, baud, parity, stop_bits }: Modbus): ConnectionSettings {
  if (serial === undefined) return { kind: 'tcp', host, port: port ?? DEFAULT_PORT }
  const line = { baud: baud ?? DEFAULT_BAUD, parity: parity ?? DEFAULT_PARITY, stopBits: stop_bits === 2 ? 2 : 1 } as const
  return { kind: 'serial', path: serial, ...line }
}

/** @param all the devices of the catalogue: those on one serial port need the same settings */
export function checkModbus(entry: DeviceEntry, all: readonly DeviceEntry[]): Complaint[] {
  const { modbus } = entry
  if (!modbus) return []
  return [...(modbus.serial === undefined ? checkTcp(modbus) : checkSerial(entry, modbus, all)), ...checkPoints(entry, modbus)]
}

function checkTcp(modbus: Modbus): Complaint[] {
  const complaints = SERIAL_ONLY.filter(field => modbus[field] !== undefined).map(field => ({
    pointer: `/modbus/${field}`,
    message: 'is for serial lines, not for a host',
  }))
  if (modbus.host !== undefined) return complaints
  return [{ pointer: '/modbus', message: 'needs host (Modbus TCP) or serial (RTU)' }, ...complaints]
}

function checkSerial(entry: DeviceEntry, modbus: Modbus, all: readonly DeviceEntry[]): Complaint[] {
  const complaints: Complaint[] = (['host', 'port'] as const)
    .filter(field => modbus[field] !== undefined)
    .map(field => ({ pointer: `/modbus/${field}`, message: 'is for Modbus TCP, not for a serial line' }))
  if (modbus.unit_id < SERIAL_UNITS.min || modbus.unit_id > SERIAL_UNITS.max) {
    const message = `must be ${SERIAL_UNITS.min} to ${SERIAL_UNITS.max} on a serial line`
    complaints.push({ pointer: '/modbus/unit_id', message })
  }
  const mine = settingsText(modbus)
  const before = all.slice(0, all.indexOf(entry)).find(other => other.enabled && other.modbus?.serial === modbus.serial)
  if (before?.modbus && settingsText(before.modbus) !== mine) {
    const message = `${mine}, but ${before.device_id} on the same port has ${settingsText(before.modbus)}`
    complaints.push({ pointer: '/modbus/serial', message })
  }
  return complaints
}

function settingsText(modbus: Modbus): string {
  const settings = connectionSettings(modbus)
  return settings.kind === 'tcp' ? '' : `${settings.baud} baud, parity ${settings.parity}, stop bits ${settings.stopBits}`
}

function checkPoints({ points }: DeviceEntry, { word_order = DEFAULT_ORDER }: Modbus): Complaint[] {
  return points.flatMap(({ address, kind }, i) => {
    const pointer = `/points/${i}`
    const parsed = parseModbusAddress(address, word_order)
    if (typeof parsed === 'string') return [{ pointer: `${pointer}/address`, message: parsed }]
    if (kind === 'string') return [{ pointer: `${pointer}/kind`, message: 'Modbus has no text values' }]
    const isWide = parsed.format === 'bits' && parsed.high > parsed.low
    return kind === 'bool' && isWide ? [{ pointer: `${pointer}/kind`, message: 'a bool is one bit, not a range of bits' }] : []
  })
}

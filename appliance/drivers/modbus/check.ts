/** Interprets the section `modbus` of an entry, and checks what its schema cannot. */
import type { WordOrder } from './core/byte-order.ts'
import { parseModbusAddress } from './core/point.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/json-file.ts'
import type { SerialSettings } from './serial-link.ts'

type Modbus = NonNullable<DeviceEntry['modbus']>

export const DEFAULT_ORDER: WordOrder = 'ABCD'
const DEFAULT_PORT = 502
/** Modbus over Serial Line V1.02, 3.3: 19,200 baud and even parity where nothing is said. */
const DEFAULT_BAUD = 19_200
const DEFAULT_PARITY = 'even'
/** 0 is a broadcast, which nobody answers; 248 to 255 are reserved (V1.02, 2.2). */
const SERIAL_UNITS = { min: 1, max: 247 }
const SERIAL_ONLY = ['baud', 'parity', 'stop_bits'] as const

type Way = { kind: 'tcp'; host: string; port: number } | ({ kind: 'serial' } & SerialSettings)

/** The way to a device that `checkModbus` passes. */
export function connectionSettings({ host = '', port, serial, baud, parity, stop_bits }: Modbus): Way {
  if (serial === undefined) return { kind: 'tcp', host, port: port ?? DEFAULT_PORT }
  const line = { baud: baud ?? DEFAULT_BAUD, parity: parity ?? DEFAULT_PARITY, stopBits: stop_bits === 2 ? 2 : 1 } as const
  return { kind: 'serial', path: serial, ...line }
}

/** @param all the devices of the catalogue: those on one serial port have to speak alike */
export function checkModbus(entry: DeviceEntry, all: readonly DeviceEntry[]): Complaint[] {
  const { modbus } = entry
  if (!modbus) return []
  return [...(modbus.serial === undefined ? checkTcp(modbus) : checkSerial(entry, modbus, all)), ...checkPoints(entry, modbus)]
}

function checkTcp(modbus: Modbus): Complaint[] {
  const complaints = SERIAL_ONLY.filter(field => modbus[field] !== undefined).map(field => ({
    pointer: `/modbus/${field}`,
    message: 'goes with serial, not with host',
  }))
  if (modbus.host !== undefined) return complaints
  return [{ pointer: '/modbus', message: 'needs host, for Modbus TCP, or serial, for RTU' }, ...complaints]
}

function checkSerial(entry: DeviceEntry, modbus: Modbus, all: readonly DeviceEntry[]): Complaint[] {
  const complaints: Complaint[] = (['host', 'port'] as const)
    .filter(field => modbus[field] !== undefined)
    .map(field => ({ pointer: `/modbus/${field}`, message: 'goes with Modbus TCP, not with serial' }))
  if (modbus.unit_id < SERIAL_UNITS.min || modbus.unit_id > SERIAL_UNITS.max) {
    const message = `units of a serial line are ${SERIAL_UNITS.min} to ${SERIAL_UNITS.max}`
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
  const way = connectionSettings(modbus)
  return way.kind === 'tcp' ? '' : `${way.baud} baud, parity ${way.parity}, stop bits ${way.stopBits}`
}

function checkPoints({ points }: DeviceEntry, { word_order = DEFAULT_ORDER }: Modbus): Complaint[] {
  return points.flatMap(({ address, kind }, i) => {
    const pointer = `/points/${i}`
    const parsed = parseModbusAddress(address, word_order)
    if (typeof parsed === 'string') return [{ pointer: `${pointer}/address`, message: parsed }]
    if (kind === 'string') return [{ pointer: `${pointer}/kind`, message: 'Modbus has no texts' }]
    const isWide = parsed.format === 'bits' && parsed.high > parsed.low
    return kind === 'bool' && isWide ? [{ pointer: `${pointer}/kind`, message: 'a bool is one bit, not a range of them' }] : []
  })
}

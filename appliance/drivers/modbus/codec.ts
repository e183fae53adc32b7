/**
 * Encodes requests with modbus-serial, which no other file uses. Replies are decoded strictly in `core/`. Links load this file when
 * they are opened: with its serial port the library takes up to 18 MB, and many sites have no Modbus.
 */
import { EventEmitter } from 'node:events'
import ModbusSerial from 'modbus-serial'
import type { RegisterRange, RegisterTable } from './core/point.ts'

/** A port for modbus-serial that stores the written request. */
class RequestBuffer extends EventEmitter {
  readonly isOpen = true
  request = new Uint8Array(0)
  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.request = bytes
  }
}

const requestBuffer = new RequestBuffer()
// The library's own default export under NodeNext.
const client = new ModbusSerial.default(requestBuffer)

/** With a callback, which is missing in the types of the library, the methods create no promise that would never settle. */
type WriteRequest = (address: number, count: number, answered: () => void) => void
const WRITE: Record<RegisterTable, WriteRequest> = {
  coil: client.readCoils.bind(client),
  discrete: client.readDiscreteInputs.bind(client),
  holding: client.readHoldingRegisters.bind(client),
  input: client.readInputRegisters.bind(client),
}
const ignoreAnswer = () => undefined

/** @returns an RTU frame for functions 1 to 4: unit, function, address, count, checksum */
export function encodeRequest(unit: number, { table, address, count }: RegisterRange): Uint8Array {
  client.setID(unit)
  WRITE[table](address, count, ignoreAnswer)
  return requestBuffer.request
}

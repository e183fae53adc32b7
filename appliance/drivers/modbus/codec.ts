/** Requests as bytes. The one file that knows modbus-serial; replies are read by our own strict decoder. */
import { EventEmitter } from 'node:events'
import ModbusSerial from 'modbus-serial'
import type { RegisterRange, RegisterTable } from './core/point.ts'

/** What modbus-serial takes for its port: it keeps the request that was written to it. */
class Sheet extends EventEmitter {
  readonly isOpen = true
  request = new Uint8Array(0)
  write(bytes: Uint8Array<ArrayBuffer>): void {
    this.request = bytes
  }
}

const sheet = new Sheet()
// The library's own default export under NodeNext.
const client = new ModbusSerial.default(sheet)

/** With a callback, which is not in their types, the methods make no promise that nobody would keep. */
type Ask = (address: number, count: number, answered: () => void) => void
const ASK: Record<RegisterTable, Ask> = {
  coil: client.readCoils.bind(client),
  discrete: client.readDiscreteInputs.bind(client),
  holding: client.readHoldingRegisters.bind(client),
  input: client.readInputRegisters.bind(client),
}
const nobody = () => undefined

/** @returns a request for functions 1 to 4 as a serial line carries it: unit, function, address, count, checksum */
export function encodeRequest(unit: number, { table, address, count }: RegisterRange): Uint8Array {
  client.setID(unit)
  ASK[table](address, count, nobody)
  return sheet.request
}

/** Requests as bytes. The one file that knows modbus-serial; replies are read by our own strict decoder. */
import { EventEmitter } from 'node:events'
import ModbusSerial from 'modbus-serial'
import { CODES } from '#shared/core/modbus/pdu.ts'
import { isBits, type Place } from '#shared/core/modbus/point.ts'

/** What modbus-serial takes for its port: it keeps what is written to it. */
class Sheet extends EventEmitter {
  readonly isOpen = true
  written = new Uint8Array(0)
  write(frame: Uint8Array<ArrayBuffer>): void {
    this.written = frame
  }
}

/** `code` is not in its types: the same request asks for coils or inputs, for holding or input registers. */
type Ask = (unit: number, address: number, count: number, answered: () => void, code: number) => void

const sheet = new Sheet()
// The library's own default export under NodeNext.
const client = new ModbusSerial.default(sheet)
const [askBits, askRegisters] = [client.writeFC2.bind(client) as Ask, client.writeFC4.bind(client) as Ask]
const nobody = () => undefined

/** @returns a request for functions 1 to 4 as a serial line carries it: unit, function, address, count, checksum */
export function encodeRequest(unit: number, { table, address, count }: Place): Uint8Array {
  const ask = isBits(table) ? askBits : askRegisters
  ask(unit, address, count, nobody, CODES[table])
  return sheet.written
}

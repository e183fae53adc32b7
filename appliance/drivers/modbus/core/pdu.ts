/** Answers and exceptions of functions 1 to 4, over TCP and RTU (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
import { isBits, type RegisterRange, type RegisterTable } from './point.ts'

/** Exception codes of Modbus Application Protocol V1.1b3, 7. */
const EXCEPTIONS: Record<number, string> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'device failure',
  5: 'acknowledge',
  6: 'device busy',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target does not respond',
}

export const formatException = (code: number): string => `exception ${code} (${EXCEPTIONS[code] ?? 'unknown'})`

/** A register of the block does not exist; smaller blocks show which. */
export const ILLEGAL_ADDRESS = 2
/** The block is longer than the device allows. */
const ILLEGAL_VALUE = 3

/** @returns whether the gateway answered because the unit behind it does not */
export const isGatewaySilence = (code: number): boolean => code === 10 || code === 11

/** @returns whether an exception concerns the request; others may concern the whole unit, for example a busy one */
export const isAboutAddress = (code: number): boolean => code >= 1 && code <= ILLEGAL_VALUE

export type ModbusReply =
  /** Registers with 2 bytes each, or bits packed from the lowest bit of the first byte. */
  | { state: 'data'; bytes: Uint8Array }
  | { state: 'exception'; code: number }
  /** Not an answer to the request. */
  | { state: 'garbled'; reason: string }

export const CODES: Record<RegisterTable, number> = { coil: 1, discrete: 2, holding: 3, input: 4 }
/** Set in the function code of an exception (V1.1b3, 7). */
export const EXCEPTION_BIT = 0x80
/** Function code, address and count. */
export const REQUEST_BYTES = 5

/** @returns the number of value bytes in the answer to a request */
export const bytesDue = ({ table, count }: RegisterRange): number => (isBits(table) ? Math.ceil(count / 8) : 2 * count)

/** @param pdu function code and the bytes after it; never empty */
export function readModbusReply(pdu: Uint8Array, place: RegisterRange): ModbusReply {
  const code = CODES[place.table]
  if (pdu[0] === (code | EXCEPTION_BIT) && pdu.length === 2) return { state: 'exception', code: pdu[1]! }
  if (pdu[0] !== code) return { state: 'garbled', reason: `function ${pdu[0]} instead of function ${code}` }
  const due = bytesDue(place)
  const received = pdu.length - 2
  if (received !== due) return { state: 'garbled', reason: `the answer has ${received} bytes instead of ${due}` }
  if (pdu[1] !== due) return { state: 'garbled', reason: `the answer states ${pdu[1]} bytes instead of ${due}` }
  return { state: 'data', bytes: pdu.subarray(2) }
}

/** Answers of functions 1 to 4, whatever carries them (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
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

/** Something in the block is not there: smaller blocks tell what. */
export const ILLEGAL_ADDRESS = 2
/** The block is longer than the device allows. */
const ILLEGAL_VALUE = 3

/** The gateway answers, the unit behind it does not. */
export const isGatewaySilence = (code: number): boolean => code === 10 || code === 11

/** It speaks of what was asked for; other exceptions may be about the unit as a whole, such as one that is busy. */
export const isAboutAddress = (code: number): boolean => code >= 1 && code <= ILLEGAL_VALUE

export type ModbusReply =
  /** Registers as 2 bytes each, bits packed from the lowest of the first byte on. */
  | { state: 'data'; bytes: Uint8Array }
  | { state: 'exception'; code: number }
  /** It answers something else than what was asked. */
  | { state: 'garbled'; reason: string }

export const CODES: Record<RegisterTable, number> = { coil: 1, discrete: 2, holding: 3, input: 4 }
/** Set in the function code of an exception (V1.1b3, 7). */
export const EXCEPTION_BIT = 0x80
/** Function code, address and count. */
export const REQUEST_BYTES = 5

/** Bytes of values that answer a request. */
export const bytesDue = ({ table, count }: RegisterRange): number => (isBits(table) ? Math.ceil(count / 8) : 2 * count)

/** @param pdu function code and what follows it, nothing more; never empty */
export function readModbusReply(pdu: Uint8Array, place: RegisterRange): ModbusReply {
  const code = CODES[place.table]
  if (pdu[0] === (code | EXCEPTION_BIT) && pdu.length === 2) return { state: 'exception', code: pdu[1]! }
  if (pdu[0] !== code) return { state: 'garbled', reason: `function ${pdu[0]} answers function ${code}` }
  const due = bytesDue(place)
  const came = pdu.length - 2
  if (came !== due) return { state: 'garbled', reason: `the answer has ${came} bytes where ${due} are due` }
  if (pdu[1] !== due) return { state: 'garbled', reason: `the answer says ${pdu[1]} bytes where ${due} are due` }
  return { state: 'data', bytes: pdu.subarray(2) }
}

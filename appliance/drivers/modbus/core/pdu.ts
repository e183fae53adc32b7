/** Answers of functions 1 to 4, whatever carries them (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
import { isBits, type RegisterRange, type Table } from './point.ts'

export type Reply =
  /** Registers as 2 bytes each, bits packed from the lowest of the first byte on. */
  | { state: 'data'; bytes: Uint8Array }
  | { state: 'exception'; code: number }
  /** It answers something else than what was asked. */
  | { state: 'garbled'; reason: string }

export const CODES: Record<Table, number> = { coil: 1, discrete: 2, holding: 3, input: 4 }
/** Set in the function code of an exception (V1.1b3, 7). */
export const EXCEPTION_BIT = 0x80
/** Function code, address and count. */
export const REQUEST_BYTES = 5

/** Bytes of values that answer a request. */
export const bytesDue = ({ table, count }: RegisterRange): number => (isBits(table) ? Math.ceil(count / 8) : 2 * count)

/** @param pdu function code and what follows it, nothing more; never empty */
export function judgeReply(pdu: Uint8Array, place: RegisterRange): Reply {
  const code = CODES[place.table]
  if (pdu[0] === (code | EXCEPTION_BIT) && pdu.length === 2) return { state: 'exception', code: pdu[1]! }
  if (pdu[0] !== code) return { state: 'garbled', reason: `function ${pdu[0]} answers function ${code}` }
  const due = bytesDue(place)
  const came = pdu.length - 2
  if (came !== due) return { state: 'garbled', reason: `the answer has ${came} bytes where ${due} are due` }
  if (pdu[1] !== due) return { state: 'garbled', reason: `the answer says ${pdu[1]} bytes where ${due} are due` }
  return { state: 'data', bytes: pdu.subarray(2) }
}

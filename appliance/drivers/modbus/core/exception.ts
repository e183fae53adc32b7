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

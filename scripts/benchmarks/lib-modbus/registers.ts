/** Registers of the simulator that both sides have to find. */
export const REGISTERS = 128

/** Value number `i` of the device; exact in float32. */
export const floatAt = (i: number): number => 20 + i / 4

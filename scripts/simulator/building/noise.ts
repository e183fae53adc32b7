/**
 * Sensor noise that depends on the point and the moment alone, so that it does not matter who asks, when and how often.
 *
 * @param seed of the point
 * @param step whole number of the moment
 * @returns about normal, mean 0, deviation 1, at most ±3.5
 */
export function noise(seed: number, step: number): number {
  let sum = 0
  for (let i = 1; i <= 4; i++) sum += mix(Math.imul(seed, 0x9e3779b1) ^ Math.imul(step, 0x85ebca6b) ^ Math.imul(i, 0xc2b2ae35))
  return (sum / 2 ** 32 - 2) * 1.75
}

/** @returns a number of 32 bits in which every bit of `x` shows (the finaliser of MurmurHash3) */
function mix(x: number): number {
  let h = x >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** @returns a seed from a name (FNV-1a) */
export function seedOf(name: string): number {
  let h = 0x811c9dc5
  for (const char of name) h = Math.imul(h ^ char.codePointAt(0)!, 0x01000193)
  return h >>> 0
}

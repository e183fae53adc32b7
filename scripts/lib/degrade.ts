/** Makes good data worse, the same way every time: what rules must bear on ordinary equipment. */
import { ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import type { LabelledSet } from './labelled.ts'

export type Degradation = {
  /** Adds normal noise of 0.5 °F to every temperature sensor. */
  noise?: number
  /** Keeps the first sample of each stretch of this length, ms. */
  sampling?: number
  /** Added to the mixed-air sensor, °F. */
  bias?: number
}

/** Standard deviation of the noise, K. */
const NOISE_K = 0.5 / 1.8
const K_PER_DEGF = 1 / 1.8

/** @returns a set of its own; the one given is left alone */
export function degrade(set: LabelledSet, { noise, sampling, bias = 0 }: Degradation): LabelledSet {
  const rows = [...set.ts.keys()].filter(
    row => !sampling || row === 0 || slot(set.ts[row]!, sampling) !== slot(set.ts[row - 1]!, sampling),
  )
  const columns = set.columns.map(({ role, unit, values }, i) => {
    const shift = role === 'ma_t' ? inUnit(bias * K_PER_DEGF, unit) : 0
    const deviation = noise !== undefined && isThermometer(role) ? inUnit(NOISE_K, unit) : 0
    const normal = normals((noise ?? 0) * 1000 + i)
    return { role, unit, values: Float64Array.from(rows, row => values[row]! + shift + deviation * normal()) }
  })
  return { name: set.name, ts: Float64Array.from(rows, row => set.ts[row]!), columns }
}

const slot = (ms: number, length: number): number => Math.floor(ms / length)
const isThermometer = (role: string): boolean => ROLES[role]!.unit === 'degC' && !ROLES[role]!.rests
/** A difference in K as a difference in `unit`. */
const inUnit = (kelvin: number, unit: string): number => kelvin * conversion('K', unit)!.scale

/** Standard normal deviates, the same for the same seed. @source mulberry32 (Ettinger); Box and Muller 1958 */
function normals(seed: number): () => number {
  let state = seed >>> 0
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** A value of a device, with quality and time. */

export const QUALITIES = ['good', 'uncertain', 'bad', 'stale'] as const
export type Quality = (typeof QUALITIES)[number]

/** A number is in the point's own unit. `null` when there is no value (`q` then says bad or stale). */
export type Value = number | boolean | string | null

export type Reading = {
  /** The point. */
  id: string
  /** Observed at: when the device answered, ms since 1970 UTC. */
  t: number
  v: Value
  q: Quality
}

/**
 * The number that history stores for a value: booleans as 0 and 1, state texts by their index in `states`.
 *
 * @returns NaN when there is no number for it, so that the row is stored as *no data*
 */
export function toNumber(value: Value, states: string[] | undefined): number {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null) return Number.NaN
  const state = states?.indexOf(value) ?? -1
  return state < 0 ? Number.NaN : state
}

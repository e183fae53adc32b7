import { DAY, HOUR } from '#shared/core/time.ts'

/** A warm season: cool mornings that favour the economizer, afternoons that rule it out. */
const MEAN_C = 24
const SWING_K = 9
const WARMEST_HOUR = 15
/** Warm and cool spells: days differ by up to this much. */
const SPELL_K = 1.5
const SPELL_DAYS = 5.3

/** @returns hour of the building's day, 0 ≤ h < 24; `localMs` is the wall clock written as if it were UTC */
export const hourOf = (localMs: number): number => (((localMs % DAY) + DAY) % DAY) / HOUR

/** @returns outdoor air temperature, °C */
export function outdoorTemp(localMs: number): number {
  const day = Math.cos((2 * Math.PI * (hourOf(localMs) - WARMEST_HOUR)) / 24)
  return MEAN_C + SWING_K * day + SPELL_K * Math.sin((2 * Math.PI * localMs) / (SPELL_DAYS * DAY))
}

/**
 * Sun on a facade.
 *
 * @param peakHour when the facade sees it best: 9 east, 12 south, 16 west
 * @returns 0..1
 */
export function sunOn(localMs: number, peakHour: number): number {
  const hour = hourOf(localMs)
  const height = Math.max(0, Math.sin((Math.PI * (hour - 5)) / 15))
  return height * Math.exp(-(((hour - peakHour) / 3.5) ** 2))
}

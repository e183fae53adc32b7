import { dayStart, offsetAt } from '#shared/core/time-zone.ts'
import { type FaultName, faultsAt, SCRIPT, type ScheduledFault } from './faults.ts'
import { noise, seedOf } from './noise.ts'
import { type Building, emptyBuilding, STEP_S, step } from './physics.ts'
import { type SimPoint, valueOf } from './points.ts'

export const TIMEZONE = 'America/Chicago'
/** The site's first moment: a Tuesday in July, 11 in the morning there. The script of faults counts from it. */
export const SITE_START = Date.UTC(2026, 6, 14, 16)

const STEP_MS = STEP_S * 1000

export type Simulation = {
  /** @returns the building at `ms`, or where it stands when that is later: time does not run backwards */
  at(ms: number): Building
  faults(ms: number): ReadonlySet<FaultName>
  /** Value of the point's sensor at `ms`, in the point's own unit. */
  read(point: SimPoint, ms: number): number
}

/**
 * The building, stepped by its own time: what it shows at a moment does not depend on how fast the clock runs nor on
 * when it is asked. It begins at midnight before `SITE_START`, so that it has settled by then.
 */
export function openSimulation(script: readonly ScheduledFault[] = SCRIPT): Simulation {
  // The site stays in summer time; the demonstration never runs into the winter.
  const offset = offsetAt(SITE_START, TIMEZONE)
  const building = emptyBuilding()
  let next = dayStart(SITE_START, TIMEZONE)
  const at = (ms: number): Building => {
    for (; next <= ms; next += STEP_MS) step(building, next + offset, faultsAt(next - SITE_START, script))
    return building
  }
  const faults = (ms: number) => faultsAt(ms - SITE_START, script)
  return {
    at,
    faults,
    read(point, ms) {
      const value = valueOf(point, at(ms))
      const dead = point.deadIn !== undefined && faults(ms).has(point.deadIn)
      if (point.noise === 0 || dead) return value
      return value + point.noise * noise(seedOf(point.point_id), Math.floor(ms / STEP_MS))
    },
  }
}

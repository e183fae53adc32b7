/** Where the setting up of a new box stands. It follows from what is stored, so that it can be left and taken up by anybody. */
import { SECOND } from '#shared/core/time.ts'
import { FIRST_BUILDING } from './system/first-site.ts'

export type FirstFacts = {
  /** Admins with a name and a password of their own, who can sign in. */
  admins: number
  /** As it is stored; the process may still run with the one before. */
  building: { building_id: string; name: string }
  /** Whether a time server sets the clock; null where that is unknown. */
  clock_synced: boolean | null
  /** Lead of the clock over the hub's, ms; null without a hub that says. */
  clock_offset_ms: number | null
  /** Whether the box has a kit of a hub. */
  isEnrolled: boolean
  devices: number
}

export const FIRST_STEPS = ['people', 'building', 'clock', 'hub', 'devices'] as const
export type FirstStep = (typeof FIRST_STEPS)[number]
/** `choice`: may be left as it is. */
export type FirstState = 'done' | 'open' | 'choice'

/** A clock that is off by more puts events into the wrong order. */
const OFFSET_MAX_MS = 5 * SECOND

/** @returns the state of each step in order */
export function firstSteps(facts: FirstFacts): Record<FirstStep, FirstState> {
  const { admins, building, clock_synced, clock_offset_ms, isEnrolled, devices } = facts
  const isNamed = building.name !== FIRST_BUILDING.name && building.building_id !== FIRST_BUILDING.building_id
  const isRight = clock_synced === true || (clock_offset_ms !== null && Math.abs(clock_offset_ms) <= OFFSET_MAX_MS)
  return {
    people: admins > 0 ? 'done' : 'open',
    building: isNamed ? 'done' : 'open',
    // Some time services do not tell, and then only a person can compare.
    clock: isRight ? 'done' : clock_synced === null && clock_offset_ms === null ? 'choice' : 'open',
    hub: isEnrolled ? 'done' : 'choice',
    devices: devices > 0 ? 'done' : 'open',
  }
}

/** @returns how many steps have something left that cannot stay as it is */
export const firstStepsLeft = (facts: FirstFacts): number =>
  Object.values(firstSteps(facts)).filter(state => state === 'open').length

/** Which device answered the visits to an address, from one visit to the next. */
import type { DeviceMake, IdentityVerdict } from '../bacnet/identity.ts'

/** What is remembered of the device at a listed address. */
export type Occupant = {
  /** Vendor and model as the listed device said them last. */
  make?: DeviceMake
  /** Another device answered at the last visit. `since`: the first such visit in a row, ms since 1970 UTC. */
  other?: { since: number; reason: string; make: DeviceMake }
}

/** `isOther`: what was read is of another device and is not kept. `isReplaced`: from now on the listed device is of another make. */
export type Occupied = { occupant: Occupant; isOther: boolean; isReplaced: boolean }

/**
 * What a visit makes of what a device said of itself.
 *
 * A device of another instance stays another one until the listed one is back. One of the listed instance and another make is
 * another one at the first visit that sees it, and a replaced controller at the second in a row: two devices that fight for an
 * address take turns, a controller that was exchanged stays.
 */
export function occupantAfter(before: Occupant, verdict: IdentityVerdict, now: number): Occupied {
  if (verdict.state !== 'other') {
    const make = { ...before.make, ...verdict.make }
    return { occupant: { make }, isOther: false, isReplaced: false }
  }
  const { by, make, reason } = verdict
  const isSettled = by === 'make' && before.other !== undefined && isSameMake(before.other.make, make)
  if (isSettled) return { occupant: { make }, isOther: false, isReplaced: true }
  return { occupant: { ...before, other: { since: before.other?.since ?? now, reason, make } }, isOther: true, isReplaced: false }
}

const isSameMake = (a: DeviceMake, b: DeviceMake): boolean => a.vendor_id === b.vendor_id && a.model === b.model

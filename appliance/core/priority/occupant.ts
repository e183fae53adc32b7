/** Which device answered the visits to an address, from one visit to the next. */
import { type DeviceMake, type IdentityVerdict, type OtherMake, seenAgain } from '../../drivers/bacnet/core/identity.ts'

/** What is remembered of the device at a listed address. */
export type Occupant = {
  /** Vendor and model as the listed device said them last. */
  make?: DeviceMake
  /** Another device answered at the last visit. */
  other?: OtherMake & { reason: string }
}

/** `isOther`: what was read is of another device and is not kept. `isReplaced`: from now on the listed device is of another make. */
export type Occupied = { occupant: Occupant; isOther: boolean; isReplaced: boolean }

/**
 * What a visit makes of what a device said of itself.
 *
 * A device of another instance stays another one until the listed one is back. One of the listed instance and another make is
 * a replaced controller at the first visit that finds it when it has stayed for long enough.
 */
export function occupantAfter(before: Occupant, verdict: IdentityVerdict, now: number): Occupied {
  if (verdict.state !== 'other') {
    const make = { ...before.make, ...verdict.make }
    return { occupant: { make }, isOther: false, isReplaced: false }
  }
  const { by, make, reason } = verdict
  const { since, isReplacement } = seenAgain(before.other, make, now)
  if (by === 'make' && isReplacement) return { occupant: { make }, isOther: false, isReplaced: true }
  return { occupant: { ...before, other: { since, reason, make } }, isOther: true, isReplaced: false }
}

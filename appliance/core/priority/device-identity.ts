/** Which device has answered at a listed address, from one visit to the next. */
import { type DeviceMake, type IdentityVerdict, type OtherMake, seenAgain } from '../../drivers/bacnet/core/identity-check.ts'

/** The device that answered at a listed address so far. */
export type KnownIdentity = {
  /** Newest vendor and model of the listed device. */
  make?: DeviceMake
  /** Present when another device answered at the last visit. */
  other?: OtherMake & { reason: string }
}

/**
 * `isOther`: another device answered, so nothing that was read is stored. `isReplaced`: the listed device has another make
 * from this visit on.
 */
type IdentityUpdate = { identity: KnownIdentity; isOther: boolean; isReplaced: boolean }

/**
 * Updates the known identity with the verdict of a visit.
 *
 * A device of another instance stays another device until the listed one answers again. A device of the listed instance and
 * another make becomes the listed device at the first visit after it has stayed for long enough (`seenAgain`).
 */
export function updateIdentity(known: KnownIdentity, verdict: IdentityVerdict, now: number): IdentityUpdate {
  if (verdict.state !== 'other') {
    const make = { ...known.make, ...verdict.make }
    return { identity: { make }, isOther: false, isReplaced: false }
  }
  const { by, make, reason } = verdict
  const { since, isReplacement } = seenAgain(known.other, make, now)
  if (by === 'make' && isReplacement) return { identity: { make }, isOther: false, isReplaced: true }
  return { identity: { ...known, other: { since, reason, make } }, isOther: true, isReplaced: false }
}

/**
 * Whether the device that is polled is still the listed one, checked along with its points: another that has taken the
 * address would else be read under its name.
 */
import { SECOND } from '#shared/core/time.ts'
import { type DeviceMake, identityTargets, judgeIdentity, type OtherMake, seenAgain } from './identity.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from './reply.ts'

/** What is known from one check to the next. A check changes it. */
type Identity = {
  readonly device_instance: number
  /** ms since 1970; null when the next read must check. */
  checkedAt: number | null
  /** Vendor and model that the device has told twice: what it tells once may be forged. */
  make: DeviceMake
  toldOnce: DeviceMake
  /** A device of the listed instance and another make answers. */
  other: OtherMake | undefined
}

export const startIdentity = (device_instance: number): Identity => ({
  device_instance,
  checkedAt: null,
  make: {},
  toldOnce: {},
  other: undefined,
})

/** However often a device is polled, more than one of its checks falls into each minute, or each poll is one. */
const CHECK_MS = 30 * SECOND

export const isCheckDue = ({ checkedAt }: Identity, now: number): boolean =>
  checkedAt === null || now - checkedAt >= CHECK_MS || now < checkedAt

/** @returns what to ask along; of a device that is asked for one value at a time the object identifier alone */
export const checkTargets = ({ device_instance }: Identity, isMultiple: boolean): Target[] =>
  identityTargets(device_instance).slice(0, isMultiple ? undefined : 1)

/**
 * Judges what the device has said so far.
 *
 * @param answers by `targetKey`
 * @returns in words why it is another device, as soon as that is known; undefined otherwise
 */
export function strangerIn(identity: Identity, answers: ReadonlyMap<string, PropertyResult>, now: number): string | undefined {
  const { device_instance, make: known } = identity
  const byInstance = judgeIdentity(device_instance, answers)
  if (byInstance.state === 'other') {
    identity.checkedAt = null
    return byInstance.reason
  }
  const byMake = judgeIdentity(device_instance, answers, known)
  if (byMake.state !== 'other') return undefined
  const { make, reason } = byMake
  const { since, isReplacement } = seenAgain(identity.other, make, now)
  identity.other = { make, since }
  if (isReplacement) {
    identity.make = make
    return undefined
  }
  identity.checkedAt = null
  return reason
}

/** Notes the end of a check that has found no stranger. */
export function endCheck(identity: Identity, answers: ReadonlyMap<string, PropertyResult>, now: number): void {
  const { make } = judgeIdentity(identity.device_instance, answers)
  const { toldOnce } = identity
  if (make.vendor_id !== undefined && make.vendor_id === toldOnce.vendor_id) identity.make.vendor_id = make.vendor_id
  if (make.model !== undefined && make.model === toldOnce.model) identity.make.model = make.model
  identity.toldOnce = { ...toldOnce, ...make }
  identity.other = undefined
  identity.checkedAt = now
}

/**
 * Checks whether the device that answers at an address is the listed one, along with its points. Otherwise another device that
 * has taken the address would be recorded under the listed name.
 */
import { SECOND, MINUTE } from '#shared/core/time.ts'
import { type Target, DEVICE, targetKey } from '#shared/core/bacnet/object.ts'
import { UNKNOWN_OBJECT } from './refusal.ts'
import type { PropertyResult } from './reply.ts'
import type { BacnetValue } from './tag.ts'

const OBJECT_IDENTIFIER = 75
const VENDOR_IDENTIFIER = 120
const MODEL_NAME = 70

/** Vendor and model of a device, as far as it says them. */
export type DeviceMake = { vendor_id?: number; model?: string }

/**
 * `same`: the listed device answered. `other`: another device answered, by its instance or, with the listed instance, by its
 * make; `reason` is a sentence for the technician. `unknown`: the answers do not say which device it is.
 */
export type IdentityVerdict =
  | { state: 'same'; make: DeviceMake }
  | { state: 'other'; by: 'instance' | 'make'; make: DeviceMake; reason: string }
  | { state: 'unknown'; make: DeviceMake }

/** The properties of the device object that identify a device. Every device has them (135-2020 12.11). */
export const identityTargets = (device_instance: number): Target[] =>
  [OBJECT_IDENTIFIER, VENDOR_IDENTIFIER, MODEL_NAME].map(property => ({ type: DEVICE, instance: device_instance, property }))

/**
 * Compares the answers of a device with the listed one.
 *
 * A device that has no device object of this instance is another one. Vendor and model are compared where both are known:
 * a controller that was replaced by one of another make has the same instance.
 *
 * @param answers by `targetKey`; targets that were not asked or not answered are absent
 * @param known vendor and model that the listed device had before
 */
export function judgeIdentity(
  device_instance: number,
  answers: ReadonlyMap<string, PropertyResult>,
  known: DeviceMake = {},
): IdentityVerdict {
  const [id, vendor, model] = identityTargets(device_instance).map(target => answers.get(targetKey(target)))
  const make = makeOf(valueOf(vendor), valueOf(model))
  const other = (what: string, by: 'instance' | 'make' = 'instance'): IdentityVerdict => ({
    state: 'other',
    by,
    make,
    reason: `another device answers at this address: ${what}; run a discovery to find out which it is`,
  })
  const found = valueOf(id)
  if (found?.type === 'object') {
    const { type, instance } = found.object
    if (type !== DEVICE || instance !== device_instance) return other(`it reports that it is device ${instance}`)
  } else if ([id, vendor, model].some(isUnknownObject)) return other(`it has no device object ${device_instance}`)
  const changed = changeOf(known, make)
  if (changed !== undefined) return other(`device ${device_instance} is ${changed}`, 'make')
  return { state: found?.type === 'object' ? 'same' : 'unknown', make }
}

const valueOf = (result: PropertyResult | undefined): BacnetValue | undefined =>
  result && 'values' in result && result.values.length === 1 ? result.values[0] : undefined

const isUnknownObject = (result: PropertyResult | undefined): boolean =>
  result !== undefined && 'error' in result && result.error.errorCode === UNKNOWN_OBJECT

function makeOf(vendor: BacnetValue | undefined, model: BacnetValue | undefined): DeviceMake {
  const vendor_id = vendor?.type === 'unsigned' ? Number(vendor.value) : undefined
  const name = model?.type === 'text' ? model.value.slice(0, MODEL_MAX) : undefined
  return { ...(vendor_id !== undefined && { vendor_id }), ...(name !== undefined && { model: name }) }
}

/** A model name is remembered and shown; more than this is no name. */
const MODEL_MAX = 200

/** @returns how the make differs, in words; undefined when it does not, or one side does not say */
function changeOf(known: DeviceMake, now: DeviceMake): string | undefined {
  if (known.vendor_id !== undefined && now.vendor_id !== undefined && known.vendor_id !== now.vendor_id)
    return `of vendor ${now.vendor_id} and was of vendor ${known.vendor_id}`
  if (known.model !== undefined && now.model !== undefined && known.model !== now.model)
    return `"${now.model}" and was "${known.model}"`
  return undefined
}

/** A make other than that of the listed device; `since`: when it was first seen, ms since 1970 UTC. */
export type OtherMake = { make: DeviceMake; since: number }

/** How long another make must answer to be accepted: two devices with one address alternate, an exchanged controller stays. */
const REPLACED_MS = 10 * MINUTE

/**
 * Decides whether a device of the listed instance and another make has replaced the listed one.
 *
 * @param before the other make that answered the time before; absent when the listed one did
 * @returns `isReplacement`: it has stayed long enough to be the listed device from now on
 */
export function seenAgain(
  before: OtherMake | undefined,
  make: DeviceMake,
  now: number,
): { since: number; isReplacement: boolean } {
  const isSame = before?.make.vendor_id === make.vendor_id && before?.make.model === make.model
  const since = before && isSame ? before.since : now
  return { since, isReplacement: now - since >= REPLACED_MS }
}

/** State between checks; updated by each check. */
type Identity = {
  readonly device_instance: number
  /** ms since 1970; null when the next read must check. */
  checkedAt: number | null
  /** Vendor and model that the device has reported twice: a single report may be forged. */
  make: DeviceMake
  reportedOnce: DeviceMake
  /** A device of the listed instance and another make answers. */
  other: OtherMake | undefined
}

export const startIdentity = (device_instance: number): Identity => ({
  device_instance,
  checkedAt: null,
  make: {},
  reportedOnce: {},
  other: undefined,
})

/** However often a device is polled, more than one of its checks falls into each minute, or each poll is one. */
const CHECK_MS = 30 * SECOND

export const isCheckDue = ({ checkedAt }: Identity, now: number): boolean =>
  checkedAt === null || now - checkedAt >= CHECK_MS || now < checkedAt

/** @returns the properties to request with the points; only the object identifier when the device is read one value at a time */
export const checkTargets = ({ device_instance }: Identity, isMultiple: boolean): Target[] =>
  identityTargets(device_instance).slice(0, isMultiple ? undefined : 1)

/**
 * Checks the answers so far.
 *
 * @param answers by `targetKey`
 * @returns why it is another device, as soon as that is known; undefined otherwise
 */
export function findOtherDevice(
  identity: Identity,
  answers: ReadonlyMap<string, PropertyResult>,
  now: number,
): string | undefined {
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

/** Ends a check that found the listed device. */
export function endCheck(identity: Identity, answers: ReadonlyMap<string, PropertyResult>, now: number): void {
  const { make } = judgeIdentity(identity.device_instance, answers)
  const { reportedOnce } = identity
  if (make.vendor_id !== undefined && make.vendor_id === reportedOnce.vendor_id) identity.make.vendor_id = make.vendor_id
  if (make.model !== undefined && make.model === reportedOnce.model) identity.make.model = make.model
  identity.reportedOnce = { ...reportedOnce, ...make }
  identity.other = undefined
  identity.checkedAt = now
}

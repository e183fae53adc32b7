/** Checks the identity of a device in the requests for its points. */
import { type Batch, firstBatch } from './core/batch.ts'
import { checkTargets, endCheck, isCheckDue, startIdentity, findOtherDevice } from './core/identity-check.ts'
import { DEVICE, MAX_APDU_LENGTH_ACCEPTED, type Target, targetKey } from '#shared/core/bacnet/object.ts'
import type { BacnetPoint } from './core/point.ts'
import type { PropertyResult } from './core/reply.ts'
import { DeviceError } from '#shared/core/poll/device.ts'

export type BacnetItem = { point_id: string; address: BacnetPoint }

/** The device object. With it the identity of the device is checked before its points are read. */
export type DeviceObject = {
  device_instance: number
  /** Set when its largest APDU is unknown and must be read. `most`: points per request that its entry allows. */
  apdu?: { ask: true; most: number | undefined }
  /** See `CovParts`. */
  lifetimeSecs?: number
}

/** The check of one read. */
export type IdentityCheck = {
  /** Properties to request with the points; none when no check is due. They are no points of the catalogue. */
  items: readonly BacnetItem[]
  isOwn(item: BacnetItem): boolean
  /** Takes answers; those to points are ignored. @throws DeviceError when another device answers */
  take(items: readonly BacnetItem[], results: readonly PropertyResult[]): void
  /** The read has ended with the listed device. */
  end(): void
}

type IdentityGuard = {
  /** A property that every device has: its answer shows that the device is up. */
  witness: BacnetItem
  /** Whether another device answered last: then nothing from the address is used. */
  isStranger(): boolean
  /** Makes the next read check the identity. */
  doubt(): void
  /** @throws DeviceError: the device at the address does not have the listed device object */
  refuse(): never
  begin(isMultiple: boolean): IdentityCheck
}

/** @returns the batch that the APDU size of the device allows; undefined when the device does not report one */
export function batchFromApdu({ apdu }: DeviceObject, result: PropertyResult | undefined): Batch | undefined {
  const [value] = result && 'values' in result ? result.values : []
  return apdu && value?.type === 'unsigned' ? firstBatch(Number(value.value), apdu.most) : undefined
}

export const apduTarget = ({ device_instance }: DeviceObject): Target => ({
  type: DEVICE,
  instance: device_instance,
  property: MAX_APDU_LENGTH_ACCEPTED,
})

const NO_ITEMS: readonly BacnetItem[] = []
const itemOf = (target: Target): BacnetItem => ({
  point_id: '',
  address: { target, conversion: { kind: 'string', scale: 1, offset: 0 } },
})

/** @param onBatch called with the batch that the APDU size of the device allows, when it reports one */
export function guardIdentity(device: DeviceObject, now: () => number, onBatch: (first: Batch) => void): IdentityGuard {
  const identity = startIdentity(device.device_instance)
  const all = [...checkTargets(identity, true), ...(device.apdu ? [apduTarget(device)] : [])].map(itemOf)
  const alone = all.slice(0, 1)
  const own = new Set(all)
  const apdu = targetKey(apduTarget(device))
  let isStranger = false

  return {
    witness: all[0]!,
    isStranger: () => isStranger,
    doubt() {
      identity.checkedAt = null
    },
    refuse() {
      isStranger = true
      throw new DeviceError(
        'fault',
        `the device at this address is not device ${device.device_instance}; run a discovery to find out which it is`,
      )
    },
    begin(isMultiple) {
      const isDue = isCheckDue(identity, now())
      const answers = new Map<string, PropertyResult>()
      return {
        items: !isDue ? NO_ITEMS : isMultiple ? all : alone,
        isOwn: item => own.has(item),
        take(items, results) {
          const before = answers.size
          for (const [i, item] of items.entries()) if (own.has(item)) answers.set(targetKey(item.address.target), results[i]!)
          if (answers.size === before) return
          const reason = findOtherDevice(identity, answers, now())
          isStranger = reason !== undefined
          if (reason !== undefined) throw new DeviceError('fault', reason)
          const first = batchFromApdu(device, answers.get(apdu))
          if (first) onBatch(first)
        },
        end() {
          if (answers.size === 0) return
          isStranger = false
          endCheck(identity, answers, now())
        },
      }
    },
  }
}

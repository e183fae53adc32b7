/** Asks a device who it is, along with its points. */
import { type Batch, firstBatch } from './core/batch.ts'
import { checkTargets, endCheck, isCheckDue, startIdentity, findOtherDevice } from './core/identity-check.ts'
import { DEVICE, MAX_APDU_LENGTH_ACCEPTED, type Target, targetKey } from '#shared/core/bacnet/object.ts'
import type { BacnetPoint } from './core/point.ts'
import type { PropertyResult } from './core/reply.ts'
import { DeviceError } from '#shared/core/poll/device.ts'

export type BacnetItem = { point_id: string; address: BacnetPoint }

/** The device object, for what concerns the device as a whole. With it, a device is asked who it is before its points are. */
export type DeviceObject = {
  device_instance: number
  /** Its largest APDU is not known: it is asked. `most`: points per request that its entry allows. */
  apdu?: { ask: true; most: number | undefined }
  /** See `CovParts`. */
  lifetimeSecs?: number
}

/** The check of one read. */
export type IdentityCheck = {
  /** Asked along; none when no check is due. They are no points of the catalogue. */
  items: readonly BacnetItem[]
  isOwn(item: BacnetItem): boolean
  /** Takes what was answered, of which only its own counts. @throws DeviceError when another device answers */
  hear(items: readonly BacnetItem[], results: readonly PropertyResult[]): void
  /** The read has ended with the listed device. */
  end(): void
}

type IdentityGuard = {
  /** Which every device answers, so that it tells whether the device is there. */
  witness: BacnetItem
  /** Whether another device answered last: nothing that comes from the address counts. */
  isStranger(): boolean
  /** The next read checks. */
  doubt(): void
  /** @throws DeviceError: the device at the address does not have the listed device object */
  refuse(): never
  begin(isMultiple: boolean): IdentityCheck
}

/** What `told` says of the APDU: the batch that it allows. Undefined when that is not told. */
export function batchFromApdu({ apdu }: DeviceObject, told: PropertyResult | undefined): Batch | undefined {
  const [value] = told && 'values' in told ? told.values : []
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

/** @param tellBatch called with the batch that the device's APDU allows, when it tells one */
export function guardIdentity(device: DeviceObject, now: () => number, tellBatch: (first: Batch) => void): IdentityGuard {
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
        `what answers at this address is not device ${device.device_instance}; a discovery tells which it is`,
      )
    },
    begin(isMultiple) {
      const isDue = isCheckDue(identity, now())
      const answers = new Map<string, PropertyResult>()
      return {
        items: !isDue ? NO_ITEMS : isMultiple ? all : alone,
        isOwn: item => own.has(item),
        hear(items, results) {
          const before = answers.size
          for (const [i, item] of items.entries()) if (own.has(item)) answers.set(targetKey(item.address.target), results[i]!)
          if (answers.size === before) return
          const reason = findOtherDevice(identity, answers, now())
          isStranger = reason !== undefined
          if (reason !== undefined) throw new DeviceError('fault', reason)
          const first = batchFromApdu(device, answers.get(apdu))
          if (first) tellBatch(first)
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

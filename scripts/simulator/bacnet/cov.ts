import type { RemoteInfo } from 'node:dgram'
import { contextId, contextUnsigned, enclosed, enumerated, readTags } from './wire.ts'
import { ARRAY_ALL, type PropertyTable, refuse } from './objects.ts'

/** One accepted SubscribeCOV request. */
export type Subscribed = { processId: number; type: number; instance: number; lifetimeSecs: number }

type Subscriptions = {
  /** @returns SimpleACK or Error, and whether the first notification is due. @throws RangeError when malformed */
  subscribe(request: Buffer, from: RemoteInfo): { reply: Buffer; isAccepted: boolean }
  /** Notifications to all who subscribed this object and whose time has not run out. */
  notify(type: number, instance: number): { apdu: Buffer; to: RemoteInfo }[]
  /** All that was accepted, renewals too, oldest first. */
  accepted(): Subscribed[]
  forget(): void
}

const SUBSCRIBE_COV = 5
const UNCONFIRMED_REQUEST = 0x10
const COV_NOTIFICATION = 2
const DEVICE = 8
const PRESENT_VALUE = 85
const STATUS_FLAGS = 111

/** Subscribers of a device: SubscribeCOV and unconfirmed notifications, 135-2020 13.14 and 13.7. */
export function openSubscriptions(device_instance: number, table: PropertyTable): Subscriptions {
  const held = new Map<string, Subscribed & { to: RemoteInfo; untilMs: number }>()
  const log: Subscribed[] = []

  return {
    subscribe(request, from) {
      const invoke = request.readUInt8(2)
      const tags = readTags(request.subarray(4))
      const processId = tags.unsigned(0)
      const { type, instance } = tags.id(1)
      const isConfirmed = tags.unsigned(2)
      const lifetimeSecs = tags.unsigned(3)
      if (isConfirmed || lifetimeSecs === 0) throw new RangeError('not a subscription to unconfirmed notifications')
      if (!table.has(`${type}:${instance}`)) {
        const { errorClass, errorCode } = refuse.unknownObject
        const error = [Buffer.of(0x50, invoke, SUBSCRIBE_COV), enumerated(errorClass), enumerated(errorCode)]
        return { reply: Buffer.concat(error), isAccepted: false }
      }
      const subscribed = { processId, type, instance, lifetimeSecs }
      log.push(subscribed)
      const key = [from.address, from.port, processId, type, instance].join()
      held.set(key, { ...subscribed, to: from, untilMs: Date.now() + lifetimeSecs * 1000 })
      return { reply: Buffer.of(0x20, invoke, SUBSCRIBE_COV), isAccepted: true }
    },
    notify(type, instance) {
      const value = (property: number) => {
        const encoded = table.get(`${type}:${instance}`)?.get(property)?.(ARRAY_ALL)
        return Buffer.isBuffer(encoded) ? [contextUnsigned(0, property), enclosed(2, encoded)] : []
      }
      const list = enclosed(4, Buffer.concat([...value(PRESENT_VALUE), ...value(STATUS_FLAGS)]))
      return [...held.values()]
        .filter(one => one.type === type && one.instance === instance && one.untilMs > Date.now())
        .map(({ processId, to, untilMs }) => {
          const head = [
            Buffer.of(UNCONFIRMED_REQUEST, COV_NOTIFICATION),
            contextUnsigned(0, processId),
            contextId(1, DEVICE, device_instance),
            contextId(2, type, instance),
            contextUnsigned(3, Math.ceil((untilMs - Date.now()) / 1000)),
          ]
          return { apdu: Buffer.concat([...head, list]), to }
        })
    },
    accepted: () => [...log],
    forget: () => held.clear(),
  }
}

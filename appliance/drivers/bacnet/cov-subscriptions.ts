/** Subscribes to changes of one device's objects, renews in time, and turns notifications into readings. */
import { deniesService } from './core/batch.ts'
import { COV_NOTIFICATION, type ObjectId, objectKey, readCovNotification } from './core/cov-notification.ts'
import { isSameStation, type UnconfirmedRequest } from './core/frame.ts'
import { type BacnetPoint, pointValue } from './core/point.ts'
import { formatRefusal } from './core/refusal.ts'
import { SUBSCRIBE_COV } from './core/reply.ts'
import type { BacnetValue } from './core/tag.ts'
import type { ChangeListener } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { DAY, SECOND } from '#shared/core/time.ts'
import type { RequestOutcome, Peer } from './outcome.ts'
import type { RetryPolicy } from '../protocol.ts'
import type { BacnetTransport } from './transport.ts'

type Item = { point_id: string; address: BacnetPoint }

/** Lifetime of a subscription, s. A device that reboots between two polls reports no changes for at most half of this. */
export const LIFETIME_SECS = 600
/** Maximum rate from one device; more are dropped, and polls read the values. An oscillating value would fill the disk. */
const NOTIFICATIONS_PER_SEC_MAX = 100
/** Subscriptions in a row without an answer, after which the others wait for the next pass. */
const UNANSWERED_MAX = 2

type CovParts = {
  transport: BacnetTransport
  peer: Peer
  retryPolicy: RetryPolicy
  /** Instance of the device: it identifies the sender, and the subscriptions of this process. */
  device_instance: number
  /** Time of readings, ms since 1970 UTC. */
  now: () => number
  /** Runs a request in turn with the reads. */
  inTurn<T>(task: () => Promise<T>): Promise<T>
  /** Lifetime of a subscription, s. It is renewed after half of it. */
  lifetimeSecs: number
  /** false while another device answers at the address: its notifications are ignored. */
  isTrusted(): boolean
}

/** The changes that one device reports. */
type Changes = {
  /** Ends with `signal`. Subscriptions then expire in the device, and later notifications are ignored. */
  watch(points: Item[], listener: ChangeListener, signal: AbortSignal): Promise<void>
  /** Call when the device answers a read for the first time or after an outage: it may have lost its subscriptions. */
  deviceReturned(): void
}

type Subscription = { object: ObjectId; items: Item[]; state: 'open' | 'accepted' | 'declined' }

export function covChanges(parts: CovParts): Changes {
  let hasReturned = false
  let wake: () => void = () => undefined

  /** Resolves after `ms`, or when `wake` is called. */
  const pause = (ms: number) =>
    new Promise<void>(resolve => {
      const timer = setTimeout(() => wake(), ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  return {
    deviceReturned() {
      hasReturned = true
      wake()
    },
    async watch(points, listener, signal) {
      const subscriptions = subscriptionsOf(points)
      const stopListening = parts.transport.listen(notificationHandler(parts, subscriptions, listener))
      const report = reportDeclined(listener)
      const end = () => wake()
      signal.addEventListener('abort', end)
      const renewMs = (parts.lifetimeSecs * SECOND) / 2
      let restMs = DAY
      /** Time of the next attempt at declined subscriptions: the device may have been short of memory. */
      let retryAt = 0
      while (!signal.aborted) {
        if (!hasReturned) await pause(restMs)
        if (signal.aborted) break
        if (hasReturned) restMs = renewMs
        if (hasReturned || performance.now() >= retryAt) {
          retryAt = performance.now() + DAY
          for (const one of subscriptions.values()) one.state = 'open'
        }
        hasReturned = false
        const { accepted, reason } = await subscribeAll(parts, [...subscriptions.values()], signal)
        // A device that does not answer subscriptions costs timeouts at each pass, so the pause grows.
        restMs = accepted ? renewMs : Math.min(2 * restMs, DAY)
        if (!signal.aborted) report(subscriptions, reason)
      }
      signal.removeEventListener('abort', end)
      stopListening()
    },
  }
}

function subscriptionsOf(points: Item[]): Map<string, Subscription> {
  const groups = Map.groupBy(points, ({ address }) => objectKey(address.target))
  return new Map(Array.from(groups, ([key, items]) => [key, { object: items[0]!.address.target, items, state: 'open' }]))
}

/** One pass: subscribes or renews everything that the device has not declined, one after the other. */
async function subscribeAll(
  parts: CovParts,
  subscriptions: Subscription[],
  signal: AbortSignal,
): Promise<{ accepted: number; reason: string | undefined }> {
  let accepted = 0
  let unanswered = 0
  let reason: string | undefined
  for (const one of subscriptions) {
    if (one.state === 'declined') continue
    const outcome = await subscribe(parts, one.object, signal)
    if (outcome.state === 'results') {
      one.state = 'accepted'
      accepted++
      unanswered = 0
    } else if (outcome.state === 'refused') {
      reason ??= formatRefusal(outcome.refusal)
      one.state = 'declined'
      if (!deniesService(outcome.refusal)) continue
      for (const each of subscriptions) each.state = 'declined'
      break
    } else {
      reason ??= outcome.reason
      one.state = 'open'
      unanswered++
      if (unanswered === UNANSWERED_MAX || outcome.state === 'cancelled') break
    }
  }
  return { accepted, reason }
}

const subscribe = (parts: CovParts, object: ObjectId, signal: AbortSignal): Promise<RequestOutcome> => {
  const { transport, peer, retryPolicy, lifetimeSecs } = parts
  const subscription = { processId: processId(parts), object, lifetimeSecs }
  return parts.inTurn(() => transport.request(peer, { service: SUBSCRIBE_COV, subscription }, retryPolicy, signal))
}

/** Equal after a restart, so that a subscription is renewed and not duplicated. Some devices treat 0 as none. */
const processId = ({ device_instance }: CovParts): number => device_instance + 1

/** Reports once that changes of points are not reported. A missing answer counts from the second pass on: the device may just be down. */
function reportDeclined(listener: ChangeListener) {
  let hasReported = false
  let silentPasses = 0
  return (subscriptions: ReadonlyMap<string, Subscription>, reason: string | undefined): void => {
    const pointsIn = (state: Subscription['state']) =>
      [...subscriptions.values()].reduce((sum, one) => sum + (one.state === state ? one.items.length : 0), 0)
    silentPasses = pointsIn('open') > 0 ? silentPasses + 1 : 0
    const unreported = pointsIn('declined') + (silentPasses > 1 ? pointsIn('open') : 0)
    if (unreported > 0 && !hasReported && reason !== undefined) listener.declined(unreported, reason)
    hasReported = unreported > 0 && (hasReported || reason !== undefined)
  }
}

/** Accepts notifications of this device for subscribed objects of this process; all others are dropped. */
function notificationHandler(parts: CovParts, subscriptions: ReadonlyMap<string, Subscription>, listener: ChangeListener) {
  const { peer, device_instance, now } = parts
  const admits = rateLimit(NOTIFICATIONS_PER_SEC_MAX)
  let hasReported = false
  return (message: UnconfirmedRequest): void => {
    if (message.service !== COV_NOTIFICATION || message.host !== peer.host) return
    if (!isSameStation(message.station, peer.station)) return
    const notification = readCovNotification(message.payload)
    if (
      typeof notification === 'string' ||
      notification.processId !== processId(parts) ||
      notification.device_instance !== device_instance
    )
      return
    const subscription = subscriptions.get(objectKey(notification.object))
    if (!subscription || !parts.isTrusted()) return
    if (admits()) return listener.changed(readingsOf(subscription.items, notification.presentValue, now()))
    if (!hasReported)
      listener.declined(subscription.items.length, `the device reports more than ${NOTIFICATIONS_PER_SEC_MAX} changes a second`)
    hasReported = true
  }
}

function readingsOf(items: Item[], values: BacnetValue[], t: number): Reading[] {
  return items.map(({ point_id, address }) => {
    const found = pointValue({ values }, address.conversion)
    return 'value' in found ? { id: point_id, t, v: found.value, q: 'good' } : { id: point_id, t, v: null, q: 'bad' }
  })
}

/** @returns a function that returns whether one more is admitted: at most `max` in each second of the monotonic clock */
function rateLimit(max: number): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(performance.now() / SECOND)
    count = now === second ? count + 1 : 1
    second = now
    return count <= max
  }
}

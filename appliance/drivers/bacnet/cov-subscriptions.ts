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

/** A device that reboots between two polls tells nothing for at most half of this. */
export const LIFETIME_SECS = 600
/** From one device; beyond it the polls must do. A value that flickers would fill the disk. */
const NOTIFICATIONS_PER_SEC_MAX = 100
/** Subscriptions without an answer, one after the other, after which the rest waits for the next pass. */
const UNANSWERED_MAX = 2

type CovParts = {
  transport: BacnetTransport
  peer: Peer
  retryPolicy: RetryPolicy
  /** Device object of the device: it names the speaker, and tells our subscriptions apart. */
  device_instance: number
  /** Stamps readings. */
  now: () => number
  /** Lets a request take its turn among the reads. */
  inTurn<T>(task: () => Promise<T>): Promise<T>
  /** How long a device keeps a subscription that is not renewed, s. It is renewed at half of it. */
  lifetimeSecs: number
  /** false while another device answers at the address: what is told from there does not count. */
  isTrusted(): boolean
}

/** The changes that one device tells. */
type Changes = {
  /** Ends with `signal`. What is subscribed then runs out in the device, and its notifications are nobody's. */
  watch(points: Item[], listener: ChangeListener, signal: AbortSignal): Promise<void>
  /** The device answers a read: for the first time, or after it was away. What it knew of us may be gone. */
  deviceReturned(): void
}

type Subscription = { object: ObjectId; items: Item[]; state: 'open' | 'accepted' | 'declined' }

export function covChanges(parts: CovParts): Changes {
  let hasReturned = false
  let wake: () => void = () => undefined

  /** Resolves after `ms`, or at once when somebody wakes it. */
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
      const stopHearing = parts.transport.listen(hearer(parts, subscriptions, listener))
      const say = once(listener)
      const end = () => wake()
      signal.addEventListener('abort', end)
      const renewMs = (parts.lifetimeSecs * SECOND) / 2
      let restMs = DAY
      /** When those that were declined are tried again: a device may have had no room for a while. */
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
        // A device that drops what it does not know costs its timeouts at each pass: seldom, then.
        restMs = accepted ? renewMs : Math.min(2 * restMs, DAY)
        if (!signal.aborted) say(subscriptions, reason)
      }
      signal.removeEventListener('abort', end)
      stopHearing()
    },
  }
}

function subscriptionsOf(points: Item[]): Map<string, Subscription> {
  const groups = Map.groupBy(points, ({ address }) => objectKey(address.target))
  return new Map(Array.from(groups, ([key, items]) => [key, { object: items[0]!.address.target, items, state: 'open' }]))
}

/** One pass: subscribes or renews what the device has not declined, one after the other. */
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

/** The same after a restart, so that a subscription is renewed and not doubled. Some devices take 0 for none. */
const processId = ({ device_instance }: CovParts): number => device_instance + 1

/** Says that points are not told of when that begins. Silence counts when it lasts: the device may just be going. */
function once(listener: ChangeListener) {
  let hasSaid = false
  let silentPasses = 0
  return (subscriptions: ReadonlyMap<string, Subscription>, reason: string | undefined): void => {
    const pointsIn = (state: Subscription['state']) =>
      [...subscriptions.values()].reduce((sum, one) => sum + (one.state === state ? one.items.length : 0), 0)
    silentPasses = pointsIn('open') > 0 ? silentPasses + 1 : 0
    const untold = pointsIn('declined') + (silentPasses > 1 ? pointsIn('open') : 0)
    if (untold > 0 && !hasSaid && reason !== undefined) listener.declined(untold, reason)
    hasSaid = untold > 0 && (hasSaid || reason !== undefined)
  }
}

/** Takes what comes from this device, names it and us, and is about an object that we subscribed; drops all else. */
function hearer(parts: CovParts, subscriptions: ReadonlyMap<string, Subscription>, listener: ChangeListener) {
  const { peer, device_instance, now } = parts
  const admits = rateLimit(NOTIFICATIONS_PER_SEC_MAX)
  let hasSaid = false
  return (message: UnconfirmedRequest): void => {
    if (message.service !== COV_NOTIFICATION || message.host !== peer.host) return
    if (!isSameStation(message.station, peer.station)) return
    const heard = readCovNotification(message.payload)
    if (typeof heard === 'string' || heard.processId !== processId(parts) || heard.device_instance !== device_instance) return
    const subscription = subscriptions.get(objectKey(heard.object))
    if (!subscription || !parts.isTrusted()) return
    if (admits()) return listener.changed(readingsOf(subscription.items, heard.presentValue, now()))
    if (!hasSaid) listener.declined(subscription.items.length, `it tells more than ${NOTIFICATIONS_PER_SEC_MAX} changes a second`)
    hasSaid = true
  }
}

function readingsOf(items: Item[], values: BacnetValue[], t: number): Reading[] {
  return items.map(({ point_id, address }) => {
    const found = pointValue({ values }, address.conversion)
    return 'value' in found ? { id: point_id, t, v: found.value, q: 'good' } : { id: point_id, t, v: null, q: 'bad' }
  })
}

/** @returns whether one more is admitted now: at most `max` in any second of the machine's clock */
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

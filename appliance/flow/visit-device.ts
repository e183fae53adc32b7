/** One visit to one device: identify it, read its priority arrays, identify it again. */
import { judgeIdentity } from '../drivers/bacnet/core/identity-check.ts'
import type { PropertyResult } from '../drivers/bacnet/core/reply.ts'
import { errorText } from '#shared/core/error-text.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { ArrayAnswer } from '../core/priority/array-answer.ts'
import { type KnownIdentity, updateIdentity } from '../core/priority/device-identity.ts'
import type { PriorityDevice, PriorityObject } from '../core/priority/visit-objects.ts'
import { SECOND } from '#shared/core/time.ts'

/** Reads the priority arrays of one device. It has no method that commands, releases or discovers. */
export interface PriorityReader {
  /**
   * Reads the properties that identify the device.
   *
   * @returns the results of `identityTargets`, by `targetKey`
   * @throws Error with the reason when the device does not answer or `signal` aborts
   */
  identify(device: PriorityDevice, signal: AbortSignal): Promise<ReadonlyMap<string, PropertyResult>>
  /**
   * Gives the answer for each object as it arrives, in the order of `objects`.
   *
   * @throws Error with the reason when the device stops answering or `signal` aborts; answers given before count
   */
  read(device: PriorityDevice, objects: readonly PriorityObject[], signal: AbortSignal): AsyncIterable<ArrayAnswer>
}

type VisitDeps = {
  reader: PriorityReader
  clock: Clock
  /** Longest duration of a visit. */
  interval_secs: number
  /** Ends the visit. */
  signal: AbortSignal
}

type DeviceAnswers = {
  /** Empty when another device answered. */
  answers: ArrayAnswer[]
  /** Why the visit ended early; null when it did not. */
  endedEarly: string | null
  isOther: boolean
  /** The listed device has another make from this visit on. */
  isReplaced: boolean
  identity: KnownIdentity
}

/**
 * Visits a device. It is identified before and after reading, so that answers of a device that takes over the address during
 * the visit are discarded.
 *
 * @param known the identity after the visit before
 */
export async function visitDevice(
  { reader, clock, interval_secs, signal }: VisitDeps,
  device: PriorityDevice,
  due: readonly PriorityObject[],
  known: KnownIdentity,
): Promise<DeviceAnswers> {
  const done = new AbortController()
  const timeout = new AbortController()
  void clock.sleep(interval_secs * SECOND, done.signal).then(() => timeout.abort())
  const either = AbortSignal.any([signal, timeout.signal])
  const result: DeviceAnswers = { answers: [], endedEarly: null, isOther: false, isReplaced: false, identity: known }
  const isListedDevice = async (): Promise<boolean> => {
    const verdict = judgeIdentity(device.device_instance, await reader.identify(device, either), result.identity.make)
    const { identity, isOther, isReplaced } = updateIdentity(result.identity, verdict, clock.now())
    Object.assign(result, { identity, isOther, isReplaced: result.isReplaced || isReplaced })
    if (isOther) Object.assign(result, { answers: [], endedEarly: identity.other!.reason })
    return !isOther
  }
  try {
    if (await isListedDevice()) {
      for await (const answer of reader.read(device, due, either)) result.answers.push(answer)
      await isListedDevice()
    }
  } catch (error) {
    const reason = timeout.signal.aborted ? `it took longer than ${interval_secs} s` : errorText(error)
    result.endedEarly = signal.aborted ? 'it was ended, as this process stops' : reason
  } finally {
    done.abort()
  }
  return result
}

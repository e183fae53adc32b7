/** One visit to one device: who answers, what its priority arrays say, and who answers still. */
import { judgeIdentity } from '../drivers/bacnet/core/identity.ts'
import type { PropertyResult } from '../drivers/bacnet/core/reply.ts'
import type { Clock } from '#shared/core/ports.ts'
import { type Occupant, occupantAfter } from '../core/priority/occupant.ts'
import type { ArrayAnswer, ScanDevice, ScanObject } from '../core/priority/visit.ts'
import { SECOND } from '#shared/core/time.ts'

/** Reads the priority arrays of one device. It has no method that commands, releases or looks for devices. */
export interface PriorityReader {
  /**
   * Asks the device object who it is.
   *
   * @returns what came of `identityTargets`, by `targetKey`
   * @throws Error in words when the device does not answer, or `signal` aborts
   */
  identify(device: ScanDevice, signal: AbortSignal): Promise<ReadonlyMap<string, PropertyResult>>
  /**
   * Gives each object's answer as it comes, in the order of `objects`.
   *
   * @throws Error in words when the device does not answer, or no more, or `signal` aborts; what came before it counts
   */
  read(device: ScanDevice, objects: readonly ScanObject[], signal: AbortSignal): AsyncIterable<ArrayAnswer>
}

export type VisitParts = {
  reader: PriorityReader
  clock: Clock
  /** A visit that takes as long is ended. */
  interval_secs: number
  /** Ends the visit. */
  signal: AbortSignal
}

export type Visited = {
  /** What is to be kept: nothing when another device answered. */
  answers: ArrayAnswer[]
  /** Why the visit ended early, in words; null when it did not. */
  broke: string | null
  isOther: boolean
  /** The listed device answers with another make from now on. */
  isReplaced: boolean
  occupant: Occupant
}

/**
 * Who answers is asked before and after: a device that takes the address meanwhile leaves nothing either.
 *
 * @param known who answered the visits before
 */
export async function visitDevice(
  { reader, clock, interval_secs, signal }: VisitParts,
  device: ScanDevice,
  due: readonly ScanObject[],
  known: Occupant,
): Promise<Visited> {
  const done = new AbortController()
  const late = new AbortController()
  void clock.sleep(interval_secs * SECOND, done.signal).then(() => late.abort())
  const either = AbortSignal.any([signal, late.signal])
  const visited: Visited = { answers: [], broke: null, isOther: false, isReplaced: false, occupant: known }
  const isListed = async (): Promise<boolean> => {
    const { occupant } = visited
    const verdict = judgeIdentity(device.device_instance, await reader.identify(device, either), occupant.make)
    const found = occupantAfter(occupant, verdict, clock.now())
    Object.assign(visited, { occupant: found.occupant, isOther: found.isOther })
    visited.isReplaced ||= found.isReplaced
    if (found.isOther) Object.assign(visited, { answers: [], broke: found.occupant.other!.reason })
    return !found.isOther
  }
  try {
    if (await isListed()) {
      for await (const answer of reader.read(device, due, either)) visited.answers.push(answer)
      await isListed()
    }
  } catch (error) {
    const why = late.signal.aborted ? `it took longer than ${interval_secs} s` : (error as Error).message
    visited.broke = signal.aborted ? 'it was ended, as this process stops' : why
  } finally {
    done.abort()
  }
  return visited
}

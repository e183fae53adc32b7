/**
 * Distinguishes a point that stops its device from answering from a device that is down: after a request without an answer another
 * point, the witness, is requested. Nothing is concluded before its result.
 */
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'

/** A request without an answer, and the reason. */
export type FailedRequest<R> = { request: R; reason: string }

type Asked<I> = { items: readonly I[] }
type Item = { address: { target: Target } }

/**
 * `called`: a witness is requested next, or is being requested. `none`: there is no other point. `gone`: no witness answered, so
 * the device is down.
 */
type ProbeState = 'called' | 'none' | 'gone'

export type Probes<I, R> = {
  /** @param isThere the device answered another request a moment ago */
  call(suspect: FailedRequest<R>): ProbeState
  /** The witness did not answer. */
  failed(isThere: boolean): ProbeState
  /** @returns the witness to request now, once */
  take(): I | undefined
  isBeingAsked(): boolean
  /** Ends the probe: the witness answered, or the read ends. @returns the requests that waited for it */
  dismiss(): FailedRequest<R>[]
}

/** Attempts with a witness that answered lately: one datagram may be lost. */
const PROVEN_MAX = 2
/** Attempts with other witnesses: each may itself be a bad point. */
const UNPROVEN_MAX = 3
/** The golden section: its multiples modulo 1 are far apart at first and reach every point in the end. */
const STEP = 0.618

/**
 * @param known `witness` answered lately; `turn` counts the witnesses that were chosen at random
 * @param given a property that the device always answers
 */
export function createProbes<I extends Item, R extends Asked<I>>(
  known: { witness: Target | undefined; turn: number },
  items: readonly I[],
  given: I | undefined,
): Probes<I, R> {
  const suspects: FailedRequest<R>[] = []
  let chosen: I | undefined
  let isBeingAsked = false
  let tries = 0
  let isProven = false

  function choose(): ProbeState {
    chosen = (tries < PROVEN_MAX ? proven() : undefined) ?? atRandom()
    return chosen ? 'called' : 'none'
  }

  function proven(): I | undefined {
    const key = known.witness && targetKey(known.witness)
    const found = given ?? items.find(item => keyOf(item) === key && !isSuspect(item))
    isProven = found !== undefined
    return found
  }

  function atRandom(): I | undefined {
    const others = items.filter(item => !isSuspect(item))
    // All points were in the one request; a random one of many is probably not the bad one.
    const among = others.length > 0 ? others : items.length > 1 ? items : []
    const at = (++known.turn * STEP) % 1
    return among[Math.floor(at * among.length)]
  }

  const isSuspect = (item: I) => suspects.some(({ request }) => request.items.includes(item))

  return {
    call(suspect) {
      suspects.push(suspect)
      return chosen || isBeingAsked ? 'called' : choose()
    },
    failed(isThere) {
      isBeingAsked = false
      tries++
      const isDecided = !isThere || tries >= (isProven ? PROVEN_MAX : UNPROVEN_MAX)
      return isDecided ? 'gone' : choose()
    },
    take() {
      const item = chosen
      chosen = undefined
      if (item) isBeingAsked = true
      return item
    },
    isBeingAsked: () => isBeingAsked,
    dismiss() {
      chosen = undefined
      isBeingAsked = false
      tries = 0
      return suspects.splice(0)
    },
  }
}

const keyOf = ({ address }: Item): string => targetKey(address.target)

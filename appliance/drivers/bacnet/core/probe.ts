/**
 * Tells a point that silences its device from a device that is gone: after a request without an answer another point is
 * asked, which stands as witness. Until it is heard nothing is concluded.
 */
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'

/** A request that got no answer, and in words how. */
export type FailedRequest<R> = { request: R; reason: string }

type Asked<I> = { items: readonly I[] }
type Item = { address: { target: Target } }

/**
 * `called`: a witness is to be asked, or is being asked. `none`: there is nothing else to ask. `gone`: no witness answered, so
 * the device does not.
 */
type ProbeState = 'called' | 'none' | 'gone'

export type Probes<I, R> = {
  /** @param isThere the device has answered something a moment ago */
  call(suspect: FailedRequest<R>): ProbeState
  /** The witness did not answer. */
  failed(isThere: boolean): ProbeState
  /** @returns the witness to ask now, once */
  take(): I | undefined
  isBeingAsked(): boolean
  /** It answered, or nobody wants to know any more. @returns what waited for it */
  dismiss(): FailedRequest<R>[]
}

/** Tries when the device has just answered something: one may be lost. */
const PROVEN_MAX = 2
/** The same when no point is known to have answered: each may be a bad one itself. */
const UNPROVEN_MAX = 3
/** Steps of the golden section come to far places first, and to every place in the end. */
const STEP = 0.618

/**
 * @param known `witness` answered lately; `turn` counts those that had to be chosen by chance
 * @param given what the device always answers
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
    chosen = (tries < PROVEN_MAX ? proven() : undefined) ?? byChance()
    return chosen ? 'called' : 'none'
  }

  function proven(): I | undefined {
    const key = known.witness && targetKey(known.witness)
    const found = given ?? items.find(item => keyOf(item) === key && !isSuspect(item))
    isProven = found !== undefined
    return found
  }

  function byChance(): I | undefined {
    const others = items.filter(item => !isSuspect(item))
    // All of them were in the one request: one of many is hardly the one that spoils it.
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

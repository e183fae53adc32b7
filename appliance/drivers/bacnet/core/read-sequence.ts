/**
 * One read of a device's points, request by request: what to ask next after what the device said or did not say. Several
 * requests may be open at a time once the device has answered one; while a bad point is looked for, one.
 *
 * How bad points are found and kept apart is told in poll/isolate.ts.
 */
import { accuse, cut, endPart, type Failure, failure, FAILURES_MAX, RETRIES_MAX, splitPart } from '../../../core/poll/isolate.ts'
import { afterAnswer, afterTooLarge, deniesService, deniesSize, fitting, sizeOf, withoutMultiple } from './batch.ts'
import {
  bytesOf,
  type Chunk,
  firstChunks,
  type Item,
  keyOf,
  type DeviceMemory,
  reasonOf,
  type Role,
  targetOf,
} from './device-memory.ts'
import { formatRefusal } from './refusal.ts'
import type { PropertyResult, Refusal } from './reply.ts'
import { createProbes, type FailedRequest } from './probe.ts'

const ALONE: ReadonlySet<Role> = new Set(['loner', 'retried', 'leaf', 'declined', 'witness'])
const HASTY: ReadonlySet<Role> = new Set(['part', 'trial', 'retried'])

/** One request: by ReadProperty when `isAlone`, then of one item; else by ReadPropertyMultiple. */
export type PointRequest<I> = {
  items: I[]
  isAlone: boolean
  /** It may well fail: not worth all the patience. */
  isHasty: boolean
  /** Its value is not wanted: the point is asked elsewhere. */
  isWitness: boolean
  role: Role
  /** What failed and stands to be explained by this. */
  of: Failure | undefined
}

type ReadSequence<I> = {
  /** @returns what to ask now; undefined when all is said, or while the witness is heard */
  next(): PointRequest<I> | undefined
  answered(request: PointRequest<I>, results: readonly PropertyResult[]): void
  /** The device declined the request as a whole. @returns what it gives no value for; the others are asked again */
  declined(request: PointRequest<I>, refusal: Refusal): I[]
  /** @returns false when the device said nothing at all in this read; then it ends */
  unanswered(request: PointRequest<I>, state: 'silent' | 'garbled' | 'cancelled', reason: string): boolean
  /** When all is said: what has neither a value nor was declined, and why. */
  left(): Left<I>[]
}
type Left<I> = { item: I; reason: string }

/** Points that must have a value alone, and none in company, before ReadPropertyMultiple is left: those of two searches. */
const ONLY_ALONE = 5
/** Refusals of ReadPropertyMultiple itself, one after the other, that are believed of a device that has answered it. */
const DENIALS_MAX = 3
/** Parts of a request that failed: a timeout costs more than a few answers, a refusal no more than an answer. */
const WAYS = { unanswered: 4, declined: 2 }

/**
 * @param known what is known of the device; changed by what is learnt
 * @param hasAnswered the device answered a moment ago, so silence is about the request
 * @param now ms since 1970
 * @param witness what the device always answers, such as its device object; without it one of the items must do
 */
export function createReadSequence<I extends Item>(
  known: DeviceMemory,
  items: readonly I[],
  hasAnswered: boolean,
  now: number,
  witness?: I,
): ReadSequence<I> {
  const { todo, last, resting } = firstChunks(known, items, now)
  /** Parts of what failed, the latest first. */
  const search: Chunk<I>[] = []
  const left: Left<I>[] = resting.map(item => ({ item, reason: reasonOf(known, item) }))
  const witnesses = createProbes<I, PointRequest<I>>(known, items, witness)
  /** Found, and told when the device has answered a request of many: one that declines everything says nothing of points. */
  const found: (() => void)[] = []
  /** The points of a failure that were then asked alone: if it is not explained by another, they do not bear company. */
  const ofSingles = new WeakMap<Failure, readonly I[]>()
  let isThere = hasAnswered
  let hasValue = false
  let hasTogether = false
  let denials = 0
  let failures = 0
  let failedRetries = 0
  let isOver = false

  /** Leaves what is open for the next read, which begins with it. @returns whether the device has said anything */
  function giveUp(suspects: readonly FailedRequest<PointRequest<I>>[], reason: string): boolean {
    for (const { request, reason: why } of suspects) {
      if (!request.isWitness) left.push(...request.items.map(item => ({ item, reason: why })))
    }
    const open = [...todo.splice(0), ...search.splice(0), ...last.splice(0)].flatMap(chunk => chunk.items)
    left.push(...open.map(item => ({ item, reason })))
    if (isThere) for (const { item } of left) known.unreached.add(keyOf(item))
    isOver = true
    return isThere
  }

  /** @returns where to take the next chunk; half of the failures that a read may have are kept for the search */
  function queueNow(): Chunk<I>[] {
    if (search.length > 0 && (todo.length === 0 || failures >= FAILURES_MAX / 2)) return search
    return todo.length === 0 && failedRetries < RETRIES_MAX ? last : todo
  }

  function ask({ items: some, role, of }: Chunk<I>, queue: Chunk<I>[]): PointRequest<I> {
    const { batch, proven, growAt } = known.learnt
    const isAlone = ALONE.has(role) || !batch.multiple
    const ahead = some.slice(0, isAlone ? 1 : batch.size)
    const asked = isAlone ? ahead : ahead.slice(0, fitting(batch, ahead.map(targetOf)))
    if (asked.length < some.length) {
      splitPart(of)
      queue.unshift({ items: some.slice(asked.length), role, ...(of && { of }) })
    }
    const isGrown = growAt !== null && !isAlone && bytesOf(asked) > proven
    return { items: asked, isAlone, isHasty: isGrown || HASTY.has(role), isWitness: false, role, of }
  }

  function end(of: Failure | undefined, how: number | 'culprit'): void {
    const unexplained = endPart(of, how)
    if (!unexplained) return
    const singles = ofSingles.get(unexplained)
    const { proven } = known.learnt
    if (singles && (proven === 0 || unexplained.size <= proven)) {
      // Which of them does not bear company is not known; those that do are soon back in it.
      found.push(() => singles.forEach(item => accuse(known.loners, keyOf(item), 'asked alone', now)))
      noteAlone(singles.length)
    } else known.learnt = afterTooLarge(known.learnt, unexplained.size, unexplained.answered, now)
  }

  function noteAlone(count: number): void {
    known.onlyAlone += count
    if (known.onlyAlone >= ONLY_ALONE && known.learnt.proven === 0) known.learnt = withoutMultiple(known.learnt, now)
  }

  function split({ items: some, role, of }: PointRequest<I>, how: keyof typeof WAYS): void {
    const parts = cut(some, WAYS[how])
    const size = bytesOf(some)
    const failed = failure(size, parts.length, of)
    const roleOf = (part: readonly I[]) => (part.length === 1 && how === 'unanswered' ? 'leaf' : 'part')
    const chunks = parts.map((part): Chunk<I> => ({ items: part, role: roleOf(part), of: failed }))
    const singles = chunks.filter(chunk => chunk.role === 'leaf').flatMap(chunk => chunk.items)
    if (singles.length > 0) ofSingles.set(failed, singles)
    // How much goes into a request is found out before the others are asked; a bad point afterwards.
    const queue = size > known.learnt.proven && role !== 'trial' ? todo : search
    queue.unshift(...chunks)
  }

  /** The device is there, so what it did not answer is the matter of the request. */
  function convict({ request, reason }: FailedRequest<PointRequest<I>>): void {
    if (!request.isAlone) return split(request, 'unanswered')
    const [item] = request.items as [I]
    accuse(known.culprits, keyOf(item), reason, now)
    if (request.role === 'retried') failedRetries++
    left.push({ item, reason })
    return end(request.of, 'culprit')
  }

  function withAnswer({ items: asked, isAlone, role, of }: PointRequest<I>, results: readonly PropertyResult[]): void {
    known.witness = targetOf(asked[0]!)
    known.learnt = afterAnswer(known.learnt, sizeOf(asked.map(targetOf)), isAlone ? 'single' : 'multiple', now)
    // Declined by itself before: the service is what it does not bear, not the company.
    if (of) end(of, role === 'declined' ? 'culprit' : bytesOf(asked))
    if (role === 'retried') known.culprits.delete(keyOf(asked[0]!))
    if (role === 'trial') for (const item of asked) known.loners.delete(keyOf(item))
    if (!isAlone) {
      hasTogether = true
      denials = 0
      known.onlyAlone = 0
    } else if (role === 'declined' && results.some(result => 'values' in result)) noteAlone(1)
  }

  function declinedAlone({ items: asked, role, of }: PointRequest<I>, refusal: Refusal): I[] {
    const key = keyOf(asked[0]!)
    if (deniesSize(refusal)) found.push(() => accuse(known.culprits, key, formatRefusal(refusal), now))
    else if (role === 'leaf') found.push(() => accuse(known.loners, key, formatRefusal(refusal), now))
    else if (role === 'retried') known.culprits.delete(key)
    end(of, 'culprit')
    return asked
  }

  function close(): undefined {
    if (todo.length + search.length > 0) return
    if (!isOver) {
      if (known.unreached.size > 0) for (const item of items) known.unreached.delete(keyOf(item))
      left.push(...last.splice(0).flatMap(({ items: some }) => some.map(item => ({ item, reason: reasonOf(known, item) }))))
    }
    if (hasTogether) for (const tell of found.splice(0)) tell()
  }

  return {
    next() {
      if (witnesses.isBeingAsked()) return undefined
      const item = witnesses.take()
      if (item) return { items: [item], isAlone: true, isHasty: false, isWitness: true, role: 'witness', of: undefined }
      const queue = queueNow()
      const chunk = queue.shift()
      return chunk ? ask(chunk, queue) : close()
    },
    answered(request, results) {
      isThere = true
      if (request.isWitness) return witnesses.dismiss().forEach(convict)
      hasValue = true
      return withAnswer(request, results)
    },
    declined(request, refusal) {
      isThere = true
      if (request.isWitness) {
        witnesses.dismiss().forEach(convict)
        return []
      }
      if (request.isAlone) return declinedAlone(request, refusal)
      const { items: asked, of } = request
      if (deniesService(refusal) && (known.learnt.proven === 0 || ++denials >= DENIALS_MAX)) {
        known.learnt = withoutMultiple(known.learnt, now)
        todo.unshift({ items: asked, role: 'many', ...(of && { of }) })
      } else if (asked.length > 1) {
        // Some devices decline a whole request for one bad point in it: the halves tell which.
        split(request, 'declined')
      } else {
        const key = keyOf(asked[0]!)
        found.push(() => accuse(known.loners, key, 'asked alone', now, true))
        todo.unshift({ items: asked, role: 'declined', ...(of && { of }) })
      }
      return []
    },
    unanswered(request, state, reason) {
      failures++
      const suspect = { request, reason }
      if (state === 'cancelled' || isOver) return giveUp([...witnesses.dismiss(), suspect], reason)
      // What is garbled was said by somebody; that the device says anything of use, another point has shown.
      if (state === 'garbled' && hasValue && !request.isWitness) convict(suspect)
      else {
        const hearing = request.isWitness ? witnesses.failed(isThere) : witnesses.call(suspect)
        if (hearing === 'gone' || (hearing === 'none' && !isThere)) return giveUp(witnesses.dismiss(), reason)
        if (hearing === 'none') witnesses.dismiss().forEach(convict)
      }
      return failures < FAILURES_MAX || giveUp(witnesses.dismiss(), reason)
    },
    left: () => left,
  }
}
